"""Tables written in HTML: where one ends, and where its rows are. Reads tags, no attributes.

A table within a cell belongs to its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BEGINS: Final = re.compile(r"(?:\s*<(?!table\b)[a-z][^<>]*>)*\s*<table\b", re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)(table|thead|tr|th)\b[^<>]*>", re.IGNORECASE)


class HtmlTable(NamedTuple):
    """Offsets: of the table's end, of the first row after its header, of the end of each such row."""

    end: int
    rows: int
    row_ends: tuple[int, ...]


def find_html_table(body: str, start: int, end: int) -> HtmlTable | None:
    """The table that the HTML at `start` begins with, if it is closed before `end`.

    Without rows in a `thead`, or a first row of `th`, there is no header to tell from the rows.
    """
    if _BEGINS.match(body, start, end) is None:
        return None
    rows: list[tuple[int, int]] = []
    header_end = row_start = 0
    has_heading_cell = False
    for closes, name, at, after in _own_tags(body, start, end):
        if name == "table":
            return _table(after, rows, header_end)
        if name == "tr" and closes:
            rows.append((row_start, after))
            header_end = after if len(rows) == 1 and has_heading_cell else header_end
        elif name == "tr":
            row_start = at
        elif name == "th":
            has_heading_cell = True
        elif closes:
            header_end = after
    return None


def _own_tags(body: str, start: int, end: int) -> Iterator[tuple[bool, str, int, int]]:
    """The tags of the outermost table: whether it closes, name, offsets. Its own end is the last."""
    depth = 0
    for tag in _TAG.finditer(body, start, end):
        closes, name = bool(tag[1]), tag[2].lower()
        if name == "table":
            depth += -1 if closes else 1
            if depth == 0:
                yield closes, name, tag.start(), tag.end()
                return
        elif depth == 1:
            yield closes, name, tag.start(), tag.end()


def _table(end: int, rows: list[tuple[int, int]], header_end: int) -> HtmlTable:
    shown = [row for row in rows if row[0] >= header_end]
    return HtmlTable(end, shown[0][0] if shown else end, tuple(row_end for _, row_end in shown))
