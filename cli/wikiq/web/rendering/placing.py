"""Where the ranges of a source stand in the tokens that were made of it.

The parser is given the text without any sign in it, so a mark never changes what Markdown means: here
the text of each token is found again in the lines it came from. What is not found is not marked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from markdown_it.token import Token

Ranges: TypeAlias = Sequence[tuple[int, int]]
LineMarks: TypeAlias = Mapping[int, Ranges]  # columns [from, to) of a line of the file, counted from 0

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_VERBATIM: Final = ("fence", "code_block", "html_block")  # whose content is lines of the file


def marks_by_line(source: str, marks: Ranges) -> dict[int, list[tuple[int, int]]]:
    """Ranges of a source, in order, as columns of its lines."""
    found: dict[int, list[tuple[int, int]]] = {}
    if not marks:
        return found
    starts = [0, *(end.end() for end in _LINE_END.finditer(source)), len(source) + 1]
    for start, end in marks:
        line = bisect_right(starts, start) - 1
        while line + 1 < len(starts) and starts[line] < end:
            columns = max(start - starts[line], 0), min(end, starts[line + 1]) - starts[line]
            found.setdefault(line, []).append(columns)
            line += 1
    return found


def place_marks(tokens: Sequence[Token], first_line: int, lines: Sequence[str], marks: LineMarks) -> None:
    """Note in `meta["marks"]` of each token the ranges of its content that are marked.

    `lines`: of the file, as the parser saw them; `first_line` is what `token.map` counts from.
    """
    cells: dict[int, int] = {}  # of a row of a table, where the last cell ended
    for token in tokens:
        if token.map is None:
            continue
        first = first_line + token.map[0] + (token.type == "fence")
        last = first_line + max(token.map[1], token.map[0] + 1)
        if not any(line in marks for line in range(first, last)):
            continue
        if token.type in _VERBATIM:
            token.meta = {**token.meta, "marks": list(_marked_lines(token.content, first, lines, marks))}
        elif token.type == "inline":
            _place_inline(token, _columns(token.content, first, lines, cells), marks)


def _marked_lines(
    content: str, first: int, lines: Sequence[str], marks: LineMarks
) -> Iterator[tuple[int, int]]:
    at = 0
    for number, text in enumerate(content.split("\n"), first):
        if number < len(lines) and lines[number].endswith(text):
            yield from within(marks.get(number, ()), len(lines[number]) - len(text), len(text), at)
        at += len(text) + 1


def _columns(
    content: str, first: int, lines: Sequence[str], cells: dict[int, int]
) -> list[tuple[int, int, int]]:
    """For each line of inline markup: its offset in `content`, its line, and the column it begins at."""
    found, at = [], 0
    for number, text in enumerate(content.split("\n"), first):
        line = lines[number] if number < len(lines) else ""
        bare = text.strip()
        column = len(line) - len(bare) if line.endswith(bare) and number not in cells else -1
        if column < 0:
            column = line.find(bare, cells.get(number, 0))
        if "|" in line and column >= 0:
            cells[number] = column + len(bare)
        if column >= 0:
            found.append((at + text.find(bare), number, column))
        at += len(text) + 1
    return found


def _place_inline(token: Token, columns: Sequence[tuple[int, int, int]], marks: LineMarks) -> None:
    """Find the text of each token in the content it was read from, from left to right."""
    content = token.content
    starts = [start for start, _, _ in columns]
    at = 0
    for child in token.children or ():
        if "at" in child.meta:
            at = child.meta["at"] + (child.type == "link_open")
        if child.type in ("text", "code_inline", "wikilink"):
            start = content.find(child.content, at)
            if start < 0:
                continue
            at = start + len(child.content)
            number = bisect_right(starts, start) - 1
            if number >= 0:
                offset, line, column = columns[number]
                ranges = within(marks.get(line, ()), column + start - offset, len(child.content), 0)
                child.meta = {**child.meta, "marks": list(ranges)}
        elif child.type == "text_special" and child.markup:
            found = content.find(child.markup, at)
            at = found + len(child.markup) if found >= 0 else at
        elif child.type == "footnote_ref" and (end := content.find("]", at)) >= 0:
            at = end + 1
        if "end" in child.meta and child.type != "link_open":
            at = child.meta["end"]


def within(ranges: Ranges, column: int, length: int, at: int) -> Iterator[tuple[int, int]]:
    """The parts of columns that lie in [column, column + length), counted from `at`."""
    for start, end in ranges:
        if start < column + length and end > column:
            yield at + max(start - column, 0), at + min(end - column, length)
