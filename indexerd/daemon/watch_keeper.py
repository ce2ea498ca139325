"""Keeps a watcher at the root: opens it, reopens it when it died, says why when there is none.

What a watcher reports is handed on as it comes. Without one the daemon scans; that is not decided
here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final, Protocol

import anyio

from indexerd.core.sync.intervals import back_off_s
from indexerd.core.sync.watch_faults import Fault, FaultKind
from indexerd.tree.mounts import MOUNT_TABLE, find_event_free
from indexerd.tree.watcher import Listener, Watcher

STEADY_AFTER_S: Final = 60.0  # a watcher that lived so long starts the back-off again
REOPEN_INTERVAL_S: Final = 60.0  # a watcher that misses changes is replaced no more often

CONFIGURED: Final = Fault(FaultKind.CONFIGURED, "watch is set to scan", 'set watch to "auto" to use events')


class WatchObserver(Listener, Protocol):
    """Who is told what the watcher reports, and whether there is one."""

    def watch_failed(self, fault: Fault) -> None:
        """There are no events from now on."""


class WatchKeeper:
    """`scan_only`: the settings say that no watcher is wanted. `mount_table`: where mounts are listed."""

    def __init__(
        self,
        watcher: Watcher,
        observer: WatchObserver,
        *,
        scan_only: bool,
        mount_table: str = MOUNT_TABLE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watcher = watcher
        self._observer = observer
        self._scan_only = scan_only
        self._mount_table = mount_table
        self._clock = clock
        self._scope: anyio.CancelScope | None = None
        self._following = False
        self._reopened_at = float("-inf")

    async def run(self) -> None:
        """Until cancelled."""
        failures = 0
        while True:
            began = self._clock()
            fault = CONFIGURED if self._scan_only else self._event_free()
            if fault is None:
                self._following = True
                with anyio.CancelScope() as self._scope:
                    fault = await self._watcher.follow(self._observer)
                self._following = False
            if fault is None:
                continue  # it was to be reopened
            self._observer.watch_failed(fault)
            failures = 1 if self._clock() - began > STEADY_AFTER_S else failures + 1
            with anyio.move_on_after(back_off_s(failures)) as self._scope:
                if fault.kind is FaultKind.NOT_PERMITTED:
                    await self._watcher.follow_readable(self._observer)
                await anyio.sleep_forever()

    def reopen(self, *, scan_only: bool | None = None) -> None:
        """Reopens the watcher at once: the root is another folder, or the settings changed."""
        if scan_only is not None:
            self._scan_only = scan_only
        if self._scope is not None:
            self._scope.cancel()

    def doubt(self) -> bool:
        """The watcher missed a change. It is reopened, at most once a minute; whether it is."""
        now = self._clock()
        if now - self._reopened_at < REOPEN_INTERVAL_S:
            return False
        self._reopened_at = now
        self.reopen()
        return True

    def check_mounts(self) -> None:
        """Reopens it where a file system without events has been mounted under a watcher."""
        if self._following and self._event_free() is not None:
            self.reopen()

    def _event_free(self) -> Fault | None:
        return find_event_free(os.path.realpath(self._watcher.root), self._mount_table)
