"""Takes in what the watcher reports: paths for the scheduler, deaths for the status.

Decides nothing about what to do; everything comes and is called in the event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexerd.contract.places import is_below
from indexerd.core.sync.event_paths import cover_of, is_configuration
from indexerd.core.sync.scheduler import Reason, Scheduler
from indexerd.core.sync.watch_faults import Fault
from indexerd.daemon.scan_audit import ScanBook
from indexerd.daemon.status import Status


class WatchEvents:
    """The observer of a watcher. `wake` is called after everything that may be work.

    `ask_reload` is called when a settings file changed. `own_paths`: what the daemon writes itself, as paths
    from the root.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        status: Status,
        scans: ScanBook,
        own_paths: tuple[str, ...],
        wake: Callable[[], None],
        ask_reload: Callable[[], None],
        clock: Callable[[], float],
        log: Any,
    ) -> None:
        self._scheduler = scheduler
        self._status = status
        self._scans = scans
        self._own_paths = own_paths
        self._wake = wake
        self._ask_reload = ask_reload
        self._clock = clock
        self._log = log

    def matters(self, path: str) -> bool:
        """Whether a change of this path can mean work; our own writes must not."""
        if any(is_below(path, own) for own in self._own_paths):
            return False
        return cover_of(path) is not None

    def watch_opened(self) -> None:
        """The watcher reports from now on; a scan finds what happened before."""
        self._status.watch_opened()
        self._scheduler.watch_opened()
        self._scheduler.ask_scan(Reason.WATCH, self._clock())
        self._log.info("watch.opened")
        self._wake()

    def watch_failed(self, fault: Fault) -> None:
        """No events from now on: scans are all there is."""
        self._scheduler.watch_failed()
        if self._status.watch_failed(fault):
            self._log.warning("watch.failed", kind=fault.kind, reason=fault.reason, remedy=fault.remedy)
            self._scheduler.ask_scan(Reason.WATCH, self._clock())
        self._wake()

    def paths_changed(self, paths: frozenset[str], quiet_s: float) -> None:
        """Something happened at these paths."""
        when = self._clock() - quiet_s
        for path in paths:
            cover = cover_of(path)
            if cover is not None:
                if is_configuration(path):
                    self._ask_reload()
                self._scheduler.report(cover, when)
                self._scans.report(cover)
        self._status.events_reported(len(paths))
        self._wake()
