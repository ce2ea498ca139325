"""The parts of a section: its blocks as offsets, and each table with the paragraphs that go with it.

Finds what a part repeats when it is cut: the header rows of a table, the lines of a fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from indexerd.core.chunks.html_tables import find_html_table
from indexerd.core.chunks.splitting import LINES
from indexerd.core.chunks.token_estimate import UNITS_PER_TOKEN, weigh
from indexerd.core.markdown.document import Block, BlockKind

TARGET_TOKENS: Final = 400  # leaves room for the path in a window of 512
LIMIT: Final = TARGET_TOKENS * UNITS_PER_TOKEN
HARD_LIMIT: Final = 2 * LIMIT
LEAD_IN_CHARACTERS: Final = 300  # a paragraph before a table is its lead-in while it has fewer
BLANK: Final = " \t\r\n"

_CAPTION: Final = re.compile(r"[ \t]*(?:Table)?:\s")
_FENCE: Final = re.compile(r"[ ]{0,3}(?P<marks>`{3,}|~{3,})[^\r\n]*(?:\r\n|\n|\r)")


class Part(NamedTuple):
    """A block as offsets into the body, its blank lines left off; `kind` None: text that is no block.

    `inner_start`: where a table's rows or a fence's code begin, and `inner_end` where they end; what
    stands before and after is repeated where the part is cut. 0: nothing is. `row_ends`: of a table
    in HTML, whose rows are no lines. A tuple, since a page has many.
    """

    kind: BlockKind | None
    start: int
    end: int
    inner_start: int = 0
    inner_end: int = 0
    row_ends: tuple[int, ...] = ()


class Framed(NamedTuple):
    """A table with the paragraphs that move into its chunk, or a long listing: what is cut on its own.

    From `start`, where its lead-in begins, to the end of the caption after it.
    """

    start: int
    part: Part
    caption: Part | None = None

    @property
    def end(self) -> int:
        """Where the caption ends, or the block without one."""
        return self.caption.end if self.caption else self.part.end


def is_plain(blocks: Sequence[Block]) -> bool:
    """Whether no block is a table, so that the section may be one chunk."""
    kinds = [block.kind for block in blocks]  # a comprehension costs a third of a generator
    return BlockKind.TABLE not in kinds and BlockKind.HTML not in kinds


def find_parts(
    body: str, offsets: Sequence[int], blocks: Sequence[Block], first_line: int
) -> Iterator[Part | Framed]:
    """The parts of a section in order; tables and listings heavier than a chunk are framed.

    `offsets`: where the lines of `body` start.
    """
    parts = tuple(_blocks(body, [*offsets, len(body)], blocks, first_line))
    if not is_plain(blocks):
        parts = tuple(_html_tables(body, parts))
    for part in _with_tables(body, parts):
        if isinstance(part, Part) and _is_long_listing(body, part):
            yield Framed(part.start, _fence(body, part))
        else:
            yield part


def _is_long_listing(body: str, part: Part) -> bool:
    return part.kind is BlockKind.CODE and weigh(body[part.start : part.end]) > LIMIT


def _blocks(body: str, offsets: Sequence[int], blocks: Sequence[Block], first_line: int) -> Iterator[Part]:
    """The blocks in order, and whatever text between them the parser gives no block for."""
    covered = 0
    for block in blocks:
        start, end = offsets[block.start - first_line], offsets[block.end - first_line]
        if body[covered:start].strip(BLANK):
            yield Part(None, covered, start)
        rows = offsets[block.header_end - first_line] if block.header_end else 0
        yield Part(block.kind, start, end, rows, end)
        covered = end
    if body[covered:].strip(BLANK):
        yield Part(None, covered, len(body))


def _html_tables(body: str, parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, with those that a table in HTML spans in one: a blank line ends the HTML, not the table."""
    covered = 0
    for part in parts:
        if part.start < covered:
            covered = max(covered, part.end)
            continue
        table = find_html_table(body, part.start, len(body)) if part.kind is BlockKind.HTML else None
        if table is None:
            yield part
            continue
        line_end = LINES.search(body, max(part.end, table.end) - 1)
        covered = max(part.end, line_end.end() if line_end else len(body))
        inner_end = table.row_ends[-1] if table.row_ends else covered
        yield Part(BlockKind.TABLE, part.start, covered, table.rows, inner_end, table.row_ends)


def _fence(body: str, part: Part) -> Part:
    """A fence with where its code begins and ends; indented code has no frame."""
    opening = _FENCE.match(body, part.start, part.end)
    if opening is None:
        return part
    marks = opening["marks"]
    closing = re.compile(rf"(?:\r\n|\n|\r)[ ]{{0,3}}{marks[0]}{{{len(marks)},}}[ \t]*[\r\n]*\Z").search(
        body[part.start : part.end], opening.end() - part.start - 1
    )
    inner_end = part.start + closing.start() if closing else part.end
    return Part(part.kind, part.start, part.end, opening.end(), inner_end)


def _with_tables(body: str, parts: Sequence[Part]) -> Iterator[Part | Framed]:
    """The parts, with each table in one with its lead-in and its caption before or after it."""
    waiting: list[Part] = []  # since the table before
    claimed: Part | None = None
    for part, following in zip(parts, (*parts[1:], None), strict=True):
        if part is claimed:
            continue
        if part.kind is not BlockKind.TABLE:
            waiting.append(part)
            continue
        has_caption = bool(waiting) and _is_caption(body, waiting[-1])
        before = _leading(body, part, waiting, has_caption=has_caption)
        yield from waiting[: len(waiting) - before]
        start = waiting[-before].start if before else part.start
        waiting.clear()
        claimed = following if following and not has_caption and _is_caption(body, following) else None
        yield Framed(start, part, claimed)
    yield from waiting


def _leading(body: str, table: Part, before: Sequence[Part], *, has_caption: bool) -> int:
    """How many of the paragraphs before a table move into its chunk: a caption, a lead-in, both."""
    count = int(has_caption)
    candidate = before[-1 - count] if len(before) > count else None
    if candidate and candidate.kind is BlockKind.PARAGRAPH:
        count += len(body[candidate.start : candidate.end].strip(BLANK)) < LEAD_IN_CHARACTERS
    while count and weigh(body[before[-count].start : table.inner_start]) > HARD_LIMIT:
        count -= 1
    return count


def _is_caption(body: str, part: Part) -> bool:
    """Whether a part is written as a caption; one heavier than a chunk is none."""
    is_written_so = part.kind is BlockKind.PARAGRAPH and _CAPTION.match(body, part.start) is not None
    return is_written_so and weigh(body[part.start : part.end]) <= LIMIT
