"""Runs one read-only SQL statement of the user on the index, within a time limit.

The file is open read-only; here SQLite is also told which kinds of action a statement may take, so
that it cannot end the snapshot it runs in, attach a file or change how the connection behaves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from indexerd.contract.record import Record
from indexerd.contract.suggestions import did_you_mean, nearest
from wikiq.errors import TooSlowError, UsageError, WikiqError
from wikiq.index.database import Snapshot
from wikiq.index.sql import SELECT_VIEWS
from wikiq.model.request import bindable

DEFAULT_LIMIT_S = 10.0  # seconds; the slowest public view read whole takes 3 s on 33 MB
MOST_ROWS = 1_000_000  # kept in memory, since no transaction lasts while rows are printed

_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_TELLING_PRAGMAS = frozenset(
    {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "user_version"}
    | {"application_id", "page_count", "page_size", "compile_options", "function_list", "data_version"}
)
_REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})


class Table(Record):
    """What a statement gave. `is_cut`: there were more than MOST_ROWS rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_cut: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns, each by a name of its own: of equal ones the later are `a:1`, `a:2`, as in SQLite."""
        taken, seen, keys = set(self.columns), set(), []
        for name in self.columns:
            key = name
            if name in seen:
                key = next(key for nth in count(1) if (key := f"{name}:{nth}") not in taken)
                taken.add(key)
            seen.add(name)
            keys.append(key)
        return tuple(keys)


class StatementError(WikiqError):
    """The statement is wrong, or does something else than read."""


def ask(
    snapshot: Snapshot, statement: str, values: Sequence[str] = (), *, most_rows: int = MOST_ROWS
) -> Table:
    """Run one reading statement; `values` fill its `?`.

    Raises StatementError, TooSlowError past the snapshot's deadline, and what a snapshot raises.
    """
    if not statement.strip().strip(";"):
        raise UsageError("the statement", "is empty", 'try `wikiq sql "SELECT slug, title FROM v1_pages"`')
    try:
        columns, rows = _fetch(snapshot.connection, statement, values, most_rows + 1)
    except sqlite3.OperationalError as error:
        if not snapshot.database.is_overdue:
            raise
        problem = f"took longer than {snapshot.database.deadline_s:g} s"
        raise TooSlowError("the statement", problem, "ask for less, or raise --time-limit") from error
    return Table(columns=columns, rows=tuple(rows[:most_rows]), is_cut=len(rows) > most_rows)


def _fetch(
    connection: sqlite3.Connection, statement: str, values: Sequence[str], most: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The names of the columns, and the first rows; nothing but reading is let through."""
    connection.set_authorizer(_authorize)
    try:
        cursor = connection.execute(bindable(statement), tuple(map(bindable, values)))
        rows = cursor.fetchmany(most)
    except sqlite3.Error as error:
        if not _is_the_statements(error):
            raise
        connection.set_authorizer(None)  # what there is, is asked for in its own words
        raise _explained(error, connection, statement) from error
    finally:
        connection.set_authorizer(None)
    return tuple(column[0] for column in cursor.description or ()), rows


def _explained(error: sqlite3.Error, connection: sqlite3.Connection, statement: str) -> StatementError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY):
        return StatementError("the statement", f"does more than read ({error})", "only SELECT is allowed")
    problem = str(error).rstrip(".")
    remedy = "the views are in docs/database.md"
    kind, _, name = problem.partition(": ")
    if kind in ("no such table", "no such column"):
        remedy = _names_there(connection, statement, name.rpartition(".")[2], columns=kind.endswith("column"))
    return StatementError("the statement", problem, remedy)


def _names_there(connection: sqlite3.Connection, statement: str, name: str, *, columns: bool) -> str:
    """Name what comes near, and the views there are, or the columns of those that the statement reads."""
    views = [view for (view,) in connection.execute(SELECT_VIEWS)]
    if not columns:
        return f"{_meant(name, views)}the views are {', '.join(views)}"
    read = [view for view in views if view in statement]
    having = {view: [row[1] for row in connection.execute(f"PRAGMA table_info({view})")] for view in read}
    there = "; ".join(f"{view} has {', '.join(names)}" for view, names in having.items())
    known = (column for names in having.values() for column in names)
    return _meant(name, known) + (there or f"the views are {', '.join(views)}")


def _meant(name: str, names: Iterable[str]) -> str:
    near = did_you_mean(nearest(name, dict.fromkeys(names)), "")
    return f"{near} " if near else ""


def _is_the_statements(error: sqlite3.Error) -> bool:
    """Tell whether the error is in the statement, not in the file."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in (
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_RANGE,
        sqlite3.SQLITE_MISMATCH,
    )


def _authorize(
    action: int, first: str | None, second: str | None, _schema: str | None, _view: str | None
) -> int:
    """Say whether a statement may take an action; `first` and `second` are SQLite's arguments to it."""
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second in _REFUSED_FUNCTIONS else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        tells = first in _TELLING_PRAGMAS and (second is None or not first.endswith("version"))
        return sqlite3.SQLITE_OK if tells else sqlite3.SQLITE_DENY
    # How SQLite asks whether a virtual table (full text, json_each) may say which columns it has.
    declares = action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"
    return sqlite3.SQLITE_OK if declares or action in _READING else sqlite3.SQLITE_DENY
