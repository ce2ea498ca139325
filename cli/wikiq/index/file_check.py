"""Checks a file before SQLite opens it: that it is there, readable and an index."""

from __future__ import annotations

import os
import stat

from wikiq.errors import ForeignIndexError, NoIndexError, UnreadableIndexError

TYPE_CHECKING = False

_PARTS = ("-wal", "-shm", "-journal")  # that SQLite opens beside the file; for a pipe it would wait for ever


def check_file(path: str) -> None:
    """Raise NoIndexError, ForeignIndexError or UnreadableIndexError for what cannot be opened as an index."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise NoIndexError(path, "there is no index", "run `indexerd build` in the wiki's folder") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnreadableIndexError(path, f"{reason}", "check that you may read it and its folder") from None
    if not os.path.isfile(path):
        raise ForeignIndexError(path, "is not a file", "name the index file with --db")
    if not os.access(path, os.R_OK):
        raise UnreadableIndexError(path, "permission denied", "ask its owner to share it (share_group)")
    for part in _PARTS:
        if _is_special(path + part):
            raise ForeignIndexError(path + part, "is not a file", "remove it")
    if found.st_size == 0:
        raise ForeignIndexError(path, "is empty", "run `indexerd build` in the wiki's folder")


def _is_special(path: str) -> bool:
    """Tell whether something other than a file is there, by one stat: the writer's files come and go."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def identity_of(path: str) -> tuple[int, int] | None:
    """Give device and inode of a file, None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def stamp_of(path: str) -> tuple[int, int] | None:
    """Give size and time of the last write; what is written in between is seen as a change."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
