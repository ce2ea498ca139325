"""Chunks of whole pages: kinds, gathering, tables, lines, keys, and what an edit leaves alone."""

from __future__ import annotations

import hashlib
import json
import random
import tarfile
import tomllib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given

from indexerd.core.chunks.chunks import SPAN_LIMIT_BYTES
from indexerd.core.chunks.parts import LEAD_IN_CHARACTERS, LIMIT, TARGET_TOKENS
from indexerd.core.chunks.spans import COUNTED_LIMIT
from indexerd.core.chunks.token_estimate import UNITS_PER_TOKEN, weigh
from indexerd.core.model import Chunk, ChunkKind, Page, ProjectionOptions, Section
from indexerd.core.page.decode import line_offsets
from indexerd.core.project import project_page
from tests.core.markdown_texts import markdown_texts
from tests.shared_data import shared_folder

COUNTED_TOKENS = COUNTED_LIMIT // UNITS_PER_TOKEN
PROSE, CODE, TABLE = ChunkKind.PROSE, ChunkKind.CODE, ChunkKind.TABLE


def page(text: str, path: str = "page.md", **options: Any) -> Page:
    return project_page(text.encode(), path, ProjectionOptions(**options))


def content(section: Section, chunk: Chunk) -> str:
    if chunk.text is not None:
        return chunk.text
    spans = (
        (chunk.lead_start, chunk.lead_length),
        (chunk.header_start, chunk.header_length),
        (chunk.start, chunk.length),
        (chunk.tail_start, chunk.tail_length),
    )
    return "".join(section.body[start : start + length] for start, length in spans)


def chunks(text: str) -> list[tuple[ChunkKind, str]]:
    return [
        (chunk.kind, content(section, chunk)) for section in page(text).sections for chunk in section.chunks
    ]


def keys(text: str) -> list[str]:
    return [chunk.key for section in page(text).sections for chunk in section.chunks]


def words(count: int, seed: int = 0) -> str:
    """Two tokens a word, of five letters that follow from the seed and its number."""
    letters = "abcdefgijklmnopq"  # without the pair that tells English
    digits = (f"{(seed * 7919 + number * 104729) % 0x100000:05x}" for number in range(count))
    return " ".join("".join(letters[int(digit, 16)] for digit in word) for word in digits)


def rows(count: int) -> list[str]:
    return [f"| row {number} | some words | more of them |" for number in range(count)]


HEADER = "| a | b | c |\n|---|---|---|\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        ("# A\n\n \t\n", []),
        ("# A\n\u00a0\n", []),
        ("# A\ntext\n", [(PROSE, "text")]),
        ("text without end", [(PROSE, "text without end")]),
        ("# A\n\n\n  one\n\ntwo  \n\n\n", [(PROSE, "  one\n\ntwo")]),
        ("# A\r\n\r\none\r\n\r\ntwo\r\n", [(PROSE, "one\r\n\r\ntwo")]),
        ("# A\n\n    indented code\n", [(CODE, "    indented code")]),
        ("# A\n\n```\nx\n```\n\n    y\n", [(CODE, "```\nx\n```\n\n    y")]),
        ("# A\n\n```\nx\n```\n\ntext\n", [(PROSE, "```\nx\n```\n\ntext")]),
        ("# A\n\n---\n", [(PROSE, "---")]),
        ("# A\n\n<!-- note -->\n", [(PROSE, "<!-- note -->")]),
        ("# A\n\n[x]: /y 'title'\n", [(PROSE, "[x]: /y 'title'")]),
        ("# A\n\n> # Quoted\n> text\n", [(PROSE, "> # Quoted\n> text")]),
        ("One\n\n# A\n\ntwo\n\nB\n-\nthree\n", [(PROSE, "One"), (PROSE, "two"), (PROSE, "three")]),
    ],
)
def test_a_small_section_is_one_chunk_without_the_blanks_around_it(
    text: str, expected: list[tuple[ChunkKind, str]]
) -> None:
    assert chunks(text) == expected


@pytest.mark.parametrize(
    "body, expected",
    [
        (HEADER + "| 1 | 2 | 3 |\n", [(TABLE, HEADER + "| 1 | 2 | 3 |")]),
        ("Lead:\n\n" + HEADER, [(TABLE, "Lead:\n\n" + HEADER.rstrip())]),
        ("One.\n\nLead:\n\n" + HEADER, [(PROSE, "One."), (TABLE, "Lead:\n\n" + HEADER.rstrip())]),
        ("- item\n\n" + HEADER, [(PROSE, "- item"), (TABLE, HEADER.rstrip())]),
        ("Lead:\n\n---\n\n" + HEADER, [(PROSE, "Lead:\n\n---"), (TABLE, HEADER.rstrip())]),
        ("Table: T\n\n" + HEADER, [(TABLE, "Table: T\n\n" + HEADER.rstrip())]),
        ("Lead.\n\nTable: T\n\n" + HEADER, [(TABLE, "Lead.\n\nTable: T\n\n" + HEADER.rstrip())]),
        (HEADER + "\n: T\n\nAfter.\n", [(TABLE, HEADER + "\n: T"), (PROSE, "After.")]),
        (
            HEADER + "\nTable: one\n\n" + HEADER + "\nTable: two\n",
            [(TABLE, HEADER + "\nTable: one"), (TABLE, HEADER + "\nTable: two")],
        ),
        (
            "Table: one\n\n" + HEADER + "\nTable: two\n\n" + HEADER,
            [(TABLE, "Table: one\n\n" + HEADER.rstrip()), (TABLE, "Table: two\n\n" + HEADER.rstrip())],
        ),
        (
            HEADER + "\nBetween.\n\n" + HEADER + "\nAfter.\n",
            [(TABLE, HEADER.rstrip()), (TABLE, "Between.\n\n" + HEADER.rstrip()), (PROSE, "After.")],
        ),
    ],
)
def test_a_table_stands_alone_with_its_lead_in_and_its_caption(
    body: str, expected: list[tuple[ChunkKind, str]]
) -> None:
    assert chunks("# A\n\n" + body) == expected


@pytest.mark.parametrize("length, moves", [(LEAD_IN_CHARACTERS - 1, True), (LEAD_IN_CHARACTERS, False)])
def test_a_paragraph_before_a_table_is_a_lead_in_below_300_characters(length: int, moves: bool) -> None:
    paragraph = "x" * length
    found = chunks(f"# A\n\n{paragraph}\n\n{HEADER}")
    assert [kind for kind, _ in found] == ([TABLE] if moves else [PROSE, TABLE])
    assert found[0][1].startswith(paragraph)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_long_table_is_cut_between_rows_and_every_part_has_the_header(line_end: str) -> None:
    text = "# A\n\nLead.\n\n" + HEADER + "\n".join(rows(300)) + "\n\nAfter.\n"
    found = chunks(text.replace("\n", line_end))
    header = HEADER.replace("\n", line_end)
    tables = [table for kind, table in found if kind is TABLE]
    assert len(tables) > 5
    assert tables[0].startswith("Lead." + 2 * line_end + header)
    assert all(table.startswith(header) for table in tables[1:])
    body = [line for table in tables for line in table.split(line_end) if line.startswith("| row")]
    assert body == rows(300)
    assert all(weigh(table) <= LIMIT for table in tables)
    assert found[-1] == (PROSE, "After.")


def test_the_caption_below_a_long_table_stands_in_its_first_chunk_too() -> None:
    text = "# A\n\n" + HEADER + "\n".join(rows(100)) + "\n\nTable: rates\n\nAfter.\n"
    found = chunks(text)
    assert found[0][1].startswith("Table: rates\n\n" + HEADER)
    assert found[-2][1].endswith("\n\nTable: rates")
    assert found[-1] == (PROSE, "After.")


def test_a_caption_that_ends_the_file_without_a_line_end_is_not_put_before_the_table() -> None:
    found = chunks("# A\n\n" + HEADER + "\n".join(rows(100)) + "\n\nTable: rates")
    assert found[0][1].startswith(HEADER)
    assert found[-1][1].endswith("\n\nTable: rates")


def test_a_row_is_torn_only_where_it_alone_exceeds_the_target() -> None:
    fits = "| " + "x " * (TARGET_TOKENS * 5 // 2 - 10) + "|"
    torn = "| " + "x " * (8 * TARGET_TOKENS) + "|"
    assert [text.count("|---|---|---|") for _, text in chunks(f"# A\n\n{HEADER}{fits}\n{fits}\n")] == [
        1,
        1,
        1,
    ]
    assert any(fits in text for _, text in chunks(f"# A\n\n{HEADER}{fits}\n{fits}\n"))
    found = chunks(f"# A\n\n{HEADER}{torn}\n")
    assert len(found) >= 3
    assert all(weigh(text) <= 2 * LIMIT for _, text in found)


def test_a_header_heavier_than_a_chunk_is_not_repeated() -> None:
    header = "| " + "h " * (3 * TARGET_TOKENS) + "| b |\n|---|---|\n"
    found = chunks("# A\n\n" + header + "\n".join(f"| {number} | x |" for number in range(400)) + "\n")
    assert sum("|---|---|" in text for _, text in found) == 1
    assert all(weigh(text) <= LIMIT for _, text in found)


def test_a_fence_is_not_torn_unless_it_alone_exceeds_the_target() -> None:
    fence = "```py\n" + "\n".join(f"line_{number} = {number}" for number in range(40)) + "\n```"
    prose = "\n\n".join(words(60, seed) for seed in range(4))
    found = chunks(f"# A\n\n{prose}\n\n{fence}\n\n{prose}\n")
    assert sum(fence in text for _, text in found) == 1
    assert len(found) > 2


def test_a_long_fence_is_torn_at_lines_and_keeps_to_itself() -> None:
    lines = [f"line_{number} = {number}" for number in range(400)]
    fence = "\n".join(["```py", *lines, "```"])
    found = chunks(f"# A\n\nBefore.\n\n{fence}\n\nAfter.\n")
    assert [kind for kind, _ in found[:1] + found[-1:]] == [PROSE, PROSE]
    assert {kind for kind, _ in found[1:-1]} == {CODE}
    inner = [text.removeprefix("```py\n").removesuffix("\n```") for _, text in found[1:-1]]
    assert "\n".join(inner).split("\n") == lines
    assert all(text.startswith("```py\n") and text.endswith("\n```") for _, text in found[1:-1])
    assert all(weigh(text) <= LIMIT for _, text in found)


@pytest.mark.parametrize(
    "opening, closing",
    [
        ("~~~~ {.py}", "~~~~~"),
        ("   ```", "```"),
        ("```py", None),
        ("````md", "````"),
        ("```" + "x" * 9000, "```"),
    ],
)
def test_every_part_of_a_long_fence_has_its_lines_where_they_fit(opening: str, closing: str | None) -> None:
    code = [f"value_{number} = {number}" for number in range(200)]
    found = chunks("\n".join(["# A", "", opening, *code, *([closing] if closing else [])]))
    assert len(found) > 3
    assert all(weigh(text) <= 2 * LIMIT for _, text in found)
    fits = len(opening) < 9000
    assert all(text.startswith(opening + "\n") for _, text in found) == fits
    assert all(text.endswith("\n" + (closing or "```")) for _, text in found) == (
        fits and closing is not None
    )


def test_parts_of_a_long_listing_without_a_fence_repeat_nothing() -> None:
    lines = [f"    line {number} of a listing" for number in range(300)]
    found = chunks("# A\n\n" + "\n".join(lines) + "\n")
    assert len(found) > 3
    assert "\n".join(text for _, text in found).split("\n") == lines


HTML_HEADER = "<table>\n<thead>\n<tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n"
HTML_END = "\n</tbody>\n</table>"


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_table_in_html_is_a_table_and_every_part_has_its_header_and_end(gap: str) -> None:
    html_rows = [f"<tr><td>row {number}</td><td>some words</td></tr>" for number in range(100)]
    found = chunks(f"# A\n\nLead:\n\n{HTML_HEADER}{gap.join(html_rows)}{HTML_END}\n\nAfter.\n")
    assert len(found) > 4
    assert {kind for kind, _ in found[:-1]} == {TABLE}
    assert found[-1] == (PROSE, "After.")
    assert found[0][1].startswith("Lead:\n\n" + HTML_HEADER)
    assert all(HTML_HEADER in text and text.endswith(HTML_END) for _, text in found[:-1])
    assert all(weigh(text) <= LIMIT for _, text in found)
    inner = (text.split(HTML_HEADER)[1].removesuffix(HTML_END) for _, text in found[:-1])
    assert [row for text in inner for row in text.split("\n") if row] == html_rows


@pytest.mark.parametrize(
    "body, kinds",
    [
        ("<table><tr><td>1</td></tr></table>", [TABLE]),
        ("<div align='center'>\n<table><tr><th>1</th></tr></table>\n</div>", [TABLE]),
        ("<TABLE>\n<tr><td>\n\n- one\n\n</td></tr>\n</TABLE>\n\nAfter.", [TABLE, PROSE]),
        ("<table>\n<tr><td>never closed", [PROSE]),
        ("<div>\n<p>no table</p>\n</div>", [PROSE]),
        ("<table></table>\n\nTable: nothing\n\nAfter.", [TABLE, PROSE]),
    ],
)
def test_what_html_is_a_table(body: str, kinds: list[ChunkKind]) -> None:
    assert [kind for kind, _ in chunks(f"# A\n\n{body}\n")] == kinds


def test_a_table_within_a_cell_belongs_to_its_row() -> None:
    inside = "<table><tr><td>in</td></tr><tr><td>side</td></tr></table>"
    html_rows = "".join(f"<tr><td>{number}</td><td>{inside}</td></tr>\n" for number in range(60))
    found = chunks(f"# A\n\n<table>\n<tr><th>a</th><th>b</th></tr>\n{html_rows}</table>\n")
    assert len(found) > 3
    assert all(text.count("<table") == text.count("</table") for _, text in found)
    assert all("<th>a</th>" in text for _, text in found)


def test_a_data_uri_is_a_placeholder_and_nothing_else_of_its_section_changes() -> None:
    picture = "data:image/png;base64," + "iVBORw0KGgo/+A" * 4000
    drawing = "data:image/svg+xml;charset=utf-8,%3Csvg%20" + "%20" * 60
    text = f"# A\n\nBefore.\n\n![logo]({picture}) and ![]({drawing})\n\ndata:text/plain,short\n"
    section = page(text).sections[0]
    assert [chunk.text for chunk in section.chunks] == [
        "Before.\n\n![logo](data:image/png,…) and ![](data:image/svg+xml,…)\n\ndata:text/plain,short"
    ]
    assert picture in section.body
    assert (section.chunks[0].line, section.chunks[0].lines) == (3, 5)


def test_a_long_list_is_cut_between_its_items() -> None:
    items = [f"- item {number}\n  and its second line\n  - nested {number}" for number in range(200)]
    found = [text for _, text in chunks("# A\n\n" + "\n".join(items) + "\n")]
    assert len(found) > 5
    assert all(text.startswith("- item") for text in found)
    assert "\n".join(found) == "\n".join(items)


def test_a_long_quote_is_cut_between_its_lines() -> None:
    quote = [f"> line {number} of what is quoted" for number in range(200)]
    found = [text for _, text in chunks("# A\n\n" + "\n".join(quote) + "\n")]
    assert len(found) > 3
    assert "\n".join(found) == "\n".join(quote)


@pytest.mark.parametrize(
    "text, borders",
    [
        (" ".join(f"Sentence {number} is short." for number in range(400)), "."),
        ("日本語の文章です。" * 200, "。"),
        ("日本語の文章です" * 200, "日本語の文章です"),
        (words(2000), "abcdefgijklmnopq"),
        ("x" * 10_000, "x"),
    ],
)
def test_an_endless_paragraph_is_cut_at_sentences_then_words_then_anywhere(text: str, borders: str) -> None:
    found = [part for _, part in chunks(f"# A\n\n{text}\n")]
    assert len(found) > 3
    assert all(weigh(part) <= LIMIT for part in found)
    assert all(part[-1] in borders for part in found[:-1])
    assert "".join("".join(found).split()) == "".join(text.split())


def test_parts_are_numbered_and_lines_count_from_the_heading() -> None:
    text = "# A\n\nLong\n====\n\n" + "\n\n".join(words(120, seed) for seed in range(6)) + "\n"
    long = page(text).sections[1]
    assert len(long.chunks) >= 3
    assert [chunk.part for chunk in long.chunks] == list(range(1, len(long.chunks) + 1))
    assert {chunk.parts for chunk in long.chunks} == {len(long.chunks)}
    lines = text.split("\n")
    for chunk in long.chunks:
        first = long.start_line + chunk.line - 2
        assert "\n".join(lines[first : first + chunk.lines]) == content(long, chunk)


def test_chunk_text_is_kept_only_where_the_body_is_too_long_for_spans() -> None:
    line = "x" * 99 + "\n"
    fits = line * (SPAN_LIMIT_BYTES // 100 - 1)
    assert all(chunk.text is None for chunk in page("# A\n\n" + fits).sections[0].chunks)
    wide = "日" * (SPAN_LIMIT_BYTES // 3)
    assert all(chunk.text is None for chunk in page("# A\n" + wide).sections[0].chunks)
    for long in (fits + line + line, wide + "日" * 2):
        section = page("# A\n" + long).sections[0]
        assert all(chunk.text == content(section, chunk) for chunk in section.chunks)


@pytest.mark.parametrize(
    "front, heading, path",
    [
        ("", "# Own title\n", "Own title"),
        ("---\ntitle: T\n---\n", "# A\n## B > C\n", "T > A > B > C"),
        ("---\ntitle: t\n---\n", "#  T\n## B\n", "t > B"),
        ("---\ntitle: T\n---\n", "", "T"),
        ("---\ntitle: T\n---\n", "# Cover\n## B\n", "T > B"),
    ],
)
def test_a_key_is_half_the_hash_of_title_path_and_content(front: str, heading: str, path: str) -> None:
    found = page(front + heading + "\ntext\n", identity_names=("COVER",)).sections[-1].chunks
    digest = hashlib.sha256(f"{path}\n\ntext".encode()).hexdigest()
    assert [chunk.key for chunk in found] == [digest[:32]]


def test_a_line_added_above_changes_no_key() -> None:
    text = "\n\n".join(words(60, seed) for seed in range(30)) + "\n"
    assert keys("---\ntitle: T\n---\n" + text) == keys("---\ntitle: T\n\n---\n\n\n" + text)
    headed = "# T\n\n## A\n\n" + text
    assert keys("Hello.\n\n" + headed)[1:] == keys(headed)


def _replace_a_word(paragraph: str, source: random.Random) -> str:
    found = paragraph.split(" ")
    found[source.randrange(len(found))] = "edited"
    return " ".join(found)


def _append_a_sentence(paragraph: str, source: random.Random) -> str:
    return paragraph + " And then there is one more thing to say."


def _rewrite(paragraph: str, source: random.Random) -> str:
    return words(len(paragraph.split(" ")) + source.randint(-5, 5), 1000 + source.randrange(1000))


def _shorten(paragraph: str, source: random.Random) -> str:
    return "Nothing much."


@pytest.mark.parametrize("edit", [_replace_a_word, _append_a_sentence, _rewrite, _shorten])
@pytest.mark.parametrize("sizes", [(70, 70), (120, 120), (30, 90), (10, 60)])
def test_editing_one_paragraph_changes_at_most_two_keys(
    edit: Callable[[str, random.Random], str], sizes: tuple[int, int]
) -> None:
    source = random.Random(f"{edit.__name__} {sizes}")
    count = COUNTED_TOKENS // 2 // sizes[1] - 1  # two tokens a word
    for run in range(4):
        paragraphs = [words(source.randint(*sizes), 100 * run + seed) for seed in range(count)]
        before = set(keys("# A\n\n" + "\n\n".join(paragraphs) + "\n"))
        assert len(before) >= 3
        for index, paragraph in enumerate(paragraphs):
            edited = [*paragraphs[:index], edit(paragraph, source), *paragraphs[index + 1 :]]
            assert len(set(keys("# A\n\n" + "\n\n".join(edited) + "\n")) - before) <= 2


@pytest.mark.parametrize("sizes", [(70, 70), (30, 90), (10, 60)])
def test_a_paragraph_put_into_a_long_section_makes_at_most_three_keys_in_95_of_100(
    sizes: tuple[int, int],
) -> None:
    source = random.Random(f"insert {sizes}")
    paragraphs = [words(source.randint(*sizes), seed) for seed in range(14_000 // sum(sizes))]
    before = set(keys("# A\n\n" + "\n\n".join(paragraphs) + "\n"))
    assert len(before) >= 40
    changed = []
    for run in range(100):
        at = source.randrange(len(paragraphs) + 1)
        more = [*paragraphs[:at], words(source.randint(*sizes), 1000 + run), *paragraphs[at:]]
        changed.append(len(set(keys("# A\n\n" + "\n\n".join(more) + "\n")) - before))
    assert sum(new <= 3 for new in changed) >= 95


@pytest.mark.parametrize("separator", ["\n", " "])
def test_what_is_put_into_a_long_block_changes_few_keys(separator: str) -> None:
    source = random.Random(separator)
    parts = [f"- Sentence {number} has the number {source.randrange(10**6)}." for number in range(400)]
    before = set(keys("# A\n\n" + separator.join(parts) + "\n"))
    changed = []
    for _ in range(100):
        at = source.randrange(1, len(parts))
        text = separator.join([*parts[:at], "- Something new.", *parts[at:]])
        changed.append(len(set(keys(f"# A\n\n{text}\n")) - before))
    assert len(before) > 10
    assert sum(changed) <= 1.5 * len(changed)


def _check_page(found: Page) -> None:
    """In order, the chunks cover every line that is neither blank nor a heading, and none is too heavy."""
    for section in found.sections:
        offsets = [*line_offsets(section.body), len(section.body)] if section.body else [0]
        heading_lines = len(line_offsets(section.heading_source)) if section.heading_source else 0
        covered: set[int] = set()
        for chunk in section.chunks:
            assert content(section, chunk).strip(" \t\r\n")
            assert chunk.tokens == -(-weigh(content(section, chunk)) // UNITS_PER_TOKEN) <= 2 * TARGET_TOKENS
            first, last = chunk.line - heading_lines - 1, chunk.line - heading_lines + chunk.lines - 2
            assert offsets[first] <= chunk.start
            assert chunk.start + chunk.length <= offsets[last + 1]
            covered.update(range(first, last + 1))
        assert [chunk.part for chunk in section.chunks] == list(range(1, len(section.chunks) + 1))
        assert all(left.start + left.length <= right.start for left, right in pairwise(section.chunks))
        if section.body.strip():
            lines = [section.body[start:end] for start, end in pairwise(offsets)]
            assert {number for number, line in enumerate(lines) if line.strip()} <= covered


@given(markdown_texts())
@example("| a |\n|---|\n| " + "b" * 9000 + " |\n\n: c\n\n: d")
@example("# A\n" + "\r".join(["- a", "  ```", *["b" * 50] * 100, "c"]))
@example("x\n" * 3000)
@example("".join(f"[{number}]: /{number}\n" for number in range(1000)))
def test_chunks_cover_every_line_that_is_neither_blank_nor_heading(text: str) -> None:
    _check_page(page(text))


@pytest.mark.slow
@given(markdown_texts(), markdown_texts(), markdown_texts())
def test_chunks_of_long_pages_cover_every_line(one: str, two: str, three: str) -> None:
    text = (one + "\n\n") * 20 + (two + "\n") * 40 + (three + " ") * 40
    _check_page(page(text))


def _assert_as_expected(
    found: Page, section: Section, chunk: Chunk, expected: dict[str, Any], name: str
) -> None:
    text, shown = content(section, chunk), _display_path(found, section, chunk)
    assert shown == expected.get("path", shown), name
    assert chunk.kind == expected.get("kind", chunk.kind), name
    assert text.startswith(expected.get("starts", "")), name
    assert expected.get("contains", "") in text, name
    if embed_text := expected.get("embed_text"):
        assert chunk.key == hashlib.sha256(embed_text.encode()).hexdigest()[:32], name


def _display_path(found: Page, section: Section, chunk: Chunk) -> list[str]:
    path = list(section.heading_path[1:] if section.guarded else section.heading_path)
    if section.level == 0 and len(found.sections) == 1:
        first = section.start_line + chunk.line - 1
        return [*path, f"lines {first}–{first + chunk.lines - 1}"]
    return [*path, f"part {chunk.part} of {chunk.parts}"] if chunk.parts > 1 else path


def test_every_shared_case_of_chunks_holds() -> None:
    cases = json.loads((shared_folder("conformance") / "chunks.json").read_text(encoding="utf-8"))["cases"]
    assert len(cases) >= 13
    for case in cases:
        name = case["name"]
        names = tomllib.loads(case.get("config", "")).get("identity", {}).get("names", [])
        found = page(case["text"], case["path"], identity_names=tuple(names))
        pairs = [(section, chunk) for section in found.sections for chunk in section.chunks]
        if "expect" in case:
            assert len(pairs) == len(case["expect"]), name
            for (section, chunk), expected in zip(pairs, case["expect"], strict=True):
                _assert_as_expected(found, section, chunk, expected, name)
        else:
            parts = case["expect_parts"]
            labels = [parts["last"].format(i=index + 1, n=len(pairs)) for index in range(len(pairs))]
            assert len(pairs) >= parts["min_parts"], name
            assert [_display_path(found, *pair) for pair in pairs] == [
                [*parts["path_prefix"], label] for label in labels
            ], name
            assert all(parts.get("each_contains", "") in content(*pair) for pair in pairs), name
        if "diagnostic" in case and not case.get("others"):  # with others it is the view's to say
            assert case["diagnostic"] in [each.kind for each in found.diagnostics], name


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["powershell", "obsidian-help"])
def test_chunks_cover_every_line_of_a_tenth_of_the_corpora(corpus: str) -> None:
    checked = 0
    with tarfile.open(shared_folder("corpora") / f"{corpus}.tar.xz") as archive:
        members = (member for member in archive if member.isfile() and member.name.endswith(".md"))
        for number, member in enumerate(members):
            file = archive.extractfile(member) if number % 10 == 0 else None
            if file is not None:
                _check_page(project_page(file.read(), "page.md", ProjectionOptions()))
                checked += 1
    assert checked > 100
