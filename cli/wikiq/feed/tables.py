"""Writes rows of one wiki into PostgreSQL, inside a transaction that the caller begins and ends."""

from __future__ import annotations

from collections import Counter

from wikiq.feed import sql
from wikiq.feed.pages import no_rows
from wikiq.feed.schema import ALL, COUNTS, LINK, ROWS_OF_PAGES, SECTION, columns_of
from wikiq.feed.words import kept_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from psycopg import Connection

    from wikiq.feed.pages import PageRows, Posting, Row, TermKey
    from wikiq.feed.schema import Table

PAGES_AT_ONCE = 200  # in memory at once: some megabytes
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
        self.totals = [0] * (1 + len(COUNTS))

    def run(self, statement: str, values: Sequence[Any] = (), **names: str) -> list[tuple[Any, ...]]:
        """Run a statement; gives its rows, none where it has none."""
        text = statement.format(tables=self._tables, **names)
        cursor = self._connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []

    def clear(self) -> None:
        """Delete every row of the wiki."""
        for table in (*(table.name for table in ALL), "posting", "term"):
            self.run(sql.DELETE_WIKI_ROWS, (self.wiki_id,), table=table)
        self.ids.clear()
        self.run(sql.MAKE_LOADED)
        self._is_empty = True
        self.totals = [0] * len(self.totals)

    def rows_of(self, page_ids: Sequence[int]) -> PageRows:
        """Read all rows of pages that are there."""
        fed = no_rows()
        if self._is_empty:
            return fed
        selects = [
            sql.SELECT_FED_PAGES.format(
                columns=", ".join(columns_of(table)), tables=self._tables, table=table.name
            )
            for table in ROWS_OF_PAGES
        ]
        bound = (self.wiki_id, list(page_ids)) * len(selects)
        cursor = self._connection.execute("; ".join(selects), bound)  # one way there
        for table in ROWS_OF_PAGES:
            fed.tables[table.name] = cursor.fetchall()
            cursor.nextset()
        return fed

    def change_pages(self, before: PageRows, after: PageRows) -> None:
        """Bring pages from the rows that are there to others; rows that are the same stay where they are."""
        told = zip(self.totals, after.totals(), before.totals(), strict=True)
        self.totals = [total + more - less for total, more, less in told]
        postings = self._delete_postings(before, after)
        deletes: list[str] = []
        bound: list[Any] = []
        new: list[tuple[Table, list[Row]]] = []
        for table in ROWS_OF_PAGES:
            was, now = (_by_key(table, rows.tables[table.name]) for rows in (before, after))
            moved = [key for key in {*was, *now} if was.get(key) != now.get(key)]
            if gone := [key for key in moved if key in was]:
                deletes.append(sql.DELETE_ROWS.format(tables=self._tables, table=table.name, key=table.key))
                bound += (self.wiki_id, gone)
            new.append((table, [row for key in moved for row in now.get(key, ())]))
        if deletes:
            self._connection.execute("; ".join(deletes), bound)
        for table, rows in new:
            self.copy(table, rows)
        self._copy_postings(postings)

    def delete_pages(self, page_ids: Sequence[int]) -> None:
        """Delete all rows of pages."""
        for start in range(0, len(page_ids), PAGES_AT_ONCE):
            self.change_pages(self.rows_of(page_ids[start : start + PAGES_AT_ONCE]), no_rows())

    def _delete_postings(self, before: PageRows, after: PageRows) -> list[Posting]:
        """Delete the postings of sections whose words are others now; gives those to be written."""
        words = {row[0]: (row[1], *row[-2:]) for row in after.tables[SECTION.name]}
        sections = before.tables[SECTION.name]
        gone = [
            ((is_piece, word), row[0])
            for row in sections
            if words.get(row[0]) != (row[1], *row[-2:])
            for is_piece, kept in ((False, row[-2]), (True, row[-1]))
            for word in kept_words(kept)
        ]
        self._find_ids({term for term, _ in gone})
        if gone:
            terms = [self.ids[term] for term, _ in gone]
            self._more.subtract(terms)
            self.run(sql.DELETE_POSTINGS, (terms, [rowid for _, rowid in gone], self.wiki_id))
        stay = {row[0] for row in sections} - {rowid for _, rowid in gone}
        return [posting for posting in after.postings if posting[2] not in stay]

    def _copy_postings(self, postings: Sequence[Posting]) -> None:
        if not postings:
            return
        self._find_ids({posting[0] for posting in postings})
        ids, wiki = self.ids, self.wiki_id
        self._more.update(ids[posting[0]] for posting in postings)
        columns = "wiki_id, term_id, page_id, section_rowid, f, length"
        schema, table = ("pg_temp", "loaded") if self._is_empty else (self._tables, "posting")
        statement = sql.COPY_ROWS.format(tables=schema, table=table, columns=columns)
        with self._connection.cursor().copy(statement) as copy:
            for start in range(0, len(postings), _BLOCK):
                copy.write(
                    "".join(
                        f"{wiki}\t{ids[term]}\t{page_id}\t{rowid}\t{f}\t{length}\n"
                        for term, page_id, rowid, f, length in postings[start : start + _BLOCK]
                    )
                )

    def replace_links(self, page_ids: Sequence[int], rows: Iterable[Row]) -> None:
        """Replace the links of pages."""
        self.run(sql.DELETE_ROWS, (self.wiki_id, list(page_ids)), table=LINK.name, key=LINK.key)
        self.copy(LINK, rows)

    def replace_all(self, table: Table, rows: Iterable[Row]) -> None:
        """Replace every row of a table."""
        self.run(sql.DELETE_WIKI_ROWS, (self.wiki_id,), table=table.name)
        self.copy(table, rows)

    def copy(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table."""
        self._copy(table.name, columns_of(table), rows)

    def count_terms(self) -> None:
        """Bring `term` to what the postings are now; a term that no section holds goes."""
        if self._is_empty:
            self.run(sql.MOVE_LOADED)
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


def _by_key(table: Table, rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Rows by what they are replaced by, in an order of their own."""
    place = columns_of(table).index(table.key)
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row[place], []).append(row)
    for same in found.values():
        same.sort(key=repr)
    return found
