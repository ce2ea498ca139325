"""Reads pages of an index as rows of PostgreSQL's tables, with the postings of their words."""

from __future__ import annotations

from collections import Counter

from indexerd.contract.record import Record
from wikiq.feed import sql
from wikiq.feed.schema import OF_PAGES, PAGE, SECTION
from wikiq.feed.words import SectionWords, name_words, natural_words, piece_words
from wikiq.index.database import parse_names
from wikiq.index.postgres.dialect import REPLACEMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from wikiq.feed.schema import Table
    from wikiq.index.database import Snapshot

    Row = tuple[Any, ...]
    # A term: whether it is a bigram, and its text.
    TermKey = tuple[bool, str]


class PageRows(Record):
    """The rows of some pages by table, and their postings: of sections, and of names as rows."""

    tables: dict[str, list[Row]]
    postings: list[tuple[TermKey, int, int, int, int]]
    names: list[Row]
    totals: tuple[int, ...]


def read_pages(snapshot: Snapshot, page_ids: Sequence[int]) -> PageRows:
    """Read the rows of pages; the totals are those of bm25, see `schema.COUNTS`."""
    listed = ", ".join(map(str, page_ids))
    tables = {table.name: read_rows(snapshot, table, listed) for table in OF_PAGES}
    sections = read_rows(snapshot, SECTION, listed)
    postings: list[tuple[TermKey, int, int, int, int]] = []
    counts: dict[int, Counter[str]] = {page_id: Counter() for page_id in page_ids}
    texts = _texts(snapshot, sections)
    kept = []
    for row in sections:
        rowid, page_id = row[0], row[1]
        natural, pieces = natural_words(texts[rowid]), piece_words(texts[rowid])
        for is_piece, words in ((False, natural), (True, pieces)):
            postings += _postings(words, is_piece=is_piece, page_id=page_id, rowid=rowid)
        counted = counts[page_id]
        counted["words"] += natural.length
        counted["piece_sections"] += bool(pieces.length)
        counted["piece_words"] += pieces.length
        kept.append((*row, natural.kept, pieces.kept))
    names: list[Row] = []
    for page_id, told, title in snapshot.rows(sql.SELECT_NAMES.format(pages=listed)):
        words = name_words(told, title)
        counts[page_id]["names"] += words.length
        names += [(word, page_id, f, words.length) for word, f in words.postings.items()]
    topics = _topics(tables["page_topic"])
    pages = []
    for row in read_rows(snapshot, PAGE, listed):
        told = counts[row[0]]
        numbers = (told["words"], told["piece_sections"], told["piece_words"], told["names"])
        pages.append((*row, topics.get(row[0], []), *numbers))
    columns = zip(*(row[-4:] for row in pages), strict=True) if pages else ((), (), (), ())
    return PageRows(
        tables=tables | {"section": kept, "page": pages},
        postings=postings,
        names=names,
        totals=(len(sections), *map(sum, columns)),
    )


def read_rows(snapshot: Snapshot, table: Table, pages: str | None = None) -> list[Row]:
    """Read the rows of a view as its table takes them; of some pages, or all."""
    columns = ", ".join(table.columns)
    select = sql.SELECT_ROWS if pages is None else sql.SELECT_ROWS_OF
    found = snapshot.rows(select.format(columns=columns, view=table.view, pages=pages))
    return list(as_rows(table, found))


def as_rows(table: Table, found: Iterable[Row]) -> Iterator[Row]:
    """Give rows as PostgreSQL takes them: arrays, truths, no NUL."""
    paths, truths = table.paths, table.truths
    for row in found:
        values = [
            value.replace("\0", REPLACEMENT) if isinstance(value, str) and "\0" in value else value
            for value in row
        ]
        for place in paths:
            values[place] = [name.replace("\0", REPLACEMENT) for name in parse_names(row[place])]
        for place in truths:
            values[place] = bool(values[place])
        yield tuple(values)


def _texts(snapshot: Snapshot, sections: Sequence[Row]) -> dict[int, Row]:
    """What the full text has of each section."""
    listed = ", ".join(str(row[0]) for row in sections)
    return {row[0]: row[1:] for row in snapshot.rows(sql.SELECT_TEXTS.format(rows=listed))}


def _postings(
    words: SectionWords, *, is_piece: bool, page_id: int, rowid: int
) -> list[tuple[TermKey, int, int, int, int]]:
    length = words.length
    return [((is_piece, word), page_id, rowid, f, length) for word, f in words.postings.items()]


def _topics(rows: Iterable[Row]) -> dict[int, list[str]]:
    """The topics of each page, sorted; a column of `page` for row-level policies to go by."""
    topics: dict[int, set[str]] = {}
    for page_id, _, topic, _ in rows:
        topics.setdefault(page_id, set()).add(topic)
    return {page_id: sorted(found) for page_id, found in topics.items()}
