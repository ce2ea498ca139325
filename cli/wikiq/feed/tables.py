"""Writes rows of one wiki into PostgreSQL, inside a transaction that the caller begins and ends."""

from __future__ import annotations

from collections import Counter

from wikiq.feed import sql
from wikiq.feed.schema import ALL, EXTRA, LINK, OF_PAGES, PAGE, SECTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from psycopg import Connection

    from wikiq.feed.pages import PageRows, Row, TermKey
    from wikiq.feed.schema import Table

_POSTINGS = ("posting", "name_posting")
_BLOCK = 50_000  # postings written at once, as one text of about a megabyte


class Tables:
    """The tables of one wiki. What is written of postings is counted, and told to `term` at the end."""

    def __init__(self, connection: Connection[Any], tables: str, wiki_id: int) -> None:
        self._connection = connection
        self._tables = tables
        self.wiki_id = wiki_id
        self._ids: dict[TermKey, int] = {}
        self._more: Counter[TermKey] = Counter()
        self._is_empty = False
        self.totals = [0] * 5

    def run(self, statement: str, values: Sequence[Any] = (), **names: str) -> list[tuple[Any, ...]]:
        """Run a statement; gives its rows, none where it has none."""
        text = statement.format(tables=self._tables, **names)
        cursor = self._connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []

    def clear(self) -> None:
        """Delete every row of the wiki."""
        for table in (*(table.name for table in ALL), *_POSTINGS, "term"):
            self.run(sql.DELETE_WIKI_ROWS, (self.wiki_id,), table=table)
        self._is_empty = True
        self.totals = [0] * len(self.totals)

    def delete_pages(self, page_ids: Sequence[int]) -> None:
        """Delete all rows of pages."""
        ids = list(page_ids)
        for is_piece, term, count in self.run(sql.SELECT_POSTED, (self.wiki_id, ids)):
            self._more[is_piece, term] -= count
        (lost,) = self.run(sql.SELECT_COUNTS, (self.wiki_id, ids))
        self.totals = [total - less for total, less in zip(self.totals, map(int, lost), strict=True)]
        for table in ("page", "section", *(table.name for table in OF_PAGES), *_POSTINGS):
            self.run(sql.DELETE_PAGES, (self.wiki_id, ids), table=table)

    def insert_pages(self, rows: PageRows) -> None:
        """Write the rows of pages that are not there."""
        for table in (PAGE, SECTION, *OF_PAGES):
            self.copy(table, rows.tables[table.name])
        self._find_ids({posting[0] for posting in rows.postings})
        self._more.update(posting[0] for posting in rows.postings)
        ids, wiki = self._ids, self.wiki_id
        columns = "wiki_id, term_id, page_id, section_rowid, f, length"
        copy_postings = sql.COPY_ROWS.format(tables=self._tables, table="posting", columns=columns)
        with self._connection.cursor().copy(copy_postings) as copy:
            for start in range(0, len(rows.postings), _BLOCK):
                copy.write(
                    "".join(
                        f"{wiki}\t{ids[term]}\t{page_id}\t{rowid}\t{f}\t{length}\n"
                        for term, page_id, rowid, f, length in rows.postings[start : start + _BLOCK]
                    )
                )
        self._copy("name_posting", ("term", "page_id", "f", "length"), rows.names)
        self.totals = [total + more for total, more in zip(self.totals, rows.totals, strict=True)]

    def replace_links(self, page_ids: Sequence[int], rows: Iterable[Row]) -> None:
        """Replace the links of pages."""
        self.run(sql.DELETE_PAGES, (self.wiki_id, list(page_ids)), table=LINK.name)
        self.copy(LINK, rows)

    def replace_all(self, table: Table, rows: Iterable[Row]) -> None:
        """Replace every row of a table."""
        self.run(sql.DELETE_WIKI_ROWS, (self.wiki_id,), table=table.name)
        self.copy(table, rows)

    def copy(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table."""
        self._copy(table.name, (*table.columns, *EXTRA.get(table.name, ())), rows)

    def count_terms(self) -> None:
        """Bring `term` to what the postings are now; a term that no section holds goes."""
        counts = [(key, more) for key, more in self._more.items() if more]
        self._find_ids({key for key, _ in counts})
        self.run(sql.CREATE_COUNTS)
        with self._connection.cursor().copy(sql.COPY_COUNTS) as copy:
            for (is_piece, term), more in counts:
                copy.write_row((is_piece, term, self._ids[is_piece, term], more))
        self.run(sql.MERGE_COUNTS, (self.wiki_id,))
        self.run(sql.DELETE_UNUSED, (self.wiki_id,))

    def _find_ids(self, terms: set[TermKey]) -> None:
        """Learn the numbers of terms; those of new ones come from the sequence."""
        unknown = terms - self._ids.keys()
        if unknown and not self._is_empty:
            texts = sorted({text for _, text in unknown})
            for is_piece, term, term_id in self.run(sql.SELECT_TERM_IDS, (self.wiki_id, texts)):
                self._ids[is_piece, term] = term_id
            unknown -= self._ids.keys()
        if unknown:
            numbers = self.run(sql.SELECT_NEW_IDS, (f"{self._tables}.term", len(unknown)))
            self._ids.update(zip(sorted(unknown), (number for (number,) in numbers), strict=True))

    def _copy(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        rows = list(rows)
        if not rows:
            return
        listed = ", ".join(("wiki_id", *columns))
        statement = sql.COPY_ROWS.format(tables=self._tables, table=table, columns=listed)
        with self._connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row((self.wiki_id, *row))
