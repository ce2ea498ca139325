"""The quick reading of Markdown gives what markdown-it gives for the whole text, for every text."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from indexerd.core.markdown import fast_blocks
from indexerd.core.markdown import read as reading
from indexerd.core.markdown.document import Blocks
from indexerd.core.markdown.fast_blocks import scan_blocks
from indexerd.core.markdown.fast_inline import find_certain
from indexerd.core.markdown.parser import InlineFinds, parse_blocks, parse_document
from indexerd.core.markdown.read import read_document, read_quickly
from indexerd.core.page.decode import decode_page
from indexerd.core.page.front_matter import parse_front_matter
from tests.core.markdown_texts import markdown_texts
from tests.imports import REPOSITORY
from tests.shared_data import shared_folder


@given(markdown_texts())
@settings(max_examples=300)
@example("# a | b\n-|-\n")  # markdown-it looks for a table first
@example("- a\n-     x\n")  # an item whose text is indented code
@example("- a\n\n-\n")  # an empty item
@example("- a\n\n\t\x0c\n")  # what only Python calls a blank
@example("١. x\n")  # what only Python calls a digit
@example(">#tag\n")
@example("- a\n\n ```\n# not a heading\n```\n")  # a fence that closes no list and swallows a heading
@example("- <pre>\n# A\n")
@example("<pre>\n# no\n\n# no\n</pre>\n# A\n")
@example("a |\n---\n")  # a table of one column, not an underlined heading
@example("[x]\n\n- [x]: /y\n")  # a definition in a list
@example("- a\n# b\n- - -\n- c\n***\n")
def test_a_document_reads_the_same_as_by_markdown_it_alone(text: str) -> None:
    assert read_quickly(text) == parse_document(text)


def wiki_texts() -> Iterator[tuple[Path, str]]:
    """Real pages: those of this repository and, where it lies beside it, of the shared case folder."""
    root = REPOSITORY
    for path in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("systemd/*.md")]):
        yield path, path.read_text(encoding="utf-8")


def test_the_pages_of_this_repository_read_the_same() -> None:
    texts = list(wiki_texts())
    assert texts
    for path, text in texts:
        markdown = text[parse_front_matter(text).end :]
        assert read_quickly(markdown) == parse_document(markdown), path


def test_the_shared_specification_reads_the_same() -> None:
    for path in sorted(shared_folder("spec").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert read_quickly(text) == parse_document(text), path


def asked(monkeypatch: pytest.MonkeyPatch, text: str) -> list[str]:
    """The stretches of a text that markdown-it is asked about."""
    stretches: list[str] = []

    def note(text: str, first_line: int, found: Blocks) -> bool:
        stretches.append(text)
        return parse_blocks(text, first_line, found)

    monkeypatch.setattr(fast_blocks, "parse_blocks", note)
    scan_blocks(text, Blocks())
    return stretches


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\ntext\nand more\n\n```py\n# x\n```\n\n> quote\n\n- a\n- b\n  c\n\n  d\n\n1. e\n2. f\n",
        "Title\n===\n\nSub\n---\n\n***\n\n    code\n\n<!-- x\n# y\n-->\n\n| a | b |\n|---|---|\n| c | d |\n",
        "see [x] and [y][x]\n\n[x]: https://e.example\n[z]: /a\n",
        "> [!NOTE]\n> **Bold** [a](b.md)\n> - c\n>   - d `src/e.py`\n",
        "**Bold** starts a line\n--flag does too\n#tag\n1986 was a year\n",
    ],
)
def test_plain_markdown_is_read_without_asking(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert asked(monkeypatch, text) == []


def test_a_doubtful_stretch_alone_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# A\n\nfoo\n\n<div>\nx\n\ntext\n\n- a\nlazy\n# B\n\nbar\n"
    assert asked(monkeypatch, text) == ["<div>\nx\n\n", "- a\nlazy\n"]


def test_the_rest_is_asked_about_where_something_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, "<pre>\n# A\n\n</pre>\n\nb\n") == ["<pre>\n", "<pre>\n# A\n\n</pre>\n\nb\n"]


@pytest.mark.parametrize(
    "source",
    [
        "plain [a](b.md) and ![c](d.png) `e [f](g)` [[h#i|j]] ![[k]]",
        "an [about_Page](about_Page.md#top) with [`code`](x.md) and [two\nlines](y.md)",
        "[int] and [x] and \\[y](z)",
        "a lone [ and `",
    ],
)
def test_flat_markup_is_found_without_asking(source: str) -> None:
    finds = InlineFinds()
    assert find_certain(0, source, {}, finds)
    judged = InlineFinds()
    judged.parse(0, source, {})
    assert (finds.links, finds.code_spans, finds.tags) == (judged.links, judged.code_spans, judged.tags)


@pytest.mark.parametrize(
    "source",
    [
        "[*a*](b)",
        "[a [b](c)](d)",
        "<b>[a](b)</b>",
        "<https://e.example>",
        "#tag",
        "[a](b 'c')",
        "[a](b c)",
        "[a](<b>)",
        "[a\\]](b)",
        "[a&amp;b](c)",
        "[a](data:x)",
        "[[a]](b)",
        "![a]",
    ],
)
def test_doubtful_markup_adds_nothing(source: str) -> None:
    finds = InlineFinds()
    assert not find_certain(0, f"[ok](ok.md) `src/ok.py` {source}", {}, finds)
    assert (finds.links, finds.code_spans, finds.tags) == ([], [], [])


def test_headings_without_markup_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: str, references: object) -> None:
        raise AssertionError(source)

    monkeypatch.setattr(reading, "parse_heading", fail)
    document = read_quickly("# Plain  snake_case! heading\n\nUnder lined\n===\n")
    assert [heading.text for heading in document.headings] == ["Plain snake_case! heading", "Under lined"]


@pytest.mark.parametrize("step", ["scan_blocks", "find_certain", "heading_text"])
def test_a_page_whose_quick_reading_fails_is_read_by_markdown_it(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*arguments: object) -> None:
        raise TypeError(step)

    text = "# Title\n\n| a |\n|---|\n| [b](c.md) |\n"
    monkeypatch.setattr(reading, step, fail)
    told: list[str] = []
    assert read_document(text, told.append) == parse_document(text)
    assert told == [f"TypeError: {step}"]


@pytest.mark.slow
@pytest.mark.parametrize("wiki", ["powershell", "obsidian-help"])
def test_every_seventh_page_of_a_real_wiki_reads_the_same(wiki: str) -> None:
    archive = shared_folder("corpora") / f"{wiki}.tar.xz"
    if not archive.exists():
        pytest.skip(f"{archive} is absent: the wikis are not part of the repository")
    count = 0
    with tarfile.open(archive) as files:
        for number, member in enumerate(member for member in files if member.name.endswith(".md")):
            source = files.extractfile(member) if member.isfile() and number % 7 == 0 else None
            if source:
                text = decode_page(source.read()).text
                markdown = text[parse_front_matter(text).end :]
                assert read_quickly(markdown) == parse_document(markdown), member.name
                count += 1
    assert count > 400
