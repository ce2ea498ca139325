"""Merging and checkpointing between batches, so that no commit pays for them (spec 2.3, 3.5).

Bounded pieces while there is work, the WAL emptied once it is quiet, and then nothing: an idle
daemon commits nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Final

from indexerd.contract.file import PAGE_SIZE
from indexerd.errors import DamagedIndexError
from indexerd.store import Store

MERGE_EVERY_COMMITS: Final = 4  # 50 pages every 4 edits keep the tail at 7 ms and the file from growing
IDLE_AFTER_S: Final = 2.0  # without a commit
IDLE_RETRY_S: Final = 60.0  # a reader held the checkpoint up
PASSIVE_PAGES: Final = (4 << 20) // PAGE_SIZE  # of the WAL, moved to the file between two batches


class Maintenance:
    """The policy over one store. Times are monotonic seconds."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._unmerged = 0
        self._idle_at: float | None = None
        self._check_at: float | None = None
        self._memory_at: float | None = None
        self._held_up = 0  # pages that a reader kept in the WAL at the last checkpoint

    @property
    def next_at(self) -> float | None:
        """When the WAL is to be emptied, the full text checked or memory given back; None: nothing to do."""
        times = (self._idle_at, self._check_at, self._memory_at)
        return min((at for at in times if at is not None), default=None)

    @property
    def wal_bytes(self) -> int:
        """The size of the WAL."""
        return self._store.wal_bytes

    def committed(self, commits: int) -> None:
        """So many transactions were committed."""
        if commits:
            self._unmerged += commits
            self._idle_at = self._clock() + IDLE_AFTER_S

    def scanned(self) -> None:
        """The whole tree was scanned, which takes memory for every page."""
        self._memory_at = self._clock() + IDLE_AFTER_S

    def ask_check(self) -> None:
        """The last writer died: whether the full text says what the rows say, only a check tells."""
        self._check_at = self._clock()

    def is_due(self) -> bool:
        """Whether there is something to do between two batches now."""
        now, at = self._clock(), self.next_at
        return (at is not None and now >= at) or self._unmerged >= MERGE_EVERY_COMMITS or self._too_long()

    def run(self) -> None:
        """A bounded piece of what the last commits left to do. Raises StorageError."""
        if self._check_at is not None and self._clock() >= self._check_at:
            self._check()
        if self._unmerged >= MERGE_EVERY_COMMITS:
            self._unmerged = 0
            self._store.merge()
        if self._too_long():
            moved = self._store.checkpoint()
            self._held_up = 0 if moved.complete else self._store.wal_pages
        if self._idle_at is not None and self._clock() >= self._idle_at:
            emptied = self._store.checkpoint(truncate=True).complete
            self._idle_at = None if emptied else self._clock() + IDLE_RETRY_S
            self._held_up = 0 if emptied else self._store.wal_pages
        if self._memory_at is not None and self._clock() >= self._memory_at:
            self._memory_at = None
            self._store.release_memory()
            give_back_memory()

    def put_off(self) -> None:
        """It failed; nothing is lost by doing it later."""
        later = self._clock() + IDLE_RETRY_S
        self._idle_at = later
        if self._check_at is not None:
            self._check_at = later
        self._unmerged = 0
        self._held_up = self._store.wal_pages

    def _check(self) -> None:
        problems = self._store.check_integrity()
        self._check_at = None
        if problems:
            raise DamagedIndexError(str(self._store.path), problems[0], "it is moved aside and rebuilt")

    def _too_long(self) -> bool:
        return self._store.wal_pages > self._held_up + PASSIVE_PAGES


def give_back_memory() -> None:
    """Lets glibc return what it holds free: of 6,280 pages, 36 MB after a build, 7 after a scan."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
