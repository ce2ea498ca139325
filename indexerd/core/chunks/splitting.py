"""Spans of a text: torn at its borders where they are too heavy, and gathered where they are light.

Which borders survive is decided by ranks that an edit leaves alone, not by filling up from the top:
so an edit moves borders near it and no others. Knows nothing of sections, tables or chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple
from zlib import crc32

from indexerd.core.chunks.token_estimate import MAX_CHARACTER_UNITS, weigh

# Borders inside a block, coarse ones first: what a heavy block is torn at, if need be at all.
LINES: Final = re.compile(r"(?:\r\n|\n|\r)(?:[ \t]*(?:\r\n|\n|\r))*")  # with the blank lines after it
SENTENCES: Final = re.compile(r"""[.!?…؟۔][\])"'*_”’»]*\s+|[。！？｡।॥።၊။។][\])"'”’»」』）]*\s*""")
WORDS: Final = re.compile(r"\s+")

# Ranks: a border between blocks outlives one inside a block, a coarse border a fine one.
BLOCK_BORDER: Final = 1 << 80
_LEVEL: Final = 1 << 72  # of the borders inside a block
_OPENING: Final = 1 << 70  # above all that a text or a position gives, below _LEVEL
_BEGINNING: Final = 16  # characters; most edits of a line or a sentence leave its beginning as it is


class Piece(NamedTuple):
    """text[start:end], its weight, and the rank of the border before it. None: it is never dissolved.

    A tuple, since a text without a line or sentence end makes one of every word.
    """

    start: int
    end: int
    weight: int
    rank: int | None


def gather(pieces: Sequence[Piece], limit: int) -> Iterator[tuple[int, int]]:
    """Group neighbours as long as they weigh no more than `limit` together; half-open index pairs.

    Borders dissolve in the order of their ranks, the lowest first, so two neighbouring groups
    weigh more than `limit` together unless the border between them has no rank.
    """
    weights = [0, *accumulate(piece.weight for piece in pieces)]
    first = list(range(len(pieces)))  # of the group that ends with this piece
    last = list(range(len(pieces)))  # of the group that begins with this piece
    ranked = [(rank, index) for index, piece in enumerate(pieces) if (rank := piece.rank) is not None]
    for _, index in sorted(ranked):
        if index == 0:
            continue
        start, end = first[index - 1], last[index]
        if weights[end + 1] - weights[start] <= limit:
            last[start], first[end] = end, start
    start = 0
    while start < len(pieces):
        yield start, last[start] + 1
        start = last[start] + 1


def position_ranks(openings: Sequence[bool]) -> Iterator[int]:
    """Ranks of the borders before blocks by position: no rewriting of a block changes one.

    `openings`: where a new thought is likely to begin, a paragraph after a list or a listing. These
    outrank the others. Counting is as on a ruler: every second border outranks its neighbours, every
    fourth those, and so on. Borders between two openings count from the nearer one, so a block put
    in renumbers those up to the middle only.
    """
    opened = [index for index, opens in enumerate(openings) if opens]
    ends = [0, *opened, len(openings)]
    segment = 0
    for index, opens in enumerate(openings):
        if opens:
            segment += 1
            yield BLOCK_BORDER + _OPENING + _on_ruler(min(segment, len(opened) + 1 - segment))
        else:
            yield BLOCK_BORDER + _on_ruler(min(index - ends[segment], ends[segment + 1] - index))


def _on_ruler(position: int) -> int:
    return (position & -position).bit_length()


def content_ranks(texts: Sequence[str], openings: Sequence[bool]) -> Iterator[int]:
    """Ranks of the borders before blocks by their texts: a block put in changes no other's."""
    for text, opens in zip(texts, openings, strict=True):
        yield BLOCK_BORDER + (_OPENING if opens else 0) + text_rank(text)


def tear(text: str, piece: Piece, borders: Sequence[re.Pattern[str]], limit: int) -> Iterator[Piece]:
    """Tear a piece heavier than `limit` at the first kind of border, what is still too heavy at the next.

    Where no border is left it is torn between characters.
    """
    if piece.weight <= limit:
        yield piece
        return
    if not borders:
        step = max(limit // MAX_CHARACTER_UNITS, 1)
        yield from _cut(text, piece, range(piece.start + step, piece.end, step), 0)
        return
    ends = (match.end() for match in borders[0].finditer(text, piece.start, piece.end))
    for part in _cut(text, piece, ends, len(borders)):
        if part.weight <= limit:
            yield part
        else:
            yield from tear(text, part, borders[1:], limit)


def _cut(text: str, piece: Piece, offsets: Iterable[int], level: int) -> Iterator[Piece]:
    """The parts of a piece between the offsets. A border inside ranks by the text after it."""
    start, rank = piece.start, piece.rank
    for end in (*offsets, piece.end):
        if end > start:
            part = text[start:end]
            yield Piece(start, end, weigh(part), text_rank(part, level) if start > piece.start else rank)
            start = end


def text_rank(part: str, level: int = 0) -> int:
    """The rank of a border inside a block, by the text after it: a line put in moves no other border."""
    whole = crc32(part.encode())
    if len(part) > _BEGINNING:
        return level * _LEVEL + (crc32(part.lstrip()[:_BEGINNING].encode()) << 32) + whole
    return level * _LEVEL + (whole << 32)
