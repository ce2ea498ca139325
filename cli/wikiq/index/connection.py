"""Connects to an index file to read it: pragmas, limits, and whether the file is one of this contract."""

from __future__ import annotations

import os
import sqlite3
import sys

from indexerd.contract.file import APPLICATION_ID, CONTRACT_MAJOR, READER_PRAGMAS
from wikiq.errors import ForeignIndexError
from wikiq.index.failures import damaged
from wikiq.index.sql import SELECT_META

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BUSY_TIMEOUT_S = 2.0  # SQLite's own wait, for the moments in which recovery holds the file
LARGEST_VALUE = 64 * 2**20  # bytes of one text; pages end at 16 MiB


def connect(path: str, *, immutable: bool) -> sqlite3.Connection:
    """Connect to the file at `path`, which is not made. Raises sqlite3.Error and ForeignIndexError."""
    connection = sqlite3.connect(
        _uri(path, immutable=immutable),
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,  # one thread at a time is the caller's promise; a pool may hand it on
    )
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
        if sys.version_info >= (3, 12):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # noqa: FBT003 - C signature
        for pragma in READER_PRAGMAS:
            connection.execute(pragma)
        _check_contract(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def read_meta(connection: sqlite3.Connection) -> dict[str, Any]:
    """Read the keys of `meta`; sqlite3.DatabaseError where the generation is none."""
    meta = dict(connection.execute(SELECT_META).fetchall())
    try:
        meta["generation"] = int(meta["generation"])
    except (KeyError, TypeError, ValueError) as error:
        raise sqlite3.DatabaseError("meta tells no generation") from error
    return meta


def _uri(path: str, *, immutable: bool) -> str:
    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{quoted}?mode=ro{'&immutable=1' if immutable else ''}"


def _check_contract(connection: sqlite3.Connection, path: str) -> None:
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    if application_id != APPLICATION_ID:
        raise ForeignIndexError(
            path,
            f"belongs to another application (id {application_id & 0xFFFFFFFF:#010x})",
            "name the index with --db or --wiki",
        )
    contract = str(read_meta(connection).get("contract", ""))
    major = contract.partition(".")[0]
    if not major.isdecimal():
        raise damaged(path, f"contract {contract!r:.40}")
    if int(major) != CONTRACT_MAJOR:
        problem = f"has contract {contract:.20}, this wikiq reads {CONTRACT_MAJOR}"
        remedy = "update wikiq" if int(major) > CONTRACT_MAJOR else "run `indexerd build` to renew it"
        raise ForeignIndexError(path, problem, remedy)
