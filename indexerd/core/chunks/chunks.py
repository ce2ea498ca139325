"""One section -> chunks for embedding, as spans of its body (spec 1.7).

Blocks are gathered up to a target; tables stand alone with what introduces them. Pure; the columns
that show a chunk (content, embed_text, …) are the `v1_chunks` view's, whose key is computed here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Final

from indexerd.core.chunks.splitting import (
    LINES,
    SENTENCES,
    WORDS,
    Piece,
    gather,
    position_ranks,
    tear,
    text_rank,
)
from indexerd.core.chunks.token_estimate import UNITS_PER_TOKEN, estimate_tokens, weigh
from indexerd.core.markdown.document import Block, BlockKind
from indexerd.core.model import Chunk, ChunkKind
from indexerd.core.page.decode import count_lines, line_offsets
from indexerd.core.page.sections import PATH_SEPARATOR

TARGET_TOKENS: Final = 400  # leaves room for the path in a window of 512
LEAD_IN_CHARACTERS: Final = 300  # a paragraph before a table is its lead-in while it has fewer
SPAN_LIMIT_BYTES: Final = 256 * 1024  # longer bodies: SQLite's substr() walks from the start each time

_LIMIT: Final = TARGET_TOKENS * UNITS_PER_TOKEN
_HARD_LIMIT: Final = 2 * _LIMIT
_KEY_BYTES: Final = 16
_JOINED: Final = -1  # a rank below all others: this border goes first
_BLANK: Final = " \t\r\n"
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_CAPTION: Final = re.compile(r"[ \t]*(?:Table)?:\s")
_ITEM: Final = r"(?<=[\r\n])(?={indent}(?:[-*+]|\d{{1,9}}[.)])(?:\s|$))"
_TORN_AT: Final = {
    BlockKind.PARAGRAPH: (SENTENCES, LINES, WORDS),
    BlockKind.DEFINITION: (LINES, WORDS),
    BlockKind.CODE: (LINES, WORDS),
}
_TORN_AT_LINES: Final = (LINES, SENTENCES, WORDS)


@dataclass(frozen=True, slots=True)
class _Span:
    """A chunk before it is numbered: lead-in + header + body[start:end], all offsets into the body."""

    kind: ChunkKind
    start: int
    end: int
    lead: tuple[int, int] = (0, 0)
    header: tuple[int, int] = (0, 0)

    def content(self, body: str) -> str:
        return body[slice(*self.lead)] + body[slice(*self.header)] + body[self.start : self.end]


@dataclass(frozen=True, slots=True)
class _Part:
    """A block as offsets into the body, its blank lines left off; `kind` None: text that is no block."""

    kind: BlockKind | None
    start: int
    end: int
    rows: int = 0  # where the rows of a table start


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with the paragraphs that move into its chunk: from `start`, and the caption after it."""

    start: int
    table: _Part
    caption: _Part | None = None

    @property
    def end(self) -> int:
        return self.caption.end if self.caption else self.table.end


def embed_heading(title: str, section_path: Sequence[str]) -> str:
    """What stands before the content in `embed_text`."""
    return PATH_SEPARATOR.join((title, *section_path)) + "\n\n"


def cut_chunks(
    body: str,
    blocks: Sequence[Block],
    *,
    first_line: int,
    heading_lines: int,
    title: str,
    section_path: Sequence[str],
) -> tuple[Chunk, ...]:
    """The chunks of one section, in order; none where there is nothing but blanks.

    `blocks`: the section's, whose lines count from where `body` starts at line `first_line`.
    `section_path`: guarded, as it is shown. Every line that is not blank is in a chunk. A chunk
    weighs at most TARGET_TOKENS, one that holds a table or a single row of it at most twice that.
    """
    if not body.strip():
        return ()
    if weigh(body) <= _LIMIT and not any(block.kind is BlockKind.TABLE for block in blocks):
        only_code = bool(blocks) and all(block.kind is BlockKind.CODE for block in blocks)
        spans = [_span(body, ChunkKind.CODE if only_code else ChunkKind.PROSE, 0, len(body))]
    else:
        parts = tuple(_parts(body, blocks, first_line))
        spans = [span for span in _spans(body, _with_tables(body, parts)) if span.start < span.end]
    return tuple(_chunks(body, spans, heading_lines, embed_heading(title, section_path)))


def _chunks(body: str, spans: Sequence[_Span], heading_lines: int, heading: str) -> Iterator[Chunk]:
    is_long = len(body) > SPAN_LIMIT_BYTES // 4 and len(body.encode()) > SPAN_LIMIT_BYTES
    offsets = line_offsets(body) if len(spans) > 1 else None
    prefix = sha256(heading.encode())
    for part, span in enumerate(spans, 1):
        content = span.content(body)
        digest = prefix.copy()
        digest.update(content.encode())
        if offsets is None:
            line, lines = 1 + count_lines(body[: span.start]), count_lines(content) + 1
        else:
            line = bisect_right(offsets, span.start)
            lines = bisect_right(offsets, span.end - 1) - line + 1
        yield Chunk(
            part=part,
            parts=len(spans),
            kind=span.kind,
            start=span.start,
            length=span.end - span.start,
            lead_start=span.lead[0],
            lead_length=span.lead[1] - span.lead[0],
            header_start=span.header[0],
            header_length=span.header[1] - span.header[0],
            line=heading_lines + line,
            lines=lines,
            tokens=estimate_tokens(content),
            key=digest.hexdigest()[: 2 * _KEY_BYTES],
            text=content if is_long else None,
        )


def _span(body: str, kind: ChunkKind, start: int, end: int, header: tuple[int, int] = (0, 0)) -> _Span:
    """The text between the blank lines at its start and the blanks at its end."""
    blank = _BLANK_LINES.match(body, start, end)
    start = blank.end() if blank else start
    return _Span(kind, start, start + len(body[start:end].rstrip(_BLANK)), header=header)


def _parts(body: str, blocks: Sequence[Block], first_line: int) -> Iterator[_Part]:
    """The blocks in order, and whatever text between them the parser gives no block for."""
    offsets = [*line_offsets(body), len(body)]
    covered = 0
    for block in blocks:
        start, end = offsets[block.start - first_line], offsets[block.end - first_line]
        if body[covered:start].strip(_BLANK):
            yield _Part(None, covered, start)
        rows = offsets[block.header_end - first_line] if block.header_end else 0
        yield _Part(block.kind, start, end, rows)
        covered = end
    if body[covered:].strip(_BLANK):
        yield _Part(None, covered, len(body))


def _with_tables(body: str, parts: Sequence[_Part]) -> Iterator[_Part | _Table]:
    """The parts, with each table in one with its lead-in and its caption before or after it."""
    waiting: list[_Part] = []  # since the table before
    claimed: _Part | None = None
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
        yield _Table(start, part, claimed)
    yield from waiting


def _leading(body: str, table: _Part, before: Sequence[_Part], *, has_caption: bool) -> int:
    """How many of the paragraphs before a table move into its chunk: a caption, a lead-in, both."""
    count = int(has_caption)
    candidate = before[-1 - count] if len(before) > count else None
    if candidate and candidate.kind is BlockKind.PARAGRAPH:
        count += len(body[candidate.start : candidate.end].strip(_BLANK)) < LEAD_IN_CHARACTERS
    while count and weigh(body[before[-count].start : table.rows]) > _HARD_LIMIT:
        count -= 1
    return count


def _is_caption(body: str, part: _Part) -> bool:
    """Whether a part is written as a caption; one heavier than a chunk is none."""
    is_written_so = part.kind is BlockKind.PARAGRAPH and _CAPTION.match(body, part.start) is not None
    return is_written_so and weigh(body[part.start : part.end]) <= _LIMIT


def _spans(body: str, parts: Iterator[_Part | _Table]) -> Iterator[_Span]:
    run: list[_Part] = []
    for part in parts:
        if isinstance(part, _Part):
            run.append(part)
            continue
        yield from _run_spans(body, run)
        run.clear()
        yield from _table_spans(body, part)
    yield from _run_spans(body, run)


def _run_spans(body: str, parts: Sequence[_Part]) -> Iterator[_Span]:
    """Blocks that follow each other, gathered; one that is too heavy is torn first."""
    pieces: list[Piece] = []
    is_code: list[bool] = []
    after_torn_code = False
    ranks = position_ranks(
        [body[part.start : part.end] for part in parts],
        [_opens(before, part) for before, part in zip((None, *parts), parts, strict=False)],
    )
    for part, following, rank in zip(parts, (*parts[1:], None), ranks, strict=False):
        end = following.start if following else part.end
        weight = weigh(body[part.start : end])
        is_torn_code = part.kind is BlockKind.CODE and weight > _LIMIT
        sealed = is_torn_code or after_torn_code  # the rest of a long listing is no prose's beginning
        whole = Piece(part.start, end, weight, None if sealed else rank)
        torn = list(tear(body, whole, _borders(body, part), _LIMIT))
        pieces += torn
        is_code += [part.kind is BlockKind.CODE] * len(torn)
        after_torn_code = is_torn_code
    for first, end in gather(pieces, _LIMIT):
        kind = ChunkKind.CODE if all(is_code[first:end]) else ChunkKind.PROSE
        yield _span(body, kind, pieces[first].start, pieces[end - 1].end)


def _opens(before: _Part | None, part: _Part) -> bool:
    """Whether a paragraph follows what a paragraph introduced: there a cut separates least."""
    is_after_other = before is not None and before.kind is not BlockKind.PARAGRAPH
    return is_after_other and part.kind is BlockKind.PARAGRAPH


def _borders(body: str, part: _Part) -> Sequence[re.Pattern[str]]:
    if part.kind is BlockKind.LIST:
        indent = re.match(r"[ \t]*", body[part.start : part.end])
        return (re.compile(_ITEM.format(indent=indent[0] if indent else "")), *_TORN_AT_LINES)
    return _TORN_AT.get(part.kind, _TORN_AT_LINES) if part.kind else _TORN_AT_LINES


def _table_spans(body: str, cluster: _Table) -> Iterator[_Span]:
    """A table as one chunk, or cut between rows with its header rows in every part.

    The caption below a table in several parts stands in the first one too.
    """
    if weigh(body[cluster.start : cluster.end]) <= _LIMIT:
        yield _span(body, ChunkKind.TABLE, cluster.start, cluster.end)
        return
    table = cluster.table
    header_weight = weigh(body[table.start : table.rows])
    repeats = header_weight <= _LIMIT
    limit = max(_LIMIT - header_weight, _LIMIT // 2) if repeats else _LIMIT
    pieces = list(_table_pieces(body, cluster, header_weight if repeats else 0))
    header = (table.start, table.rows) if repeats else (0, 0)
    spans = [
        _span(body, ChunkKind.TABLE, pieces[first].start, pieces[end - 1].end, header if first else (0, 0))
        for first, end in gather(pieces, limit)
    ]
    if cluster.caption and len(spans) > 1:
        spans[0] = _captioned(body, spans[0], cluster.caption)
    yield from spans


def _table_pieces(body: str, cluster: _Table, header_weight: int) -> Iterator[Piece]:
    """What stands above the rows, the rows, the caption below; a row heavier than the target is torn.

    `header_weight`: what the first piece does not count, since the header rows stand in every part.
    """
    table = cluster.table
    weight = weigh(body[cluster.start : table.rows]) - header_weight
    yield from tear(body, Piece(cluster.start, table.rows, weight, None), _TORN_AT_LINES, _LIMIT)
    starts = [table.rows, *(end.end() for end in LINES.finditer(body, table.rows, table.end))]
    for start, end in pairwise((*starts, table.end)):
        if start == end:
            continue
        row = body[start:end]
        rank = text_rank(row) if start > table.rows else _JOINED
        yield from tear(body, Piece(start, end, weigh(row), rank), (WORDS,), _LIMIT)
    if cluster.caption:
        weight = weigh(body[table.end : cluster.end])
        yield Piece(table.end, cluster.end, weight, _JOINED)


def _captioned(body: str, span: _Span, caption: _Part) -> _Span:
    """The first part of a table with the caption from below it, unless that makes it too heavy.

    A caption that ends the file without a line end cannot stand before anything: spans are joined
    as they are.
    """
    blank_line = LINES.match(body, caption.end)
    end = blank_line.end() if blank_line else caption.end
    captioned = replace(span, lead=(caption.start, end))
    if not body[caption.start : end].endswith(("\n", "\r")) or weigh(captioned.content(body)) > _HARD_LIMIT:
        return span
    return captioned
