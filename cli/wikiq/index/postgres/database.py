"""A wiki in PostgreSQL as the reader asks it: the same snapshots and answers as of a file.

One snapshot is one repeatable-read transaction that writes nothing. `wikiq feed` brings the rows in.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import UTC, datetime

from wikiq.errors import ForeignIndexError, NoIndexError, UsageError, WikiqError
from wikiq.index.daemon_state import DaemonView, Told
from wikiq.index.database import DEADLINE_S, Database, Reading, Snapshot
from wikiq.index.freshness import read_freshness, render_age
from wikiq.index.postgres import statements
from wikiq.index.postgres.candidates import Candidates, Totals
from wikiq.index.postgres.connect import (
    FEED_FORMAT,
    Address,
    cancelled,
    connect,
    explained,
    failures,
    is_bug,
    is_lost,
    parse_address,
)
from wikiq.index.postgres.dialect import REPLACEMENT, in_postgres
from wikiq.index.postgres.full_text import FullText
from wikiq.index.postgres.views import with_views
from wikiq.index.row_lengths import mean_lengths
from wikiq.model.policies import DEFAULT
from wikiq.model.request import DEFAULT_MAX_AGE_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any

    from psycopg import Connection

    from wikiq.index.asked import Asked
    from wikiq.index.row_lengths import Lengths
    from wikiq.model.results import Freshness

_NOT_SEEN = DaemonView(running=False, has_lock=False, told=Told())


class PostgresSnapshot(Snapshot):
    """One state of a wiki in PostgreSQL. Statements of `wikiq.index.sql` are said in its dialect."""

    __slots__ = ("_average", "_postgres", "_server", "_totals")

    def __init__(self, *, database: PostgresDatabase, server: Connection[Any], wiki: tuple[Any, ...]) -> None:
        self._postgres = database
        self._server = server
        _, name, _, index_id, generation, meta, sections, words, piece_sections, piece_words, *rest = wiki
        names, heading_words, heading_pieces, seen_s = rest
        self.meta = json.loads(meta) | {"name": name, "index_id": index_id, "generation": generation}
        self._totals = (
            Totals(rows=sections, words=words),
            Totals(rows=piece_sections, words=piece_words),
            Totals(rows=self.only_row("SELECT count(*) FROM v1_pages")[0], words=names),
        )
        self._average = mean_lengths(
            sections, (heading_words, words - heading_words), (heading_pieces, piece_words - heading_pieces)
        )
        self.database = database
        self.daemon = _NOT_SEEN
        self.moment = datetime.now(UTC)
        self.freshness = _held_against(seen_s, read_freshness(self, self.moment), self)

    @property
    def connection(self) -> sqlite3.Connection:  # type: ignore[override]  # there is none to be set
        """Refuse: what needs SQLite itself can be asked of an index file only."""
        remedy = "name the index file with --db (its own tools ask PostgreSQL: docs/postgresql.md)"
        raise UsageError(self._postgres.path, "only an index file answers this", remedy)

    def rows(self, select: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Fetch every row of a SELECT over the public views."""
        if select in statements.HOLDING:
            return self._holding(select, *values)
        text, bound = in_postgres(select, values)
        return self._ask(self._postgres.with_views(text), bound)

    def row(self, select: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[Any, ...] | None:
        """Fetch the first row of a SELECT, None without one."""
        return next(iter(self.rows(select, values)), None)

    def candidates(self, asked: Asked) -> list[tuple[Any, ...]]:
        """Fetch what may answer a question: the columns of `sql.SELECT_RANKED`."""
        candidates = Candidates(asked, self._full_text(), self._totals)
        return self._ask(self._postgres.with_views(candidates.statement(self._condition(asked))))

    def average_lengths(self) -> Lengths:
        """Tell how many words a section has on average."""
        return self._average

    def _holding(self, select: str, expression: str, beside: str = "") -> list[tuple[Any, ...]]:
        full_text = self._full_text()
        found = full_text.holding(expression, DEFAULT.weights)
        if found is None:
            return []
        text = statements.HOLDING[select].format(found=found, beside=full_text.quote(beside))
        return self._ask(self._postgres.with_views(text))

    def _full_text(self) -> FullText:
        return FullText(
            tables=self._postgres.address.schema,
            wiki_id=self._postgres.wiki_id,
            quote=self._quoted,
            ask=self._ask,
        )

    def _condition(self, asked: Asked) -> str:
        """The condition on pages with its values put in, since the statement names it twice."""
        import psycopg

        text, bound = in_postgres(asked.condition, asked.bound)
        return psycopg.ClientCursor(self._server).mogrify(text, bound)

    def _quoted(self, text: str) -> str:
        from psycopg.sql import quote

        return f"{quote(text.replace(chr(0), REPLACEMENT), self._server)}"

    def _ask(self, statement: str, bound: Any = None) -> list[tuple[Any, ...]]:
        return self._server.execute(statement, bound).fetchall()


class PostgresDatabase(Database):
    """A wiki of a PostgreSQL schema, open to be read; what `Database` says of a file is said of it."""

    def __init__(self, address: Address, connection: Connection[Any], wiki_id: int) -> None:
        self.address = address
        self.wiki_id = wiki_id
        self.path = address.shown
        self.immutable = False
        self.identity = None
        self.made_fresh = False
        self.max_age_s = DEFAULT_MAX_AGE_S
        self.deadline_s = DEADLINE_S
        self._server = connection
        self._cancelled = False

    @property
    def is_copy(self) -> bool:
        """Rows that were fed are a copy."""
        return True

    @is_copy.setter
    def is_copy(self, _: bool) -> None:
        """It makes no difference what is said of it."""

    @property
    def folder(self) -> str:
        """No folder holds this index: nothing of a daemon lies beside it."""
        return ""

    @property
    def is_overdue(self) -> bool:
        """Tell whether the statements have had their time: here the server sees to it."""
        return False

    def with_views(self, statement: str) -> str:
        """Put the views that a statement speaks of before it."""
        return with_views(statement, schema=self.address.schema, wiki_id=self.wiki_id)

    def cancel(self) -> None:
        """End the statement that runs now; the snapshot's block ends with a CancelledError."""
        self._cancelled = True
        self._server.cancel_safe()

    def generation(self) -> int:
        """Read the generation alone."""
        try:
            select = statements.SELECT_GENERATION.format(tables=self.address.schema)
            row = self._server.execute(select, (self.wiki_id,)).fetchone()
        except failures() as error:
            raise explained(error, self.address) from error
        if row is None:
            raise _no_wiki(self.address)
        return int(row[0])

    def snapshot(self, deadline_s: float | None = None) -> Reading:
        """Read one state of the wiki in a `with` block; see `Database.snapshot`."""
        return _PostgresReading(self, DEADLINE_S if deadline_s is None else deadline_s)

    def allow(self, deadline_s: float) -> None:
        """Give every further statement of the snapshot this much time."""
        self.deadline_s = deadline_s
        self._run(statements.SET_TIMEOUT)

    def begin(self, deadline_s: float) -> PostgresSnapshot:
        """Start a read transaction; a connection that was lost since the last one is made again."""
        self.deadline_s = deadline_s
        self._cancelled = False
        try:
            self._run(statements.BEGIN)
        except failures() as error:
            if not is_lost(error):
                raise
            self._server.close()
            self._server = connect(self.address)
            self._run(statements.BEGIN)
        select = statements.SELECT_WIKI.format(tables=self.address.schema)
        wiki = self._server.execute(select, (self.wiki_id,)).fetchone()
        if wiki is None:
            raise _no_wiki(self.address)
        return PostgresSnapshot(database=self, server=self._server, wiki=wiki)

    def end(self) -> None:
        """End the read transaction."""
        if not self._server.closed:
            self._server.execute(statements.ROLLBACK)

    def explained(self, error: Exception) -> WikiqError:
        """Turn an error of the server into one that says what to do."""
        if self._cancelled and getattr(error, "sqlstate", None) == "57014":
            return cancelled(self.address)
        return explained(error, self.address)

    def find_damage(self) -> str | None:
        """The server answers for what it keeps."""
        return None

    def is_replaced(self) -> bool:
        """A wiki that is fed anew is another state of the same database."""
        return False

    def another(self) -> PostgresDatabase:
        """Open the same wiki once more."""
        return PostgresDatabase(self.address, connect(self.address), self.wiki_id)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def _run(self, statement: str) -> None:
        milliseconds = max(1, int(self.deadline_s * 1000))
        self._server.execute(statement.format(milliseconds=milliseconds))


class _PostgresReading(Reading):
    """The `with` block of one snapshot of a PostgreSQL database."""

    def __init__(self, database: PostgresDatabase, deadline_s: float) -> None:
        super().__init__(database, deadline_s)
        self._postgres = database

    def __enter__(self) -> Snapshot:
        try:
            return super().__enter__()
        except failures() as error:
            self._end()
            raise self._postgres.explained(error) from error
        except WikiqError:
            self._end()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        if isinstance(error, failures()) and not is_bug(error):
            raise self._postgres.explained(error) from error

    def _end(self) -> None:
        try:
            self._postgres.end()
        except failures():
            self._postgres.close()  # the server is away: what there was to end has ended with it


def open_postgres(text: str, *, wiki: str | None = None) -> PostgresDatabase:
    """Open the wiki that `postgresql://…` and a name mean; without a name the only one there is.

    Raises UsageError, UnreadableIndexError, ForeignIndexError, and NoIndexError that lists what there is.
    """
    address = parse_address(text)
    connection = connect(address)
    with ExitStack() as undo:
        undo.callback(connection.close)
        try:
            wikis = connection.execute(statements.SELECT_WIKIS.format(tables=address.schema)).fetchall()
        except failures() as error:
            raise explained(error, address) from error
        found = [one for one in wikis if wiki in (None, one[1])]
        if len(found) != 1:
            raise _no_wiki(address, wiki, [name for _, name, _ in wikis])
        wiki_id, name, format_ = found[0]
        if format_ != FEED_FORMAT:
            problem = f"wiki {name} was fed in format {format_}, this wikiq reads {FEED_FORMAT}"
            raise ForeignIndexError(address.shown, problem, "feed it with this version of wikiq, or update")
        database = PostgresDatabase(address, connection, wiki_id)
        undo.pop_all()
        return database


def _no_wiki(address: Address, wiki: str | None = None, names: Sequence[str] = ()) -> NoIndexError:
    if not names:
        remedy = f"feed one: `wikiq feed {address.shown}`"
        return NoIndexError(address.shown, "there is no wiki in this schema yet", remedy)
    problem = "more than one wiki is meant" if wiki is None else f"there is no wiki {wiki!r}"
    return NoIndexError(address.shown, problem, f"name one with --wiki: {', '.join(names)}")


def _held_against(seen_s: float, copy: Freshness, snapshot: Snapshot) -> Freshness:
    """Say how long ago a feeder last held the rows against the index: that, not quiet, makes them stale."""
    host = snapshot.meta.get("host")
    where = f" on {host}" if host else ""
    ago = render_age(max(0.0, seen_s))
    stale = seen_s > snapshot.database.max_age_s
    return copy.replace(
        stale=stale,
        reason=f"this is PostgreSQL's copy of an index{where}, held against it {ago} ago",
        remedy=f"run `wikiq feed --follow`{where or ' where the index is'}" if stale else None,
    )
