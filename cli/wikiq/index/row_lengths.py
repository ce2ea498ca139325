"""Tells how long sections are on average, from what FTS5 keeps of every full-text table for its own bm25.

That is a row of averages (id 1 of the table's `%_data`): the number of rows, then the number of tokens in
each column, as variable-length integers ("Averages Record" in fts5_index.c of SQLite).
"""

from __future__ import annotations

from indexerd.contract.record import Record

WORD_PIECES = 2  # bigrams of a script without blanks, one a character, which are as long as a word of another


class Lengths(Record):
    """How many words a section has: its title, ancestors and heading together, and its body."""

    headings: float
    body: float


def average_lengths(words: bytes | None, pieces: bytes | None) -> Lengths:
    """Read the rows of averages of the words and of the bigrams of sections."""
    rows, *columns = _integers(words or b"") or [0]
    *headings, body = columns or [0]
    _, *cut = _integers(pieces or b"") or [0]
    *heading_pieces, body_pieces = cut or [0]
    return mean_lengths(rows, (sum(headings), body), (sum(heading_pieces), body_pieces))


def mean_lengths(sections: int, words: tuple[int, int], pieces: tuple[int, int]) -> Lengths:
    """Share the words and the bigrams of all headings and of all bodies out among sections; 1 at least."""
    headings, body = (
        max(1.0, (word + piece / WORD_PIECES) / max(1, sections))
        for word, piece in zip(words, pieces, strict=True)
    )
    return Lengths(headings=headings, body=body)


def _integers(record: bytes) -> list[int]:
    """Read integers of seven bits a byte, high ones first; the last byte of each has its top bit clear."""
    found = []
    value = 0
    for byte in record:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(value)
            value = 0
    return found
