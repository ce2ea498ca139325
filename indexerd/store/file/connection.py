"""The writer's connection: pragmas, what the file says of itself, making and dropping the schema.

The file exists with its final mode before it is opened here. Which pages there are is nobody's
business in this module.
"""

from __future__ import annotations

import ctypes
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from indexerd.contract.file import (
    APPLICATION_ID,
    CONTRACT_MAJOR,
    CONTRACT_MINOR,
    PAGE_SIZE,
    SCHEMA_VERSION,
    TERMS_VERSION,
)
from indexerd.errors import StorageError
from indexerd.store.file.lock import this_host
from indexerd.store.file.schema import SCHEMA, SCHEMA_OBJECTS, VIEWS, WRITER_PRAGMAS
from indexerd.store.file.select import select_row, select_rows

BUSY_TIMEOUT_MS: Final = 5_000  # no reader blocks the writer; a foreign read-write opening may, briefly
STATEMENTS_CACHED: Final = 256  # every statement of the store stays prepared

# Merging is bought in bounded pieces between batches, never inside a commit (spec 2.3).
FULL_TEXT_SETTINGS: Final = (
    ("automerge", 0),
    ("usermerge", 4),
    ("crisismerge", 64),
    ("hashsize", 16 * 1024 * 1024),  # bytes gathered before a segment is written
)


@dataclass(frozen=True, slots=True)
class Identity:
    """What the file says of itself beside its rows. Times are ISO 8601 UTC with milliseconds."""

    root: str
    name: str
    writer: str
    created_at: str


def connect(path: Path) -> apsw.Connection:
    """Open an existing file for writing, in WAL mode, with a WAL that survives our own close."""
    connection = apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=STATEMENTS_CACHED
    )
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if connection.pragma("user_version") == 0 and connection.pragma("page_count") == 0:
            connection.pragma("page_size", PAGE_SIZE)
            connection.pragma("application_id", APPLICATION_ID)
        for pragma in WRITER_PRAGMAS:
            connection.execute(pragma)
        if connection.pragma("journal_mode") != "wal":
            raise StorageError(
                str(path), "this disk allows no write-ahead log", "put it on a local disk with --db"
            )
        keep = ctypes.c_int(1)
        connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def savepoint(connection: apsw.Connection) -> Iterator[None]:
    """A part of a transaction; when the block raises, nothing of it is left, and the rest stays."""
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has ended all of it
            connection.execute("ROLLBACK TO part")
        raise
    finally:
        if connection.in_transaction:
            connection.execute("RELEASE part")


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit what the block does, or leave no trace of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def is_current(connection: apsw.Connection) -> bool:
    """Whether the tables have the shape that this program writes."""
    return bool(connection.pragma("user_version") == SCHEMA_VERSION)


def is_whole(connection: apsw.Connection) -> bool:
    """Whether every table, index and view is declared as this program does it.

    SQLite keeps the words of a declaration and reads them anew at every opening, so a flipped bit in
    one may give another table without any complaint.
    """
    declared = {sql for (sql,) in select_rows(connection, "SELECT sql FROM sqlite_schema")}
    return declared.issuperset(SCHEMA)


def has_schema(connection: apsw.Connection) -> bool:
    """Whether there is any table at all; a writer may have died before it made them."""
    return select_row(connection, "SELECT 1 FROM sqlite_schema LIMIT 1") is not None


def create_schema(connection: apsw.Connection, identity: Identity) -> None:
    """Make every table and view, and a new identity, inside the caller's transaction."""
    for statement in SCHEMA:
        connection.execute(statement)
    for table in ("sections_fts", "sections_grams", "names_fts"):
        for setting, value in FULL_TEXT_SETTINGS:
            connection.execute(f"INSERT INTO {table}({table}, rank) VALUES(?, ?)", (setting, value))
    write_meta(
        connection,
        contract=f"{CONTRACT_MAJOR}.{CONTRACT_MINOR}",
        index_id=secrets.token_hex(16),
        generation=0,
        committed_at=None,
        projection_version=None,
        terms_version=TERMS_VERSION,
        root=identity.root,
        name=identity.name,
        created_at=identity.created_at,
        building=1,
        writer=identity.writer,
        host=this_host(),
        changes_floor=0,
        clean=0,
        objects=" ".join(SCHEMA_OBJECTS),
        root_id=None,
    )
    connection.pragma("user_version", SCHEMA_VERSION)


def renew_views(connection: apsw.Connection) -> None:
    """Make the public views as this program has them, inside the caller's transaction; rows stay.

    For an index of the same tables whose public part is of another minor version, older or newer.
    """
    found = select_rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v1_*'")
    for (name,) in found:
        connection.execute(f'DROP VIEW "{name}"')
    for statement in VIEWS.values():
        connection.execute(statement)


def drop_schema(connection: apsw.Connection) -> None:
    """Drop what an index of any schema version says is its own; foreign tables stay (spec 2.3)."""
    existing = dict(
        select_rows(connection, "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')")
    )
    named = str(read_meta(connection).get("objects") or "").split() if "meta" in existing else []
    for name in dict.fromkeys((*reversed(named), *reversed(SCHEMA_OBJECTS))):
        if name in existing:
            connection.execute(f'DROP {existing[name]} IF EXISTS "{name}"')


def read_meta(connection: apsw.Connection) -> dict[str, int | str | None]:
    """All that the file says of itself."""
    return dict(select_rows(connection, "SELECT key, value FROM meta"))


def write_meta(connection: apsw.Connection, **values: int | str | None) -> None:
    """Set some keys, inside the caller's transaction."""
    connection.executemany("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", values.items())
