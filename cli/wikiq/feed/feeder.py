"""Keeps the rows of one wiki in PostgreSQL equal to its index: each look is one transaction.

Rows and cursor (index id, generation) move together, so a feeder may be killed anywhere. What is held in
memory is what the last committed look left there; one feeder of a wiki at a time, by an advisory lock.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack

from indexerd.contract.record import Record
from wikiq.errors import ForeignIndexError, NoIndexError, UnreadableIndexError
from wikiq.feed import sql
from wikiq.feed.pages import as_rows, no_rows, read_pages, read_rows
from wikiq.feed.schema import CHANGE, LINK, PAGE, WHOLE, ddl
from wikiq.feed.tables import PAGES_AT_ONCE, Tables
from wikiq.index.postgres.connect import FEED_FORMAT, connect, explained, failures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wikiq.feed.pages import PageRows, Row, TermKey
    from wikiq.feed.schema import Table
    from wikiq.index.database import Snapshot
    from wikiq.index.postgres.connect import Address

LOCK_PATIENCE_S = 10.0  # the server takes a moment to see that a killed feeder is gone
LOCK_PAUSE_S = 0.1
TOUCHED_EVERY_S = 5.0  # how often a look that found nothing is told: readers call this the age
NOTE = "texts are those of the index byte for byte, but NUL is U+FFFD"
_NAMING = tuple(
    PAGE.columns.index(column)
    for column in ("page_id", "slug", "path", "title", "front_matter", "raw_front_matter")
)
UP_TO_DATE, ANEW, CAUGHT_UP = "up to date", "anew", "caught up"


class Fed(Record):
    """What a look did: `how` says whether it was all rows; `pages` were written, `gone` deleted."""

    how: str
    wiki: str
    generation: int
    pages: int = 0
    gone: int = 0


class _Held:
    """What PostgreSQL has of a wiki, as much as tells what to write next."""

    def __init__(self, tables: Tables) -> None:
        self.ids = tables.ids
        here = (tables.wiki_id,)
        self.stamps = {row[0]: row[1:] for row in tables.run(sql.SELECT_FED_STAMPS, here)}
        self.links = _by_page(_fed_rows(tables, LINK))
        self.whole = {table.name: _sorted(_fed_rows(tables, table)) for table in WHOLE}


class Feeder:
    """One wiki's feed over one connection. `close` gives the lock back."""

    def __init__(self, address: Address, wiki: str) -> None:
        """Connect and take the lock. Raises WikiqError where one of them cannot be had."""
        self.address = address
        self.wiki = wiki
        self._held: _Held | None = None
        self._cursor: tuple[str, int] | None = None
        self._touched_at = 0.0
        self.connect()

    def connect(self) -> None:
        """Connect, for the first time or again, and take the lock."""
        self._held = None
        self._connection = connect(self.address)
        with ExitStack() as undo:
            undo.callback(self._connection.close)
            try:
                self._take_lock()
            except failures() as error:
                raise explained(error, self.address) from error
            undo.pop_all()

    @property
    def is_lost(self) -> bool:
        """Tell whether the connection, and the lock with it, is gone."""
        return self._connection.closed

    def close(self) -> None:
        """End the connection, and with it the lock."""
        self._connection.close()

    def make_tables(self) -> None:
        """Make schema and tables where they are not there."""
        try:
            if not self._has_tables():
                with self._connection.transaction():
                    for statement in ddl(self.address.schema):
                        self._connection.execute(statement)
        except failures() as error:
            raise explained(error, self.address) from error

    def feed(self, snapshot: Snapshot, *, anew: bool = False) -> Fed:
        """Bring PostgreSQL to what a snapshot holds; readers see the old rows until all is there.

        Raises ForeignIndexError where the rows there are of a newer generation of the same index, and what
        the server refuses as a WikiqError.
        """
        try:
            if not self._has_tables():
                problem = f"schema {self.address.schema} has no tables"
                remedy = "run it once with --init, by a role that may create them"
                raise NoIndexError(self.address.shown, problem, remedy)
            fed = self._feed(snapshot, anew=anew)
            if fed.how == ANEW:
                self._vacuum()
            return fed
        except failures() as error:
            self._held = None
            raise explained(error, self.address) from error

    def _feed(self, snapshot: Snapshot, *, anew: bool) -> Fed:
        cursor = (snapshot.index_id, snapshot.generation)
        if self._held is not None and self._cursor == cursor and not anew:
            self._touch()
            return Fed(how=UP_TO_DATE, wiki=self.wiki, generation=snapshot.generation)
        held, self._held = self._held, None  # believed again once this look is committed
        with self._connection.transaction():
            tables, format_, index_id, generation = self._open_wiki(held.ids if held is not None else {})
            (floor,) = snapshot.only_row(sql.SELECT_FLOOR)
            is_known = format_ == FEED_FORMAT and index_id == snapshot.index_id
            if is_known and generation > snapshot.generation and not anew:
                problem = f"wiki {self.wiki} is there at generation {generation}, this index at {cursor[1]}"
                remedy = "another feeder has a newer copy: end one of them, or feed with --anew"
                raise ForeignIndexError(self.address.shown, problem, remedy)
            if anew or not is_known or generation < floor:
                tables.clear()
                fed = self._load(tables, snapshot)
            elif generation == snapshot.generation:
                fed = Fed(how=UP_TO_DATE, wiki=self.wiki, generation=generation)
            else:
                fed = self._catch_up(tables, snapshot, held or _Held(tables), generation, floor)
            if fed.how != UP_TO_DATE:
                self._move_cursor(tables, snapshot, floor)
            held = held if held is not None and fed.how == CAUGHT_UP else _Held(tables)
        self._held, self._cursor = held, cursor
        self._touch()
        return fed

    def _load(self, tables: Tables, snapshot: Snapshot) -> Fed:
        ids = [row[0] for row in snapshot.rows(sql.SELECT_STAMPS)]
        for start in range(0, len(ids), PAGES_AT_ONCE):
            rows = read_pages(snapshot, ids[start : start + PAGES_AT_ONCE], no_rows())
            tables.change_pages(no_rows(), rows)
        for table in (*WHOLE, CHANGE):
            tables.copy(table, read_rows(snapshot, table))
        tables.count_terms()
        return Fed(how=ANEW, wiki=self.wiki, generation=snapshot.generation, pages=len(ids))

    def _catch_up(self, tables: Tables, snapshot: Snapshot, held: _Held, generation: int, floor: int) -> Fed:
        changed = [row[0] for row in snapshot.rows(sql.SELECT_CHANGED, (generation,))]
        stamps = {row[0]: row[1:] for row in snapshot.rows(sql.SELECT_STAMPS)}
        gone = [page_id for page_id in held.stamps if page_id not in stamps]
        tables.delete_pages(gone)
        for page_id in gone:
            held.links.pop(page_id, None)
        if len(changed) > PAGES_AT_ONCE:
            tables.delete_pages(changed)  # all of them first: a slug may have moved to another page
        is_renamed = bool(gone)
        for start in range(0, len(changed), PAGES_AT_ONCE):
            ids = changed[start : start + PAGES_AT_ONCE]
            before = tables.rows_of(ids)
            after = read_pages(snapshot, ids, before)
            tables.change_pages(before, after)
            is_renamed |= _identities(before) != _identities(after)
            held.links.update(dict.fromkeys(ids, ()) | _by_page(after.tables[LINK.name]))
        touched = [
            (*stamp, tables.wiki_id, page_id)
            for page_id, stamp in stamps.items()
            if page_id in held.stamps and held.stamps[page_id] != stamp and page_id not in set(changed)
        ]
        for stamp in touched:
            tables.run(sql.UPDATE_STAMP, stamp)
        held.stamps = stamps
        if is_renamed:
            _relink(tables, snapshot, held)
        for table in WHOLE:
            rows_now = _sorted(read_rows(snapshot, table))
            if rows_now != held.whole[table.name]:
                tables.replace_all(table, rows_now)
                held.whole[table.name] = rows_now
        tables.copy(CHANGE, as_rows(CHANGE, snapshot.rows(sql.SELECT_CHANGES, (generation,))))
        tables.run(sql.DELETE_CHANGES, (tables.wiki_id, floor))
        tables.count_terms()
        return Fed(
            how=CAUGHT_UP, wiki=self.wiki, generation=snapshot.generation, pages=len(changed), gone=len(gone)
        )

    def _open_wiki(self, ids: dict[TermKey, int]) -> tuple[Tables, int, str, int]:
        """Find or make the row of the wiki, and hold it until the transaction ends."""
        tables = Tables(self._connection, self.address.schema, ids)
        row = next(iter(tables.run(sql.SELECT_WIKI, (self.wiki,))), None)
        if row is None:
            made = self._connection.execute(
                sql.INSERT_WIKI.format(tables=self.address.schema),
                {"name": self.wiki},
            ).fetchone()
            tables.wiki_id = made[0] if made else 0
            return tables, 0, "", 0
        tables.wiki_id, format_, index_id, generation, *totals = row
        tables.totals = list(totals)
        return tables, format_, index_id, generation

    def _move_cursor(self, tables: Tables, snapshot: Snapshot, floor: int) -> None:
        sections, words, piece_sections, piece_words, name_words, heading_words, heading_pieces = (
            tables.totals
        )
        told = {
            "format": FEED_FORMAT,
            "index_id": snapshot.index_id,
            "generation": snapshot.generation,
            "floor": floor,
            "meta": json.dumps({key: value for key, value in snapshot.meta.items() if _is_plain(value)}),
            "sections": sections,
            "words": words,
            "piece_sections": piece_sections,
            "piece_words": piece_words,
            "name_words": name_words,
            "heading_words": heading_words,
            "heading_pieces": heading_pieces,
            "note": NOTE,
            "wiki_id": tables.wiki_id,
        }
        self._connection.execute(
            sql.UPDATE_WIKI.format(tables=self.address.schema),
            told,
        )
        news = {"wiki": self.wiki, "index_id": snapshot.index_id, "generation": snapshot.generation}
        tables.run(sql.NOTIFY, (json.dumps(news),))

    def _touch(self) -> None:
        """Say that the rows were just seen to be the index's; not oftener than readers need it."""
        if time.monotonic() - self._touched_at > TOUCHED_EVERY_S:
            tables, *_ = self._open_wiki({})
            tables.run(sql.TOUCH_WIKI, (tables.wiki_id,))
            self._touched_at = time.monotonic()

    def _vacuum(self) -> None:
        """Let the server know what is in the tables now, and readers go by the index alone."""
        for table in ("posting", "term", "section", "page", "link", "chunk", "name"):
            text = sql.VACUUM.format(tables=self.address.schema, table=table)
            self._connection.execute(text)

    def _has_tables(self) -> bool:
        row = self._connection.execute(sql.SELECT_HAS_TABLES, (f"{self.address.schema}.wiki",)).fetchone()
        return bool(row and row[0])

    def _take_lock(self) -> None:
        give_up_at = time.monotonic() + LOCK_PATIENCE_S
        name = f"wikiq feed {self.address.schema}.{self.wiki}"
        while True:
            row = self._connection.execute(sql.TRY_LOCK, (name,)).fetchone()
            if row and row[0]:
                return
            if time.monotonic() > give_up_at:
                problem = f"another feeder keeps wiki {self.wiki}"
                raise UnreadableIndexError(self.address.shown, problem, "end it, or let it do its work")
            time.sleep(LOCK_PAUSE_S)


def _relink(tables: Tables, snapshot: Snapshot, held: _Held) -> None:
    """Bring links to what the names of pages make them mean now: those of unchanged pages move too."""
    links = _by_page(read_rows(snapshot, LINK))
    moved = [
        page_id for page_id in {*links, *held.links} if links.get(page_id, ()) != held.links.get(page_id, ())
    ]
    if moved:
        tables.replace_links(moved, (row for page_id in moved for row in links.get(page_id, ())))
    held.links = links


def _identities(rows: PageRows) -> list[Row]:
    """What decides which names pages have, and so what links mean."""
    return _sorted(tuple(row[place] for place in _NAMING) for row in rows.tables[PAGE.name])


def _fed_rows(tables: Tables, table: Table) -> list[Row]:
    columns = ", ".join(table.columns)
    return tables.run(sql.SELECT_FED_ROWS, (tables.wiki_id,), table=table.name, columns=columns)


def _by_page(rows: Iterable[Row]) -> dict[int, tuple[Row, ...]]:
    """The rows of each page, in an order of their own; the page is the first column."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return {page_id: tuple(_sorted(one)) for page_id, one in found.items()}


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=repr)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
