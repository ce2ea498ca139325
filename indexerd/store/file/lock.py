"""The writer's lock: one process writes an index, and the next one learns which.

`flock` on a file beside the database, taken before the database is opened; the kernel drops it with
the process, so there is no stale lock. What the file says is for people, but for the host: on a disk
that two machines share their kernels may not know of each other's locks.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sys
import time
from pathlib import Path
from typing import Final, Self

from indexerd.contract.live_state import HUNG_AFTER_S
from indexerd.contract.places import STATE_NAME
from indexerd.errors import AnotherWriterError, NotPermittedError, StorageError

PATIENCE_S: Final = 2.0  # readers probe with a shared lock for an instant; that must not look like a writer
PAUSE_S: Final = 0.02
OTHER_HOST_S: Final = HUNG_AFTER_S  # without a sign of life another host's writer is taken for gone
MESSAGE_BYTES: Final = 300  # of the other writer's words, as much as one line of an error bears


class WriterLock:
    """The lock, held from `acquire` to `release` or the end of the process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(
        cls, path: Path, *, mode: int = 0o600, group: int | None = None, patience_s: float = PATIENCE_S
    ) -> Self:
        """Take the lock at `path`, or raise AnotherWriterError after `patience_s`.

        `mode` and `group` (an id) are given to the file, so that readers of the index may probe it.
        """
        descriptor = _open_lock_file(path, mode, group)
        try:
            _wait_for(path, descriptor, patience_s)
            _respect_other_host(path, descriptor)
            _name_holder(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    def release(self) -> None:
        """Give the lock back. The file stays: removing it would let two writers in, one by each file."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)  # nobody is named: another host need not wait
            os.close(self._descriptor)
            self._descriptor = -1


def _open_lock_file(path: Path, mode: int, group: int | None) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, mode)
    except PermissionError as error:
        remedy = "run as the owner of the index, or name another place with --db"
        raise NotPermittedError(str(path), "the writer's lock cannot be opened", remedy) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StorageError(str(path), "is a symbolic link, not a lock", "remove it") from error
        if error.errno == errno.EROFS:
            problem, remedy = "lies on a read-only file system", "name another place with --db"
            raise NotPermittedError(str(path), problem, remedy) from error
        problem = f"the writer's lock cannot be opened ({error.strerror})"
        raise StorageError(str(path), problem, "check the disk and the folder") from error
    if os.fstat(descriptor).st_uid == os.geteuid():
        if group is not None:
            os.fchown(descriptor, -1, group)
        os.fchmod(descriptor, mode)
    return descriptor


def _wait_for(path: Path, descriptor: int, patience_s: float) -> None:
    give_up_at = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= give_up_at:
                raise AnotherWriterError(
                    str(path.parent),
                    f"the index is being written by {_holder(descriptor)}",
                    "stop that process first, or let it do the work",
                ) from error
        except OSError as error:
            raise StorageError(
                str(path), f"cannot be locked ({error.strerror})", "put the index on a local disk with --db"
            ) from error
        time.sleep(PAUSE_S)


def _respect_other_host(path: Path, descriptor: int) -> None:
    """Raise AnotherWriterError where a writer of another host left its name and gave a sign of life since.

    The file's own clock counts, which is the server's; the state of a daemon is touched while it works.
    """
    _, _, second = os.pread(descriptor, MESSAGE_BYTES * 2, 0).decode(errors="replace").partition("\n")
    host = "".join(mark for mark in second.strip() if mark.isprintable())
    if not host or host == this_host():
        return
    try:
        seen_ns = [os.fstat(descriptor).st_mtime_ns]
        with contextlib.suppress(OSError):
            seen_ns.append(os.stat(path.with_name(STATE_NAME)).st_mtime_ns)
        os.utime(descriptor)
        silent_s = (os.fstat(descriptor).st_mtime_ns - max(seen_ns)) / 1e9
        os.utime(descriptor, ns=(seen_ns[0], seen_ns[0]))  # a look is no sign of life
    except OSError:
        return
    if silent_s < OTHER_HOST_S:
        problem = f"the index is being written by {_holder(descriptor)} on the host {host[:MESSAGE_BYTES]}"
        remedy = (
            f"give each host an index of its own with --db, or wait {OTHER_HOST_S:.0f} s if it died there"
        )
        raise AnotherWriterError(str(path.parent), problem, remedy)


def this_host() -> str:
    """Give the name of this machine, as its indexes and locks tell it."""
    return os.uname().nodename


def _name_holder(descriptor: int) -> None:
    command = " ".join(sys.argv).replace("\n", " ")[:MESSAGE_BYTES]
    words = f"{os.getpid()} {command}\n{this_host()}\n".encode(errors="surrogateescape")
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, words, 0)
    except OSError:
        return  # a full disk must not keep a daemon from serving what it has


def _holder(descriptor: int) -> str:
    """The other writer in its own words, without what a terminal would act upon."""
    words, _, _ = os.pread(descriptor, MESSAGE_BYTES, 0).decode(errors="replace").partition("\n")
    pid, _, command = "".join(mark if mark.isprintable() else " " for mark in words).strip().partition(" ")
    if not pid.isdecimal():
        return "another process"
    return f"process {pid} ({command.strip()})" if command.strip() else f"process {pid}"
