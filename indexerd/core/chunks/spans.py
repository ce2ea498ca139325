"""The parts of a section -> the spans of its chunks: blocks gathered, tables and listings in frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from indexerd.core.chunks.parts import BLANK, HARD_LIMIT, LIMIT, Framed, Part
from indexerd.core.chunks.splitting import (
    LINES,
    SENTENCES,
    WORDS,
    Piece,
    content_ranks,
    gather,
    position_ranks,
    tear,
    text_rank,
)
from indexerd.core.chunks.token_estimate import weigh
from indexerd.core.markdown.document import BlockKind
from indexerd.core.model import ChunkKind

# A run of blocks up to this weight is cut by positions, where rewriting a block moves no border; a
# longer one by its texts, where a block put in moves none far away (docs/decisions).
COUNTED_LIMIT: Final = 6 * LIMIT

_JOINED: Final = -1  # a rank below all others: this border goes first
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")
_ITEM: Final = r"(?<=[\r\n])(?={indent}(?:[-*+]|\d{{1,9}}[.)])(?:\s|$))"
_TORN_AT: Final = {
    BlockKind.PARAGRAPH: (SENTENCES, LINES, WORDS),
    BlockKind.DEFINITION: (LINES, WORDS),
    BlockKind.CODE: (LINES, WORDS),
}
_TORN_AT_LINES: Final = (LINES, SENTENCES, WORDS)

Range = tuple[int, int]


class Span(NamedTuple):
    """A chunk before it is numbered: lead-in + header + text[start:end] + tail, as offsets into the text."""

    kind: ChunkKind
    start: int
    end: int
    lead: Range = (0, 0)
    header: Range = (0, 0)
    tail: Range = (0, 0)

    def content(self, text: str) -> str:
        """What the chunk says."""
        main = text[self.start : self.end]
        if self.lead == self.header == self.tail:  # none of them is there
            return main
        return text[slice(*self.lead)] + text[slice(*self.header)] + main + text[slice(*self.tail)]


def trimmed_span(text: str, kind: ChunkKind, start: int, end: int) -> Span:
    """The text between the blank lines at its start and the blanks at its end."""
    blank = _BLANK_LINES.match(text, start, end)
    start = blank.end() if blank else start
    return Span(kind, start, start + len(text[start:end].rstrip(BLANK)))


def cut_spans(text: str, parts: Iterable[Part | Framed]) -> Iterator[Span]:
    """The spans of the chunks, in order; one may be empty."""
    run: list[Part] = []
    for part in parts:
        if isinstance(part, Part):
            run.append(part)
            continue
        yield from _run_spans(text, run)
        run.clear()
        yield from _framed_spans(text, part)
    yield from _run_spans(text, run)


def _run_spans(text: str, parts: Sequence[Part]) -> Iterator[Span]:
    """Blocks that follow each other, gathered; one that is too heavy is torn first."""
    ends = [*(part.start for part in parts[1:]), *(part.end for part in parts[-1:])]
    texts = [text[part.start : end] for part, end in zip(parts, ends, strict=True)]
    weights = list(map(weigh, texts))
    if sum(weights) <= LIMIT:
        if parts:
            is_listing = all(part.kind is BlockKind.CODE for part in parts)
            kind = ChunkKind.CODE if is_listing else ChunkKind.PROSE
            yield trimmed_span(text, kind, parts[0].start, ends[-1])
        return
    openings = [_opens(before, part) for before, part in zip((None, *parts), parts, strict=False)]
    is_counted = sum(weights) <= COUNTED_LIMIT
    ranks = position_ranks(openings) if is_counted else content_ranks(texts, openings)
    pieces: list[Piece] = []
    is_code: list[bool] = []
    for part, end, weight, rank in zip(parts, ends, weights, ranks, strict=True):
        whole = Piece(part.start, end, weight, rank)
        torn = list(tear(text, whole, _borders(text, part), LIMIT)) if weight > LIMIT else [whole]
        pieces += torn
        is_code += [part.kind is BlockKind.CODE] * len(torn)
    for first, end in gather(pieces, LIMIT):
        kind = ChunkKind.CODE if all(is_code[first:end]) else ChunkKind.PROSE
        yield trimmed_span(text, kind, pieces[first].start, pieces[end - 1].end)


def _opens(before: Part | None, part: Part) -> bool:
    """Whether a paragraph follows what a paragraph introduced: there a cut separates least."""
    is_after_other = before is not None and before.kind is not BlockKind.PARAGRAPH
    return is_after_other and part.kind is BlockKind.PARAGRAPH


def _borders(text: str, part: Part) -> Sequence[re.Pattern[str]]:
    if part.kind is BlockKind.LIST:
        indent = re.match(r"[ \t]*", text[part.start : part.end])
        return (re.compile(_ITEM.format(indent=indent[0] if indent else "")), *_TORN_AT_LINES)
    return _TORN_AT.get(part.kind, _TORN_AT_LINES) if part.kind else _TORN_AT_LINES


def _framed_spans(text: str, framed: Framed) -> Iterator[Span]:
    """A table or a listing as one chunk, or cut between rows with its frame in every part.

    The frame: the header rows of a table, the lines of a fence. The caption below a table in several
    parts stands in the first one too.
    """
    part = framed.part
    kind = ChunkKind.CODE if part.kind is BlockKind.CODE else ChunkKind.TABLE
    if weigh(text[framed.start : framed.end]) <= LIMIT:
        yield trimmed_span(text, kind, framed.start, framed.end)
        return
    header = (part.start, part.inner_start or part.start)
    tail = (part.inner_end, part.inner_end + len(text[part.inner_end : part.end].rstrip(BLANK)))
    frame = weigh(text[slice(*header)]) + weigh(text[slice(*tail)])
    if frame > LIMIT:
        header = tail = (0, 0)
        frame = 0
    pieces = list(_rows(text, framed, frame))
    groups = list(gather(pieces, max(LIMIT - frame, LIMIT // 2)))
    spans = [
        trimmed_span(text, kind, pieces[first].start, pieces[end - 1].end)._replace(
            header=header if first else (0, 0), tail=tail if end < len(pieces) else (0, 0)
        )
        for first, end in groups
    ]
    if framed.caption and len(spans) > 1:
        spans[0] = _captioned(text, spans[0], framed.caption)
    yield from spans


def _rows(text: str, framed: Framed, frame: int) -> Iterator[Piece]:
    """What stands above the rows, the rows, what stands below; a row heavier than the target is torn.

    `frame`: what the first piece does not count, since the frame stands in every part.
    """
    part = framed.part
    first_row = part.inner_start or part.start
    if framed.start < first_row:
        weight = max(weigh(text[framed.start : first_row]) - frame, 0)
        yield from tear(text, Piece(framed.start, first_row, weight, None), _TORN_AT_LINES, LIMIT)
    ends = part.row_ends or [end.end() for end in LINES.finditer(text, first_row, part.inner_end)]
    borders = (LINES, WORDS) if part.row_ends else (WORDS,)
    for start, end in pairwise((first_row, *(end for end in ends if end < part.inner_end), part.end)):
        if start == end:
            continue
        row = text[start : min(end, part.inner_end)]
        rank = text_rank(row) if start > first_row else _JOINED
        weight = weigh(row) if frame else weigh(text[start:end])
        yield from tear(text, Piece(start, end, weight, rank), borders, LIMIT)
    if framed.caption:
        yield Piece(part.end, framed.end, weigh(text[part.end : framed.end]), _JOINED)


def _captioned(text: str, span: Span, caption: Part) -> Span:
    """The first part of a table with the caption from below it, unless that makes it too heavy.

    A caption that ends the file without a line end cannot stand before anything: spans are joined
    as they are.
    """
    blank_line = LINES.match(text, caption.end)
    end = blank_line.end() if blank_line else caption.end
    captioned = span._replace(lead=(caption.start, end))
    if not text[caption.start : end].endswith(("\n", "\r")) or weigh(captioned.content(text)) > HARD_LIMIT:
        return span
    return captioned
