"""A disk that remembers every write, truncation and sync, and what a power failure may leave of them.

An apsw VFS over the system's own: SQLite works on real files, and the log says what was promised to
be on the disk. Without shared memory, so connections are made with locking_mode=EXCLUSIVE.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest import mock

import apsw

SECTOR_BYTES: Final = 512  # what a disk writes whole or not at all
VFS_NAME: Final = "logged"
SYSTEM_VFS: Final = "unix"


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes that were written; they may or may not be on the disk before the next sync."""

    name: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    """The file was cut to this size, or removed (None)."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Sync:
    """All that was done to the file before is on the disk now."""

    name: str


@dataclass(frozen=True, slots=True)
class SyncFolder:
    """Files that were removed before will not come back."""

    name: str


@dataclass(frozen=True, slots=True)
class Rename:
    """The file has another name, for certain once the folder is synced."""

    name: str
    to: str


Operation = Write | Truncate | Sync | SyncFolder | Rename
Files = dict[str, bytes]


@dataclass(slots=True)
class Log:
    """What was done to the files of one folder, by their names, in order."""

    operations: list[Operation] = field(default_factory=list)

    def add(self, operation: Operation) -> None:
        if not operation.name.endswith(("-shm", ".lock")):
            self.operations.append(operation)


class _LoggedFile(apsw.VFSFile):
    def __init__(self, log: Log, filename: str | apsw.URIFilename, flags: list[int]) -> None:
        path = filename.filename() if isinstance(filename, apsw.URIFilename) else filename
        self._log = log
        self._name = Path(path).name
        self._is_new = not Path(path).exists()
        super().__init__(SYSTEM_VFS, filename, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._log.add(Write(self._name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._log.add(Truncate(self._name, newsize))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._log.add(Sync(self._name))
        if self._is_new:  # SQLite's unix VFS syncs the folder with a new journal or log (os_unix.c)
            self._log.add(SyncFolder(""))
            self._is_new = False


class _LoggedDisk(apsw.VFS):
    def __init__(self, log: Log) -> None:
        self._log = log
        super().__init__(VFS_NAME, SYSTEM_VFS, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if name is None:
            return apsw.VFSFile(SYSTEM_VFS, name, flags)
        return _LoggedFile(self._log, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self._log.add(Truncate(Path(filename).name, None))
        if syncdir:
            self._log.add(SyncFolder(""))


@contextmanager
def logging_disk() -> Iterator[Log]:
    """Every database that this process opens meanwhile is on a logged disk."""
    log = Log()
    disk = _LoggedDisk(log)

    def alone(connection: apsw.Connection) -> None:
        connection.pragma("locking_mode", "EXCLUSIVE")

    really_replace = os.replace

    def replace(source: Path, target: Path) -> None:
        really_replace(source, target)
        log.add(Rename(Path(source).name, Path(target).name))

    apsw.connection_hooks.append(alone)
    try:
        with mock.patch("os.replace", replace):
            yield log
    finally:
        apsw.connection_hooks.remove(alone)
        disk.unregister()


@dataclass(slots=True)
class Disk:
    """What is certainly on the disk, and what is on its way there."""

    durable: Files
    pending: dict[str, list[Write | Truncate]] = field(default_factory=dict)
    renames: list[Rename] = field(default_factory=list)

    def play(self, operations: Sequence[Operation]) -> None:
        """Bring the disk forward over these operations."""
        for operation in operations:
            if isinstance(operation, SyncFolder):
                self._settle_removals()
                self.renames.clear()
                continue
            if isinstance(operation, Rename):
                _rename(self.durable, operation.name, operation.to)
                _rename(self.pending, operation.name, operation.to)
                self.renames.append(operation)
                continue
            waiting = self.pending.setdefault(operation.name, [])
            if isinstance(operation, Sync):
                content = _applied(self.durable.get(operation.name), waiting)
                waiting.clear()
                if content is not None:
                    self.durable[operation.name] = content
                else:
                    self.durable.pop(operation.name, None)
            else:
                waiting.append(operation)

    def _settle_removals(self) -> None:
        for name, waiting in self.pending.items():
            removed = [
                nth for nth, done in enumerate(waiting) if isinstance(done, Truncate) and done.size is None
            ]
            if removed:
                del waiting[: removed[-1] + 1]
                self.durable.pop(name, None)

    def survivors(self, chance: random.Random, lost: float, torn: float) -> Files:
        """What is left when the power fails now: each write on its way arrives, is lost, or is torn.

        With both chances 0 nothing is lost: the process died, and the system went on.
        """
        left = {}
        for name in self.durable.keys() | self.pending.keys():
            arrived: list[Write | Truncate] = []
            for operation in self.pending.get(name, ()):
                fate = chance.random()
                if fate < lost:
                    continue
                if fate < lost + torn and isinstance(operation, Write):
                    arrived += _pieces(operation, chance)
                else:
                    arrived.append(operation)
            content = _applied(self.durable.get(name), arrived)
            if content is not None:
                left[name] = content
        for rename in reversed(self.renames):
            if chance.random() < lost:
                _rename(left, rename.to, rename.name)
        return left


def _rename(files: dict[str, Any], name: str, to: str) -> None:
    files.pop(to, None)
    if name in files:
        files[to] = files.pop(name)


def _pieces(write: Write, chance: random.Random) -> Iterator[Write]:
    """Some of the sectors of a write."""
    for start in range(0, len(write.data), SECTOR_BYTES):
        if chance.random() < 0.5:
            yield Write(write.name, write.offset + start, write.data[start : start + SECTOR_BYTES])


def _applied(content: bytes | None, operations: Sequence[Write | Truncate]) -> bytes | None:
    if not operations:
        return content
    changed = None if content is None else bytearray(content)
    for operation in operations:
        if isinstance(operation, Write):
            changed = bytearray() if changed is None else changed
            end = operation.offset + len(operation.data)
            changed.extend(bytes(max(0, end - len(changed))))
            changed[operation.offset : end] = operation.data
        elif operation.size is None:
            changed = None
        elif changed is not None:
            del changed[operation.size :]
            changed.extend(bytes(operation.size - len(changed)))
    return None if changed is None else bytes(changed)
