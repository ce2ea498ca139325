"""What the daemon says of itself: counters, the state that readers see, a line for the manager.

The loop tells it the facts as they happen. It computes and never writes.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from indexerd.contract.live_state import LastScan, LiveState, Mode
from indexerd.core.sync.scheduler import Reason
from indexerd.core.sync.watch_faults import Fault
from indexerd.errors import IndexerdError, missing_program
from indexerd.pipeline.survey import Update
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


@dataclass(slots=True)
class Report:
    """The facts. `unavailable`: why the root cannot be believed; `started`: the first look is done.

    `trouble`: an error that is being waited out; `settings`: settings that were refused; `missed`:
    changes of which the watcher had not told, the last of them at `missed_at` (monotonic seconds).
    `index`: device and inode of the file that is written.
    """

    control: str | None = None
    index: tuple[int, int] | None = None
    building: bool = False
    started: bool = False
    watching: bool = False
    fault: Fault | None = None
    unavailable: str | None = None
    trouble: Trouble | None = None
    settings: Trouble | None = None
    wal: Trouble | None = None
    missed: int = 0
    missed_at: float = 0.0
    pages: int = 0
    generation: int = 0
    problems: int = 0
    last_scan: LastScan | None = None
    counters: Counter[str] = field(default_factory=Counter)

    def count_update(self, update: Update) -> None:
        """Transactions were committed."""
        self.generation = update.generation
        self.counters.update(commits=update.commits, upserted=update.upserted, deleted=update.deleted)
        if update.fallbacks:
            self.counters["read_slowly"] += update.fallbacks

    def count_scan(
        self, scan: LastScan, now: float, *, building: bool, generation: int, problems: int
    ) -> None:
        """The whole tree was looked at."""
        self.last_scan, self.pages = scan, scan.pages_seen
        if scan.reason == Reason.PERIODIC and now - self.missed_at >= MISSED_SHOWN_S:
            self.missed = 0
        self.building, self.generation, self.problems = building, generation, problems
        self.counters.update({"scans": 1, f"scans_{scan.reason}": 1})

    def count_missed(self, missed: int, now: float) -> None:
        """The last scan found changes that the watcher had not reported."""
        self.counters["missed_by_events"] += missed
        self.missed += missed
        self.missed_at = now
        if self.last_scan is not None:
            self.last_scan = self.last_scan.replace(missed_by_events=missed)

    def measure_wal(self, size: int) -> bool:
        """Looks at the size of the write-ahead log, in bytes; whether it has just become too large."""
        before, self.wal = self.wal, None
        if size > WAL_WARNING_BYTES:
            grown = f"the write-ahead log has {size >> 20} MiB, since a reader keeps a transaction open"
            self.wal = grown, "end the program that reads the index all the time"
        return self.wal is not None and before is None

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
            return "the first look at the tree is not finished", None
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
