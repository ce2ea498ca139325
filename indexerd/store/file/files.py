"""The files of an index before SQLite sees them: folder, modes, header, moving aside.

`-wal` and `-shm` inherit the database's mode, so it has its final one first (spec 2.3). No file is
opened here once a connection of this process is: closing it would drop SQLite's locks.
"""

from __future__ import annotations

import errno
import grp
import os
import stat
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from indexerd.contract.file import APPLICATION_ID
from indexerd.contract.places import make_private_folders
from indexerd.errors import ConfigurationError, ForeignFileError, StorageError

_MAGIC: Final = b"SQLite format 3\x00"  # https://sqlite.org/fileformat2.html#the_database_header
_APPLICATION_ID_AT: Final = 68
_HEADER_BYTES: Final = 100
_COMPANIONS: Final = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read: modes of folder and files, and the group they belong to (an id) when shared."""

    folder_mode: int
    file_mode: int
    group: int | None


PRIVATE: Final = Access(0o700, 0o600, None)
_OUR_FOLDER_MODES: Final = frozenset({0o700, 0o2750})


class Found(Enum):
    """What lies at the index's place."""

    NOTHING = auto()
    INDEX = auto()
    DAMAGED = auto()


def access_for(share_group: str | None) -> Access:
    """The modes for an index of one's own, or for one shared with the group of that name."""
    if share_group is None:
        return PRIVATE
    try:
        group = grp.getgrnam(share_group).gr_gid
    except KeyError:
        raise ConfigurationError(
            "share_group", f"there is no group {share_group!r}", "name a group of this machine"
        ) from None
    return Access(0o2750, 0o640, group)


def prepare_folder(folder: Path, access: Access) -> None:
    """Make the folder with its mode, or give its mode to one that this program made.

    The folder of a `--db` elsewhere keeps the mode that its owner chose.
    """
    existed = folder.exists()
    make_private_folders(str(folder))
    found = folder.stat()
    if found.st_uid != os.geteuid() or (existed and stat.S_IMODE(found.st_mode) not in _OUR_FOLDER_MODES):
        return
    if access.group is not None and found.st_gid != access.group:
        os.chown(folder, -1, access.group)
    if stat.S_IMODE(found.st_mode) != access.folder_mode:
        folder.chmod(access.folder_mode)


def inspect_file(path: Path, *, may_be_damaged: bool) -> Found:
    """Read the header without SQLite, since opening a foreign file with SQLite may change that file.

    Raises ForeignFileError for anything that is not an index. `may_be_damaged`: that an index was here
    is certain, so a file whose header is no database's is that one, damaged.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return Found.NOTHING
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        remedy = "name the file itself with --db"
        raise ForeignFileError(str(path), "is a symbolic link", remedy) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ForeignFileError(str(path), "is not a file", "name another place with --db")
        header = os.pread(descriptor, _HEADER_BYTES, 0)
    finally:
        os.close(descriptor)
    if not header:
        return Found.NOTHING
    ours = header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4] == APPLICATION_ID.to_bytes(4, "big")
    if header.startswith(_MAGIC) and ours:
        return Found.INDEX
    if header.startswith(_MAGIC) or not (ours or may_be_damaged):
        raise ForeignFileError(
            str(path),
            "is not an index of this program, it is left alone",
            "move it away, or name another place with --db",
        )
    return Found.DAMAGED


def create_file(path: Path, access: Access) -> None:
    """Make an empty file with its final mode for SQLite to fill; of an existing one, set the mode."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, access.file_mode)
    os.close(descriptor)
    settle_modes(path, access)


def settle_modes(path: Path, access: Access) -> None:
    """Give the database and what lies beside it the mode and group they should have."""
    for suffix in _COMPANIONS:
        name = f"{path}{suffix}"
        try:
            found = os.lstat(name)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode):
            raise StorageError(name, "is not a file", "remove it")
        if found.st_uid != os.geteuid():
            remedy = "run as that user, or remove the file"
            raise StorageError(name, f"belongs to user {found.st_uid}", remedy)
        if access.group is not None and found.st_gid != access.group:
            os.chown(name, -1, access.group)
        if stat.S_IMODE(found.st_mode) != access.file_mode:
            os.chmod(name, access.file_mode)


def move_aside(path: Path) -> Path:
    """Rename a damaged index with its `-wal` and `-shm`, over an earlier one; give its new name."""
    aside = path.with_name(f"{path.name}.damaged")
    for suffix in _COMPANIONS:
        try:
            os.replace(f"{path}{suffix}", f"{aside}{suffix}")
        except FileNotFoundError:
            Path(f"{aside}{suffix}").unlink(missing_ok=True)
    return aside


def put_in_place(staged: Path, path: Path) -> None:
    """Give a database that has no log the name of one that is gone; a log left by that one goes too."""
    remove_companions(path)
    os.replace(staged, path)


def remove(path: Path) -> None:
    """Remove a database and what lies beside it, whatever of it there is."""
    path.unlink(missing_ok=True)
    remove_companions(path)


def remove_companions(path: Path) -> None:
    """Remove what lies beside a database."""
    for suffix in filter(None, _COMPANIONS):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
