"""Reaches a PostgreSQL database: its address, the extra that must be installed, its errors as one line each.

psycopg is imported when a database is opened, never before; whoever reads files does not need it.
"""

from __future__ import annotations

import re

from indexerd.contract.record import Record
from wikiq.errors import (
    CancelledError,
    DamagedIndexError,
    ForeignIndexError,
    NoIndexError,
    TooSlowError,
    UnreadableIndexError,
    UsageError,
    WikiqError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

DEFAULT_SCHEMA = "wikiq"
OLDEST_SERVER = 140_000  # as libpq counts: version 14, the oldest that is tried (FILTER, jit, COPY as used)
CONNECT_TIMEOUT_S = 10
FEED_FORMAT = 1  # shape and meaning of the tables; another one: they are made anew
# Of bm25, as FTS5 has them (https://sqlite.org/fts5.html#the_bm25_function).
K1, B = 1.2, 0.75
LONGEST_DETAIL = 200  # characters of the server's words in an error

# SQLSTATEs: no such table, schema or column; no right to it.
_NO_TABLES = ("42P01", "3F000", "42703")
_NO_RIGHT = "42501"

_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PASSWORD = re.compile(r"(?<=[/\w]):[^/@?]*(?=@)|(?<=[?&])password=[^&]*&?")


class Address(Record):
    """Where a database is. `url` is what libpq takes, `shown` the same without a password."""

    url: str
    shown: str
    schema: str


def parse_address(text: str, schema: str | None = None) -> Address:
    """Read `postgresql://…`, where `?schema=NAME` may say which schema; one that is given goes first.

    Raises UsageError for a name that is no plain identifier.
    """
    url, _, query = text.partition("?")
    kept = []
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name == "schema":
            schema = schema or value
        else:
            kept.append(part)
    schema = schema or DEFAULT_SCHEMA
    if not _SCHEMA_NAME.fullmatch(schema):
        raise UsageError(schema, "is no name of a schema", "use a to z, digits and _, at most 63")
    whole = "?".join((url, "&".join(kept))) if kept else url
    return Address(url=whole, shown=_without_password(whole), schema=schema)


def _without_password(text: str) -> str:
    return _PASSWORD.sub("", text)


def connect(address: Address) -> Connection[Any]:
    """Open a connection whose values are put in by the client; the caller begins and ends transactions.

    Raises UsageError without the extra, UnreadableIndexError where nobody answers or lets this user in.
    """
    try:
        import psycopg
    except ImportError as error:
        remedy = "install the extra: pip install 'indexerd[postgres]'"
        raise UsageError(address.shown, "PostgreSQL needs psycopg, which is not installed", remedy) from error
    try:
        connection = psycopg.connect(
            address.url,
            autocommit=True,
            cursor_factory=psycopg.ClientCursor,
            connect_timeout=CONNECT_TIMEOUT_S,
            application_name="wikiq",
        )
    except psycopg.Error as error:
        raise _not_reached(error, address) from error
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        connection.close()
        problem = f"the server is PostgreSQL {version // 10_000}"
        raise ForeignIndexError(address.shown, problem, f"use version {OLDEST_SERVER // 10_000} or newer")
    try:
        # Plans of .1 s must not wait for a compiler; only what this connection sees is changed.
        connection.execute("SET jit = off")
        connection.execute("SET client_encoding = 'UTF8'")
    except psycopg.Error as error:
        connection.close()
        raise explained(error, address) from error
    return connection


def failures() -> type[Exception]:
    """Give the class of all errors of the client library; call it only once a connection was opened."""
    import psycopg

    return psycopg.Error


def is_lost(error: BaseException | None) -> bool:
    """Tell whether an error says that the server went away, rather than that it refused something."""
    import psycopg

    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    return state is None or state.startswith(("08", "57P"))


def is_bug(error: BaseException) -> bool:
    """Tell whether the server refuses a statement that is wrong whatever it holds: it keeps its traceback."""
    state = getattr(error, "sqlstate", None) or ""
    return state.startswith("42") and state not in (*_NO_TABLES, _NO_RIGHT)


def explained(error: Exception, address: Address) -> WikiqError:
    """Turn an error of the server into one that says what to do."""
    state = getattr(error, "sqlstate", None) or ""
    told = _one_line(error)
    if state == "57014":
        return TooSlowError(address.shown, "the question took too long", "ask with fewer words")
    if state in _NO_TABLES:
        problem = f"schema {address.schema} holds no wiki of this version"
        return NoIndexError(address.shown, problem, f"feed it: `wikiq feed {address.shown} --init`")
    if state == _NO_RIGHT:
        remedy = "grant it, or use a role that may (docs/postgresql.md)"
        return UnreadableIndexError(address.shown, f"the role may not do this ({told})", remedy)
    if state == "25006":
        problem = f"the database may only be read ({told})"
        return UnreadableIndexError(address.shown, problem, "feed the server that takes writes")
    if state.startswith("53"):
        problem = f"the server has no room ({told})"
        return UnreadableIndexError(address.shown, problem, "free disk or memory there; nothing was changed")
    if state.startswith(("08", "57P")) or not state:
        return UnreadableIndexError(address.shown, f"the server went away ({told})", "try again")
    return DamagedIndexError(address.shown, f"the server refuses ({told})", "feed the wiki anew with --anew")


def cancelled(address: Address) -> CancelledError:
    """Say that a question was cancelled."""
    return CancelledError(address.shown, "the question was cancelled", "ask again")


def _not_reached(error: Exception, address: Address) -> WikiqError:
    told = _one_line(error)
    if "authentication failed" in told or "no password" in told:
        remedy = "check user and password (PGPASSWORD, ~/.pgpass)"
        return UnreadableIndexError(address.shown, f"lets nobody in ({told})", remedy)
    remedy = "check that the server runs and the address is right"
    return UnreadableIndexError(address.shown, f"cannot be reached ({told})", remedy)


def _one_line(error: Exception) -> str:
    told = " ".join(_without_password(str(error)).split())
    return told[:LONGEST_DETAIL]
