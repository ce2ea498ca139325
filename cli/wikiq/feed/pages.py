"""Reads pages of an index as rows of PostgreSQL's tables, with the postings of their words."""

from __future__ import annotations

from collections import Counter

from indexerd.contract.record import Record
from wikiq.feed import sql
from wikiq.feed.schema import COUNTS, NAME_POSTING, OF_PAGES, PAGE, ROWS_OF_PAGES, SECTION
from wikiq.feed.words import SectionWords, kept_length, name_words, natural_words, piece_words
from wikiq.index.database import parse_names
from wikiq.index.postgres.dialect import REPLACEMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from wikiq.feed.schema import Table
    from wikiq.index.database import Snapshot

    Row = tuple[Any, ...]
    # A term: whether it is a bigram, and its text.
    TermKey = tuple[bool, str]
    # A term of a section: page, section, how much it counts, how many words the section has.
    Posting = tuple[TermKey, int, int, int, int]

_COUNTED = (
    "words",
    "piece_sections",
    "piece_words",
    "names",
    "heading_words",
    "heading_pieces",
)  # as `schema.COUNTS`
_TITLE = PAGE.columns.index("title")
_WORDED = tuple(SECTION.columns.index(column) for column in ("heading", "heading_path", "body"))


class PageRows(Record):
    """The rows of some pages by table, and the postings of those sections whose words were counted."""

    tables: dict[str, list[Row]]
    postings: list[Posting]

    def totals(self) -> list[int]:
        """What the pages add to bm25's totals: sections, and `schema.COUNTS`."""
        pages = self.tables[PAGE.name]
        counts = zip(*(row[-len(COUNTS) :] for row in pages), strict=True) if pages else [()] * len(COUNTS)
        return [len(self.tables[SECTION.name]), *map(sum, counts)]


def no_rows() -> PageRows:
    """The rows of no page."""
    return PageRows(tables={table.name: [] for table in ROWS_OF_PAGES}, postings=[])


def read_pages(snapshot: Snapshot, page_ids: Sequence[int], fed: PageRows) -> PageRows:
    """Read the rows of pages; `fed`: the rows of before, whose words a section keeps with its text."""
    listed = ", ".join(map(str, page_ids))
    tables = {table.name: read_rows(snapshot, table, listed) for table in OF_PAGES}
    pages = read_rows(snapshot, PAGE, listed)
    sections, postings = _read_sections(snapshot, listed, _titles(pages), fed)
    counts = {page_id: Counter[str]() for page_id in page_ids}
    for row in sections:
        words, pieces = map(kept_length, row[-2:])
        counts[row[1]].update(words=words, piece_sections=int(pieces > 0), piece_words=pieces)
        heading_words, heading_pieces = (kept_length(kept.rpartition("\n")[0]) for kept in row[-2:])
        counts[row[1]].update(heading_words=heading_words, heading_pieces=heading_pieces)
    names: list[Row] = []
    for page_id, told, title in snapshot.rows(sql.SELECT_NAMES.format(pages=listed)):
        found = name_words(told, title)
        counts[page_id]["names"] = found.length
        names += [(page_id, word, f, found.length) for word, f in found.postings.items()]
    topics = _topics(tables["page_topic"])
    whole = [(*row, topics.get(row[0], []), *(counts[row[0]][count] for count in _COUNTED)) for row in pages]
    made = {SECTION.name: sections, PAGE.name: whole, NAME_POSTING.name: names}
    return PageRows(tables=tables | made, postings=postings)


def _read_sections(
    snapshot: Snapshot, listed: str, titles: Mapping[int, str], fed: PageRows
) -> tuple[list[Row], list[Posting]]:
    """Read sections with their words, and the postings of those whose words are not the ones of before."""
    old_titles = _titles(fed.tables[PAGE.name])
    kept = {row[0]: (_worded(row, old_titles), row[-2:]) for row in fed.tables[SECTION.name]}
    sections = read_rows(snapshot, SECTION, listed)
    counted = []
    for row in sections:
        worded, _ = kept.get(row[0], (None, ()))
        if worded != _worded(row, titles):
            counted.append(row)
            kept.pop(row[0], None)
    texts = _texts(snapshot, counted)
    postings: list[Posting] = []
    words = {rowid: told for rowid, (_, told) in kept.items()}
    for row in counted:
        rowid, page_id = row[:2]
        natural, pieces = natural_words(texts[rowid]), piece_words(texts[rowid])
        postings += _postings(natural, is_piece=False, page_id=page_id, rowid=rowid)
        postings += _postings(pieces, is_piece=True, page_id=page_id, rowid=rowid)
        words[rowid] = (natural.kept, pieces.kept)
    return [(*row, *words[row[0]]) for row in sections], postings


def _titles(pages: Iterable[Row]) -> dict[int, str]:
    return {row[0]: row[_TITLE] for row in pages}


def _worded(section: Row, titles: Mapping[int, str]) -> tuple[Any, ...]:
    """What the words of a section follow from."""
    return (section[1], titles.get(section[1]), *(section[place] for place in _WORDED))


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


def _postings(words: SectionWords, *, is_piece: bool, page_id: int, rowid: int) -> list[Posting]:
    length = words.length
    return [((is_piece, word), page_id, rowid, f, length) for word, f in words.postings.items()]


def _topics(rows: Iterable[Row]) -> dict[int, list[str]]:
    """The topics of each page, sorted; a column of `page` for row-level policies to go by."""
    topics: dict[int, set[str]] = {}
    for page_id, _, topic, _ in rows:
        topics.setdefault(page_id, set()).add(topic)
    return {page_id: sorted(found) for page_id, found in topics.items()}
