"""Opens the file of an index for writing: creates it, moves it aside, or keeps it for a rebuild.

The lock is held and the header was looked at before anything here runs. Applies no plan.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import apsw

from indexerd.contract.file import CONTRACT_MAJOR, CONTRACT_MINOR, TERMS_VERSION
from indexerd.contract.moments import time_text
from indexerd.errors import DamagedIndexError
from indexerd.store.file.connection import (
    Identity,
    connect,
    create_schema,
    has_schema,
    is_current,
    is_whole,
    read_meta,
    renew_views,
    transaction,
    write_meta,
)
from indexerd.store.file.failures import explaining
from indexerd.store.file.files import (
    Access,
    Found,
    create_file,
    move_aside,
    put_in_place,
    remove,
    remove_companions,
    settle_modes,
)
from indexerd.store.file.lock import this_host
from indexerd.store.file.schema import SCHEMA_OBJECTS
from indexerd.store.write.fulltext import refill_grams

FOUND_DAMAGED: Final = -1  # in `meta.clean`: no check at opening may see what a write ran into

# Keys of `meta` that every index of this schema has and that the writer reads.
_RELIED_UPON: Final = frozenset({"building", "changes_floor", "clean", "contract", "projection_version"})
_ANEW: Final = "it is moved aside and rebuilt"


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection, and what was found on the way to it."""

    connection: apsw.Connection
    was_unclean: bool = False
    needs_rebuild: bool = False
    moved_aside: Path | None = None


def describe(root: str, name: str) -> Identity:
    """The identity to write into the file."""
    writer = f"indexerd {version('indexerd')}, SQLite {apsw.sqlite_lib_version()}"
    return Identity(root=root, name=name, writer=writer, created_at=time_text(time.time_ns()))


def open_database(path: Path, found: Found, access: Access, identity: Identity, *, anew: bool) -> Opened:
    """Open what is at `path`; what is damaged, or not wanted (`anew`), is moved aside for an empty index."""
    if found is Found.INDEX and not anew:
        try:
            with explaining(path):
                settle_modes(path, access)
                return _open_existing(path, identity)
        except DamagedIndexError:
            found = Found.DAMAGED
    staged = path.with_name(f"{path.name}.new")
    try:
        _make(staged, access, identity)
        moved_aside = None if found is Found.NOTHING else move_aside(path)
        put_in_place(staged, path)
    except BaseException:
        remove(staged)
        raise
    return Opened(connect(path), moved_aside=moved_aside)


def _make(path: Path, access: Access, identity: Identity) -> None:
    """Create an empty index, durable on the disk and without a log.

    Made elsewhere, so that no reader ever meets one without tables, and a full disk costs no old one.
    """
    remove(path)
    create_file(path, access)
    connection = connect(path)
    try:
        with transaction(connection):
            create_schema(connection, identity)
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()
    remove_companions(path)


def quick_check(connection: apsw.Connection) -> list[str]:
    """What SQLite finds wrong with the file, without the full text."""
    try:
        found = [str(line) for (line,) in connection.execute("PRAGMA quick_check(10)").fetchall()]
    except (apsw.CorruptError, apsw.SQLError) as error:
        return [str(error)]  # the latter where a declaration, or what FTS5 keeps, makes no sense
    return [] if found == ["ok"] else found


def _open_existing(path: Path, identity: Identity) -> Opened:
    connection = connect(path)
    try:
        if not has_schema(connection):
            with transaction(connection):
                create_schema(connection, identity)
        if not is_current(connection):
            _tell_identity(connection, identity)
            return Opened(connection, needs_rebuild=True)
        meta = _read_own_meta(connection, path)
        if meta["clean"] == FOUND_DAMAGED:
            raise DamagedIndexError(str(path), "it was found to be damaged", _ANEW)
        unclean = not meta["clean"]
        if unclean and (problems := quick_check(connection)):
            raise DamagedIndexError(str(path), problems[0], _ANEW)
        _bring_up_to_date(connection, meta, identity)
        if not is_whole(connection):
            raise DamagedIndexError(str(path), "its tables are not as they were made", _ANEW)
    except BaseException:
        connection.close()
        raise
    return Opened(connection, was_unclean=unclean)


def _tell_identity(connection: apsw.Connection, identity: Identity) -> None:
    """Let an index of another version say where its wiki is now, should it be moved before it is rebuilt."""
    try:
        meta = read_meta(connection)
    except apsw.SQLError:  # a version that says it otherwise
        return
    if (meta.get("root"), meta.get("name")) != (identity.root, identity.name):
        with transaction(connection):
            write_meta(connection, root=identity.root, name=identity.name)


def _read_own_meta(connection: apsw.Connection, path: Path) -> dict[str, int | str | None]:
    try:
        meta = read_meta(connection)
    except apsw.SQLError as error:
        raise DamagedIndexError(str(path), f"{error}", _ANEW) from error
    known = isinstance(meta.get("generation"), int) and isinstance(meta.get("index_id"), str)
    if not known or not meta.keys() >= _RELIED_UPON:
        raise DamagedIndexError(str(path), "it does not say what it is", _ANEW)
    return meta


def _bring_up_to_date(
    connection: apsw.Connection, meta: dict[str, int | str | None], identity: Identity
) -> None:
    """Update what a newer program or a moved root changes in the file; mostly nothing."""
    wanted: dict[str, int | str | None] = {
        "contract": f"{CONTRACT_MAJOR}.{CONTRACT_MINOR}",
        "root": identity.root,
        "name": identity.name,
        "writer": identity.writer,
        "host": this_host(),
        "terms_version": TERMS_VERSION,
        "objects": " ".join(SCHEMA_OBJECTS),
    }
    changed = {key: value for key, value in wanted.items() if meta.get(key) != value}
    if not changed:
        return
    with transaction(connection):
        if "contract" in changed:
            renew_views(connection)
        if "terms_version" in changed:
            refill_grams(connection)
        write_meta(connection, **changed)
