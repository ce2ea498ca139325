"""SQLite errors as one line each: what happened to which file, and what to do."""

from __future__ import annotations

import sqlite3

from wikiq.errors import (
    DamagedIndexError,
    ForeignIndexError,
    TooSlowError,
    UnreadableIndexError,
    WikiqError,
)

TYPE_CHECKING = False

LONGEST_DETAIL = 120  # characters of SQLite's words in an error; they may quote whole values
# What the writer's start, stop or recovery looks like to a reader (FAULTS: 5 CANTOPEN in 200 kills).
_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN})
_FOREIGN = frozenset({sqlite3.SQLITE_NOTADB})
# No -wal, and no right to create one: how a closed WAL index looks to an unprivileged reader.
_CLOSED = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


def explained(error: Exception, path: str) -> WikiqError:
    """Turn SQLite's error into one that says what to do."""
    code = _primary_code(error)
    if code in _FOREIGN:
        return ForeignIndexError(path, "is not an index", "name the index with --db or --wiki")
    if code == sqlite3.SQLITE_INTERRUPT:
        return TooSlowError(path, "the question took too long", "ask with fewer words")
    if code == sqlite3.SQLITE_BUSY:
        return UnreadableIndexError(path, "is locked by another process", "try again, or end that process")
    if code in _CLOSED or code in (sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return UnreadableIndexError(path, "cannot be opened", "check that you may read it and its folder")
    if code in (sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return UnreadableIndexError(path, f"cannot be read ({error})", "check the disk and the memory")
    return damaged(path, str(error))


def damaged(path: str, detail: str) -> DamagedIndexError:
    """Say that an index cannot be read as one."""
    line = " ".join(detail.split())[:LONGEST_DETAIL]
    return DamagedIndexError(path, f"is damaged ({line})", "run `indexerd build` to make it anew")


def _primary_code(error: Exception) -> int:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
