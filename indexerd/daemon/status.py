"""What the daemon says of itself: counters, the state that readers see, a line for the manager.

The daemon tells it what happens, as it happens. It computes and never writes.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

from indexerd.contract.live_state import LastScan, LiveState, Mode
from indexerd.core.sync.scheduler import Reason
from indexerd.core.sync.watch_faults import Fault
from indexerd.errors import IndexerdError, missing_program
from indexerd.pipeline.results import Update
from indexerd.store.file.failures import explained

WAL_WARNING_BYTES: Final = 64 << 20  # a reader that keeps a transaction open lets it grow
MISSED_SHOWN_S: Final = 900.0  # long enough for a person to see it; the counter stays

# A queue that overflows, a folder filled before it was watched, a page written through a map: all are silent.
MISSED_REMEDY: Final = (
    'nothing is lost; if it goes on, raise sysctl fs.inotify.max_queued_events or set watch to "scan"'
)

Trouble = tuple[str, str | None]  # reason, remedy


def describe_trouble(error: Exception) -> Trouble:
    """The reason and the remedy of an error that is waited out."""
    error = missing_program() or error
    if isinstance(error, OSError):
        # What was opened by its descriptor has a number for a name.
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        error = explained(error, name) or error
    if isinstance(error, IndexerdError):
        where = f"{error.path}: " if error.path else ""
        return f"{where}{error.problem}", error.remedy
    return f"{type(error).__name__}: {error}", "it is tried again"


class Status:
    """The daemon's state in one record. Each method says what happened; nobody assigns a fact from outside.

    `started`: the first scan is done. `unavailable`: why the root cannot be believed. `trouble`: an error
    that is being waited out; `settings`: settings that were refused; `fault`: why there is no watcher;
    `missed`: changes that the watcher did not report, the last of them found at `missed_at` (monotonic s).
    `index`: device and inode of the file that is written; `control`: the socket, None without one.
    """

    def __init__(self, *, control: str | None, index: tuple[int, int] | None, building: bool) -> None:
        self.control = control
        self.index = index
        self.building = building
        self.started = False
        self.reloading = False
        self.watching = False
        self.fault: Fault | None = None
        self.unavailable: str | None = None
        self.trouble: Trouble | None = None
        self.settings: Trouble | None = None
        self.wal: Trouble | None = None
        self.missed = 0
        self.missed_at = 0.0
        self.pages = 0
        self.generation = 0
        self.problems = 0
        self.last_scan: LastScan | None = None
        self.counters: Counter[str] = Counter()

    # The watcher and the socket.

    def watch_opened(self) -> None:
        """The watcher reports changes from now on."""
        self.watching, self.fault = True, None
        self.counters["watch_opened"] += 1

    def watch_failed(self, fault: Fault) -> bool:
        """There are no events from now on; whether that, or the reason, is new."""
        is_new = fault != self.fault
        self.watching, self.fault = False, fault
        self.counters[f"watch_failed_{fault.kind}"] += 1
        return is_new

    def events_reported(self, count: int) -> None:
        """The watcher reported so many paths."""
        self.counters["events"] += count

    def socket_failed(self) -> None:
        """The socket cannot be opened, so nobody can ask for freshness."""
        self.control = None

    def machine_slept(self) -> None:
        """Time passed in which nothing could be noticed."""
        self.counters["gaps"] += 1

    # The settings and the index file.

    def reload_began(self) -> None:
        """The settings are read again; what they mean is known after the next scan."""
        self.reloading = True

    def settings_loaded(self) -> None:
        """The settings hold as they are written."""
        self.settings = None

    def settings_refused(self, error: Exception) -> None:
        """The settings cannot be used; the last good ones hold."""
        self.settings = describe_trouble(error)

    def index_given_up(self) -> None:
        """The index file is damaged or another one; a new one takes its place."""
        self.counters["index_replaced"] += 1

    def index_opened(self, place: tuple[int, int] | None) -> None:
        """Another index file is written from now on."""
        self.index = place

    def wal_measured(self, size: int) -> bool:
        """The write-ahead log has `size` bytes; whether it has just become too large."""
        before, self.wal = self.wal, None
        if size <= WAL_WARNING_BYTES:
            return False
        grown = f"the write-ahead log has {size >> 20} MiB, since a reader keeps a transaction open"
        self.wal = grown, "end the program that reads the index all the time"
        self.counters["wal_grown"] += before is None
        return before is None

    # The jobs.

    def job_failed(self, error: Exception) -> Trouble:
        """Nothing was written; it is tried again. Gives the reason and the remedy."""
        self.counters["failures"] += 1
        self.trouble = trouble = describe_trouble(error)
        return trouble

    def job_finished(self) -> None:
        """What was to be written is written, or the root is not there."""
        self.trouble = None

    def root_lost(self, reason: str) -> bool:
        """The root cannot be believed; whether that is new."""
        is_new = self.unavailable is None
        self.unavailable = reason
        self.counters["root_lost"] += is_new
        return is_new

    def root_found(self) -> None:
        """The root is there, or another one is believed."""
        self.unavailable = None

    def update_committed(self, update: Update) -> None:
        """Transactions were committed."""
        self.generation = update.generation
        self.counters.update(commits=update.commits, upserted=update.upserted, deleted=update.deleted)
        if update.fallbacks:
            self.counters["read_slowly"] += update.fallbacks

    def scan_finished(
        self, scan: LastScan, now: float, *, building: bool, generation: int, problems: int
    ) -> None:
        """The whole tree was scanned."""
        self.last_scan, self.pages = scan, scan.pages_seen
        if scan.reason == Reason.PERIODIC and now - self.missed_at >= MISSED_SHOWN_S:
            self.missed = 0
        self.building, self.generation, self.problems = building, generation, problems
        self.counters.update({"scans": 1, f"scans_{scan.reason}": 1})

    def changes_missed(self, missed: int, now: float) -> None:
        """The last scan found changes that the watcher had not reported."""
        self.counters["missed_by_events"] += missed
        self.missed += missed
        self.missed_at = now
        if self.last_scan is not None:
            self.last_scan = self.last_scan.replace(missed_by_events=missed)

    def became_ready(self) -> bool:
        """A first scan, or the one after a reload, is done, whatever it found; whether it was that one."""
        is_new = self.reloading or not self.started
        self.started, self.reloading = True, False
        return is_new

    # What they come to.

    @property
    def mode(self) -> str:
        """What is done about changes now."""
        if self.unavailable is not None:
            return Mode.ROOT_UNAVAILABLE
        if self.building:
            return Mode.BUILDING
        return Mode.WATCHING if self.watching and self.started else Mode.SCANNING

    @property
    def obstacles(self) -> tuple[str, ...]:
        """What keeps every change out of the index, for people."""
        trouble = () if self.trouble is None else (self.trouble[0],)
        return (*trouble, *(() if self.unavailable is None else (self.unavailable,)))

    def why(self) -> Trouble | None:
        """The reason, and the remedy, for what is not as it should be; the worst first."""
        if self.unavailable is not None:
            return self.unavailable, "put the folder back; its index is kept meanwhile"
        for trouble in (self.trouble, self.settings, self.wal):
            if trouble is not None:
                return trouble
        if self.fault is not None and not self.watching:
            return self.fault.reason, self.fault.remedy
        if not self.started:
            return "the first scan of the tree is not finished", None
        missed = f"{self.missed} changes were not reported and found by a scan", MISSED_REMEDY
        return missed if self.missed else None

    def state(self, pending: int, still_open: tuple[str, ...]) -> LiveState:
        """What readers are to know now."""
        reason, remedy = self.why() or (None, None)
        return LiveState(
            mode=self.mode,
            reason=reason,
            remedy=remedy,
            pending=pending,
            open=still_open,
            last_scan=self.last_scan,
            counters=dict(sorted(self.counters.items())),
            problems=self.problems,
            control=self.control,
            index=self.index,
        )

    def line(self) -> str:
        """One line for the service manager."""
        why = self.why()
        words = f"{self.mode}, {self.pages} pages, generation {self.generation}"
        return words if why is None else f"{words}: {why[0]}"
