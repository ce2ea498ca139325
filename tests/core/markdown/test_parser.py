"""Reading Markdown: the same headings and blocks as markdown-it gives for the whole text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from markdown_it import MarkdownIt

from indexerd.core.markdown.document import Block, BlockKind
from indexerd.core.markdown.opaque import hide_regions
from indexerd.core.markdown.parser import MAX_NESTING, code_lines, parse_document, unify_line_ends
from tests.core.markdown_texts import markdown_texts


def plain_headings(text: str) -> list[tuple[int, int, int]]:
    """Level and lines of the top-level headings, as markdown-it says without any of our settings."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    return [
        (int(token.tag[1]), token.map[0], token.map[1])
        for token in parser.parse(text)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


@given(markdown_texts())
@settings(max_examples=300)
@example("[x]: /y\n# A\n")
@example("- a\n\n# B\n")
@example("<!-- \n\n# no\n")
@example("a\n| b |\n|---|\n# C\n")
@example("[^1]: word\n-\n")
def test_headings_are_those_of_markdown_it(text: str) -> None:
    found = [(each.level, each.start, each.end) for each in parse_document(text).headings]
    without_footnotes = text.replace("[^", "(^")  # a footnote is no link definition (spec 1.5)
    assert found == plain_headings(hide_regions(unify_line_ends(without_footnotes), code_lines))


@given(markdown_texts())
@settings(max_examples=300)
def test_blocks_and_headings_cover_every_line_that_is_not_blank_and_never_overlap(text: str) -> None:
    document = parse_document(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    spans = [(each.start, each.end) for each in document.headings]
    spans += [(each.start, each.end) for each in document.blocks]
    covered = [line for start, end in sorted(spans) for line in range(start, end)]
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines) if line.strip(" \t")} <= set(covered)
    assert all(lines[block.end - 1].strip(" \t") for block in document.blocks)


@pytest.mark.parametrize(
    "text, blocks",
    [
        ("a\nb\n\nc", [("paragraph", 0, 2), ("paragraph", 3, 4)]),
        ("- a\n\n- b\n\n\nc", [("list", 0, 3), ("paragraph", 5, 6)]),
        ("1. a\n* b", [("list", 0, 1), ("list", 1, 2)]),
        ("```\na\n\nb\n```\nc", [("code", 0, 5), ("paragraph", 5, 6)]),
        ("```\na\n\n", [("code", 0, 2)]),
        ("    a\n\n    b\n\nc", [("code", 0, 3), ("paragraph", 4, 5)]),
        ("a\n| h |\n|---|\n| x |\nb\n\nc", [("paragraph", 0, 1), ("table", 1, 5), ("paragraph", 6, 7)]),
        ("> a\nlazy\n\nb", [("quote", 0, 2), ("paragraph", 3, 4)]),
        ("<div>\na\n\nb", [("html", 0, 2), ("paragraph", 3, 4)]),
        ("<!-- a\n\nb -->\nc", [("html", 0, 3), ("paragraph", 3, 4)]),
        ("a\n\n---\n\nb", [("paragraph", 0, 1), ("rule", 2, 3), ("paragraph", 4, 5)]),
        ("[x]: /y\n[z]: /w\n\nb", [("definition", 0, 1), ("definition", 1, 2), ("paragraph", 3, 4)]),
        ("# A\na\n# B\n\n# C\nb\n===\n", [("paragraph", 1, 2)]),
        ("", []),
    ],
)
def test_blocks_have_their_kind_and_lines(text: str, blocks: list[tuple[str, int, int]]) -> None:
    found = parse_document(text).blocks
    assert [(str(block.kind), block.start, block.end) for block in found] == blocks


def test_a_table_says_where_its_rows_begin() -> None:
    text = "x\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    assert parse_document(text).blocks[1] == Block(BlockKind.TABLE, 2, 6, 4)
