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
    """The tables of one wiki. What is written of postings is counted, and told to `term` at the end.

    `ids`: numbers of terms that are known from looks before; it learns and forgets with this one.
    """

    def __init__(self, connection: Connection[Any], tables: str, ids: dict[TermKey, int]) -> None:
        self._connection = connection
        self._tables = tables
        self.wiki_id = 0
        self.ids = ids
        self._new: list[TermKey] = []
        self._more: Counter[int] = Counter()
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
        self.ids.clear()
        self._is_empty = True
        self.totals = [0] * len(self.totals)

    def delete_pages(self, page_ids: Sequence[int]) -> None:
        """Delete all rows of pages."""
        ids = list(page_ids)
        self._more.subtract(dict(self.run(sql.SELECT_POSTED, (self.wiki_id, ids))))
        (lost,) = self.run(sql.SELECT_COUNTS, (self.wiki_id, ids))
        self.totals = [total - less for total, less in zip(self.totals, map(int, lost), strict=True)]
        tables = ("page", "section", *(table.name for table in OF_PAGES), *_POSTINGS)
        deletes = [sql.DELETE_PAGES.format(tables=self._tables, table=table) for table in tables]
        self._connection.execute("; ".join(deletes), (self.wiki_id, ids) * len(tables))  # one way there

    def insert_pages(self, rows: PageRows) -> None:
        """Write the rows of pages that are not there."""
        for table in (PAGE, SECTION, *OF_PAGES):
            self.copy(table, rows.tables[table.name])
        self._find_ids({posting[0] for posting in rows.postings})
        ids, wiki = self.ids, self.wiki_id
        self._more.update(ids[posting[0]] for posting in rows.postings)
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
        new = {self.ids[key]: key for key in self._new}
        told = (
            ("is_piece", "term", "term_id", "df"),
            [(*key, of, self._more[of]) for of, key in new.items()],
        )
        self._copy("term", *told)
        moved = {term_id: more for term_id, more in self._more.items() if more and term_id not in new}
        if moved:
            bound = (list(moved), list(moved.values()), self.wiki_id)
            unused = [term_id for term_id, df in self.run(sql.UPDATE_COUNTS, bound) if df == 0]
            for key in self.run(sql.DELETE_TERMS, (self.wiki_id, unused)) if unused else ():
                self.ids.pop(key, None)
        self._new.clear()
        self._more.clear()

    def _find_ids(self, terms: set[TermKey]) -> None:
        """Learn the numbers of terms; those of new ones come from the sequence."""
        unknown = terms - self.ids.keys()
        if unknown and not self._is_empty:
            texts = sorted({text for _, text in unknown})
            for is_piece, term, term_id in self.run(sql.SELECT_TERM_IDS, (self.wiki_id, texts)):
                self.ids[is_piece, term] = term_id
            unknown -= self.ids.keys()
        if unknown:
            numbers = self.run(sql.SELECT_NEW_IDS, (f"{self._tables}.term", len(unknown)))
            new = sorted(unknown)
            self.ids.update(zip(new, (number for (number,) in numbers), strict=True))
            self._new += new

    def _copy(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        rows = list(rows)
        if not rows:
            return
        listed = ", ".join(("wiki_id", *columns))
        statement = sql.COPY_ROWS.format(tables=self._tables, table=table, columns=listed)
        with self._connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row((self.wiki_id, *row))
