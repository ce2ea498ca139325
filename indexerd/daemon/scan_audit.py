"""Compares whole scans with what the watcher reported, to count the changes that it missed.

A change made just before a scan is found by the scan first and reported a moment later; so what was
missed is counted when a report could no longer come. Computes, and writes nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from indexerd.contract.live_state import LastScan
from indexerd.contract.moments import time_text
from indexerd.core.sync.scheduler import Job, Reason, find_unreported
from indexerd.daemon.sync_pass import SyncResult

REPORT_PATIENCE_S: Final = 0.5  # a change is reported within 70 ms

# Only a scan that nobody asked for tells what the watcher missed; for the others it was not there, or
# its report was not awaited.
_TELLING: Final = frozenset({Reason.PERIODIC, Reason.STORM})


@dataclass(slots=True)
class Finding:
    """What one scan found. `reported`: paths that the watcher reported, or reports by `due_at`."""

    reason: Reason
    result: SyncResult
    due_at: float
    telling: bool
    reported: set[str] = field(default_factory=set)

    @property
    def missed(self) -> int:
        """Changes that the watcher did not report."""
        return len(find_unreported(self.result.changed, self.reported)) if self.telling else 0

    def as_last_scan(self) -> LastScan:
        """The scan as `state.json` shows it."""
        return LastScan(
            started_at=time_text(self.result.scanned.scan.started_ns),
            finished_at=time_text(time.time_ns()),
            reason=self.reason,
            pages_seen=len(self.result.scanned.scan.stamps),
            pages_changed=self.result.update.changed,
            missed_by_events=0,
        )


class ScanBook:
    """The scans whose outcome is not settled yet. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._open: list[Finding] = []
        self._reported: set[str] = set()  # since the last job began

    def begin(self) -> None:
        """A job begins; what is reported from now on may be what it finds."""
        self._reported = set()

    def enter(self, job: Job, result: SyncResult, now: float, *, watching: bool) -> Finding:
        """The scan that began last is done."""
        telling = watching and job.reason in _TELLING and bool(result.changed)
        due_at = now + REPORT_PATIENCE_S if telling else now
        finding = Finding(job.reason, result, due_at, telling, {*job.expected, *self._reported})
        self._open.append(finding)
        return finding

    def report(self, path: str) -> None:
        """The watcher reported a change."""
        self._reported.add(path)
        for finding in self._open:
            finding.reported.add(path)

    @property
    def next_at(self) -> float | None:
        """When the next one is settled, None without one."""
        return min((finding.due_at for finding in self._open), default=None)

    def take_due(self, now: float) -> Finding | None:
        """One that is settled by now."""
        for finding in self._open:
            if finding.due_at <= now:
                self._open.remove(finding)
                return finding
        return None
