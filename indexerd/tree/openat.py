"""Opening things below the root by descriptor, so that nothing outside it is ever opened.

No link is followed on the way, whoever swaps a folder for one meanwhile; where links count, a link is
resolved first and its real path is opened without links. Decides nothing about pages.
"""

from __future__ import annotations

import errno
import os
from typing import Final

from indexerd.core.model import Diagnostic, Stamp
from indexerd.core.sync.reconcile import READ_FAILED, UNREADABLE

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK opening a FIFO waits for its writer, for ever.
FILE_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY

_new = tuple.__new__
_LARGEST: Final = 2**63 - 1  # that SQLite holds as an integer
_ABSENT: Final = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}  # the last two: swapped for a file or a link
_FORBIDDEN: Final = {errno.EACCES, errno.EPERM}
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}  # says nothing of the file


def is_absence(error: OSError) -> bool:
    """Whether the error says that nothing is there, as against that it could not be looked at."""
    return error.errno in _ABSENT


def is_exhaustion(error: OSError) -> bool:
    """Whether the error is about what this process has left, not about what it looked at."""
    return error.errno in _EXHAUSTED


def unreadable(error: OSError) -> Diagnostic:
    """Why something keeps its rows: it could not be looked at.

    Raises the error when it is this process that has no descriptor or memory left.
    """
    if is_exhaustion(error):
        raise error
    reason = f"cannot be read ({os.strerror(error.errno or 0)})"
    if error.errno in _FORBIDDEN:
        return Diagnostic(UNREADABLE, f"{reason}; change its permissions")
    return Diagnostic(READ_FAILED, f"{reason}; it is tried again")


def stamp_of(facts: os.stat_result) -> Stamp:
    """The part of a stat that tells an unchanged file, each number as SQLite can hold it.

    A date after the year 2262 and an inode of some overlays do not fit otherwise. What is compared is
    only whether stamps are equal, and the change time, which nobody can set, tells two late dates apart.
    """
    inode, mtime_ns, ctime_ns = facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns
    if inode > _LARGEST or not -_LARGEST <= mtime_ns <= _LARGEST or not -_LARGEST <= ctime_ns <= _LARGEST:
        inode = inode - 2**64 if inode > _LARGEST else inode  # the same 64 bits
        mtime_ns, ctime_ns = (max(-_LARGEST, min(time, _LARGEST)) for time in (mtime_ns, ctime_ns))
    # Half the time of Stamp(...), which binds each field by name; a scan makes one for every page.
    return _new(Stamp, (facts.st_dev, inode, facts.st_size, mtime_ns, ctime_ns))


def open_below(root: int, path: str, flags: int, *, real_root: str | None = None) -> int:
    """Open `path` below the descriptor `root`, one name after the other and never through a link.

    With `real_root` a link counts as what it leads to, if that is below the root.
    """
    try:
        return _open_without_links(root, path, flags)
    except OSError as error:
        target = None if real_root is None or not is_absence(error) else resolve_below(real_root, path)
        if target is None:
            raise
    return _open_without_links(root, target, flags)


def _open_without_links(root: int, path: str, flags: int) -> int:
    *folders, name = path.split("/")
    if any(part in {"", ".", ".."} for part in (*folders, name)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    at = root
    try:
        for part in folders:
            below = os.open(part, FOLDER_FLAGS, dir_fd=at)
            if at != root:
                os.close(at)
            at = below
        return os.open(name, flags, dir_fd=at)
    finally:
        if at != root:
            os.close(at)


def resolve_below(real_root: str, path: str) -> str | None:
    """Where the links in `path` lead, relative to the root; None when nowhere or out of it."""
    try:
        real = os.path.realpath(os.path.join(real_root, path), strict=True)
    except OSError:
        return None
    if real == real_root:
        return ""
    above = real_root.rstrip("/") + "/"
    return real.removeprefix(above) if real.startswith(above) else None


def read_up_to(descriptor: int, limit: int) -> bytes:
    """What is there from the descriptor's place on, at most `limit` bytes."""
    parts = []
    while limit > 0 and (part := os.read(descriptor, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
