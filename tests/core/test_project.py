"""The whole projection of one file: titles, names, dates, diagnostics, hostile input, properties."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexerd.core import project as project_module
from indexerd.core.model import Page, ProjectionOptions, TitleOrigin
from indexerd.core.page.decode import decode_page
from indexerd.core.project import ProjectionError, oversized_page, project_page, projection_fingerprint
from tests.core.markdown_texts import markdown_texts


def page(text: str | bytes, path: str = "dir/page.md", **options: Any) -> Page:
    data = text if isinstance(text, bytes) else text.encode()
    return project_page(data, path, ProjectionOptions(**options))


def kinds(found: Page) -> list[str]:
    return [each.kind for each in found.diagnostics]


@pytest.mark.parametrize(
    "text, path, title, origin",
    [
        ("---\ntitle: Said\n---\n# Head\n", "p.md", "Said", "front_matter"),
        ("---\ntitle: 1.10\n---\n", "p.md", "1.10", "front_matter"),
        ("---\ntitle: 2024-01-02\n---\n", "p.md", "2024-01-02", "front_matter"),
        ("---\ntitle: ' two\n\n  lines '\n---\n", "p.md", "two lines", "front_matter"),
        ("---\ntitle: ''\n---\n# Head\n", "p.md", "Head", "heading"),
        ("---\ntitle: [x]\n---\n# Head\n", "p.md", "Head", "heading"),
        ("## Two\n# One\n# Other\n", "p.md", "One", "heading"),
        ("#\n# One\n", "p.md", "One", "heading"),
        ("> # Quoted\n", "a/My Page.md", "My Page", "path"),
        ("## Two\n", "a/README.md", "a", "path"),
        ("", "README.md", "README", "path"),
    ],
)
def test_a_title_comes_from_front_matter_then_heading_then_path(
    text: str, path: str, title: str, origin: str
) -> None:
    found = page(text, path)
    assert (found.title, found.title_origin) == (title, TitleOrigin(origin))


def test_summary_and_front_matter_are_kept() -> None:
    found = page("---\nsummary: S\ndescription: D\nx: {y: [1, 2024-01-02]}\nübung: ja\n---\n")
    assert found.summary == "S"
    assert found.front_matter == '{"summary":"S","description":"D","x":{"y":[1,"2024-01-02"]},"übung":"ja"}'
    assert page("---\ndescription: D\n---\n").summary == "D"
    assert (page("x").summary, page("x").front_matter, page("x").raw_front_matter) == (None, "{}", None)


@pytest.mark.parametrize(
    "block, aliases",
    [
        ("aliases: [One, 'Two, three', ONE]", ("One", "Two, three", "ONE")),
        ("alias: One", ("One",)),
        ("aliases: One, two", ("One", "two")),
        ("aliases: [a]\nalias: [b, a]", ("a", "b")),
        ("aliases: [2024, null, '  x   y ']", ("2024", "x y")),
        ("aliases:", ()),
        ("aliases: [{a: b}]", ()),
    ],
)
def test_aliases_are_a_list_or_one_text(block: str, aliases: tuple[str, ...]) -> None:
    assert page(f"---\n{block}\n---\n").aliases == aliases


@pytest.mark.parametrize(
    "text, path, kind, line",
    [
        (b"# A\n\xff", "p.md", "invalid_utf8", 2),
        (b"# A\n\x00", "p.md", "nul_character", 2),
        (b"---\ntitle: a: b\n---\n# A\n", "p.md", "front_matter_invalid", 2),
        (b"---\ntitle: [a]\n---\n# A\n", "p.md", "front_matter_invalid", None),
        (b"---\nsummary: {a: b}\n---\n# A\n", "p.md", "front_matter_invalid", None),
        (b"---\naliases: [[a], b]\n---\n# A\n", "p.md", "front_matter_invalid", None),
        (b"---\ndate: soon\n---\n# A\n", "p.md", "front_matter_invalid", None),
        (b"---\nx: 2024-99-99\n---\n# A\n", "p.md", "front_matter_invalid", 2),
        (b"---\nx: 1\nx: 2\n---\n# A\n", "p.md", "front_matter_invalid", 3),
        (b"---\nsources: no\n---\n# A\n", "p.md", "source_invalid", None),
        (b"only prose\n", "p.md", "no_headings", None),
        (b"# A\n", "p.sync-conflict-20240102-030405-ABCDEFG.md", "conflict_copy", None),
        (b"# A\n", "p (Ann's conflicted copy 2024-01-02).md", "conflict_copy", None),
        (b"---\nx: y\n---\n" + b"> " * 210 + b"x\n\n# A\n", "p.md", "too_deep", 4),
    ],
)
def test_whatever_was_replaced_or_guessed_is_said_with_its_line(
    text: bytes, path: str, kind: str, line: int | None
) -> None:
    found = page(text, path)
    assert [(each.kind, each.line) for each in found.diagnostics] == [(kind, line)]
    assert len(found.diagnostics[0].message) > 20


@pytest.mark.parametrize("text", ["", "\n\n", "---\ntitle: T\n---\n", "# A\n", "---\ntitle: T\n---\n \n"])
def test_a_page_with_nothing_to_say_gives_no_diagnostic(text: str) -> None:
    found = page(text)
    assert found.diagnostics == ()
    assert len(found.sections) == 1


def test_a_file_too_large_is_a_page_without_a_body() -> None:
    found = oversized_page("a/README.md", 17 * 1024 * 1024)
    assert (found.title, found.title_origin, found.sections) == ("a", TitleOrigin.PATH, ())
    assert (found.size, found.content_hash) == (17 * 1024 * 1024, None)
    assert kinds(found) == ["too_large"]
    assert "max_page_bytes" in found.diagnostics[0].message


def test_the_hash_and_size_are_of_the_raw_bytes() -> None:
    data = b"\xef\xbb\xbf# A\r\n\xff"
    found = page(data)
    assert (found.content_hash, found.size) == (hashlib.sha256(data).hexdigest(), len(data))


def test_a_fingerprint_changes_with_whatever_a_projection_depends_on() -> None:
    options = [
        ProjectionOptions(),
        ProjectionOptions(identity_names=("a",)),
        ProjectionOptions(identity_names=("a", "b")),
        ProjectionOptions(identity_names=("ab",)),
        ProjectionOptions(repository_prefix="a"),
        ProjectionOptions(extensions=("md",)),
    ]
    fingerprints = [projection_fingerprint(each) for each in options]
    assert len(set(fingerprints)) == len(options)
    assert fingerprints == [projection_fingerprint(each) for each in options]


def test_a_page_that_no_parser_can_read_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(text: str, told: object) -> None:
        raise RecursionError

    monkeypatch.setattr(project_module, "read_document", overflow)
    with pytest.raises(ProjectionError) as caught:
        page("# A\n", "a.md")
    assert caught.value.path == "a.md"
    assert caught.value.diagnostic.kind == "parser_failed"


HOSTILE = {
    "brackets": "[" * 5_000,
    "image brackets": "![" * 3_000,
    "nested links": "[" * 3_000 + "](x)" * 3_000,
    "nested images": "![" * 500 + "x" + "](y)" * 500,
    "emphasis": "*a **b " * 3_000,
    "quotes": "> " * 3_000 + "x",
    "lists": "- " * 3_000 + "x",
    "indented lists": "\n".join("  " * depth + "- x" for depth in range(600)),
    "fences": "```\n" * 3_001,
    "backticks": " ".join("`" * count for count in range(1, 400)),
    "angle brackets": "<" * 5_000,
    "open comments": "<!--" * 5_000,
    "entities": "&#x41;" * 5_000,
    "definitions": "\n".join(f"[{number}]: /{number}" for number in range(3_000)),
    "wikilinks": "[[" * 3_000 + "]]" * 3_000,
    "table": "|a|\n|-|\n" + "|" * 3_000,
    "wide table": "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n" + "|x|\n" * 100,
    "setext": "a\n" * 3_000 + "===",
    "headings": "# x\n" * 3_000,
    "hashes": "#" * 20_000,
    "one long line": "word " * 40_000,
    "carriage returns": "\r" * 5_000,
    "pointy pairs": "<a " * 3_000 + ">",
    "escapes": "\\[" * 5_000,
    "tags": "#a" * 5_000,
    "front matter": "---\na: &a [x]\nb: *a\n---\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_projected(name: str) -> None:
    found = page(HOSTILE[name])
    assert found.lead + "".join(each.heading_source + each.body for each in found.sections) == HOSTILE[name]


NESTED = ("brackets", "image brackets", "nested links", "nested images", "quotes", "lists", "indented lists")


@pytest.mark.parametrize("name", NESTED)
def test_nested_markup_needs_few_enough_frames_wherever_it_is_started(name: str) -> None:
    """A daemon calls from deeper than a worker does: neither may be the one to fail."""
    limit = sys.getrecursionlimit()
    depth = len(inspect.stack(context=0))
    expected = page(HOSTILE[name])
    sys.setrecursionlimit(depth + 600)
    try:
        found = page(HOSTILE[name])
    finally:
        sys.setrecursionlimit(limit)
    assert found == expected


@given(markdown_texts())
def test_lead_and_sections_are_the_text_again(text: str) -> None:
    found = page(text)
    assert found.lead + "".join(each.heading_source + each.body for each in found.sections) == text
    lines = [(each.start_line, each.end_line) for each in found.sections]
    assert all(start <= end for start, end in lines)
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(lines))
    assert all(link.line >= 1 for each in found.sections for link in each.links)


@given(markdown_texts(), st.sampled_from(["p.md", "a/README.md", "a/b/c.markdown"]))
def test_every_path_is_an_ancestry_and_ends_in_its_heading(text: str, path: str) -> None:
    for each in page(text, path).sections:
        assert "" not in each.heading_path
        assert each.heading_path[-1:] == (each.heading,) or not each.heading
        assert len(each.heading_path) <= max(each.level, 1)


@given(st.binary(max_size=200))
@example(b"\xff\xfe\x00")
@example(b"---\n\xff: \x00\n---\n")
def test_any_bytes_are_a_page_that_can_be_stored(data: bytes) -> None:
    found = page(data)
    text = decode_page(data).text
    assert found.lead + "".join(each.heading_source + each.body for each in found.sections) == text
    json.loads(found.front_matter)
    repr(found).encode("utf-8")
    assert page(data) == found
