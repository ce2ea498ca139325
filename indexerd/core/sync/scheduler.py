"""The scheduler: a settled batch, a scan of everything, or nothing until some time.

Pure: the daemon reports what happened with the monotonic time, asks for the next job, and says how
it went. Nothing is lost by a failure: what a failed job was about is put back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from indexerd.core.sync.debounce import Batch, Debouncer
from indexerd.core.sync.intervals import SHORTEST_INTERVAL_S, back_off_s, scan_interval_s
from indexerd.core.sync.paths import ROOT, folders_above

EVERYTHING: Final = (ROOT,)


class Reason(StrEnum):
    """Why a job is done."""

    START = "start"
    EVENTS = "events"
    STORM = "storm"  # many changes, now quiet
    PERIODIC = "periodic"
    RELOAD = "reload"
    BARRIER = "barrier"
    GAP = "gap"  # the machine slept or the clock jumped
    WATCH = "watch"  # the watcher was reopened
    SECOND_LOOK = "second_look"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Job:
    """`covers`: paths to scan, each with all below it; `EVERYTHING` is a scan of the whole tree.

    `expected`: the paths among them, or below them, that were reported as changed.
    """

    covers: tuple[str, ...]
    reason: Reason
    expected: tuple[str, ...] = ()

    @property
    def is_scan(self) -> bool:
        """Whether the whole tree is scanned."""
        return self.covers == EVERYTHING


class Scheduler:
    """Decides the next job. Without events from a watcher, scans are all there is.

    A queue that runs over tells nobody, and the daemon's own reading may be what fills it. So changes
    are followed by scans until two in a row have found nothing, and nothing was reported meanwhile.
    """

    def __init__(self) -> None:
        self._watching = False
        self._shortest_interval_s = SHORTEST_INTERVAL_S
        self._debouncer = Debouncer()
        self._asked: dict[Reason, float] = {}  # scans asked for, with the time before which they are not due
        self._last_scan_end: float | None = None
        self._last_scan_s = 0.0
        self._moved = False  # something was reported or found since the last scan began
        self._moved_before = False  # the same of that scan: what was read then may have flooded the watcher
        self._failures = 0
        self._blocked_until = float("-inf")

    @property
    def pending(self) -> int:
        """Paths and folders that differ and could not be written; a scan that failed counts as one."""
        return self._debouncer.differing + (Reason.RETRY in self._asked)

    @property
    def failures(self) -> int:
        """Jobs that failed in a row."""
        return self._failures

    def watch_opened(self) -> None:
        """Events come from now on."""
        self._watching = True

    def watch_failed(self) -> None:
        """No events come from now on."""
        self._watching = False

    def set_shortest_interval(self, seconds: float) -> None:
        """The least time between two periodic scans, which the settings may change."""
        self._shortest_interval_s = seconds

    def report(self, path: str, now: float, *, delay: float = 0.0) -> None:
        """Something happened at `path`; `ROOT` is the root itself. Not scanned for `delay` seconds."""
        self._moved = True
        self._debouncer.add(path, now, subtree=path == ROOT, delay=delay)

    def rest(self, path: str, until: float) -> None:
        """A page that costs much is not followed by events before `until`; a scan still sees it."""
        self._debouncer.rest(path, until)

    def scan_when_quiet(self, now: float) -> None:
        """A folder changed: the watcher may have missed what happened inside, so scan when it is over."""
        self._debouncer.scan_when_quiet(now)

    def ask_scan(self, reason: Reason, at: float) -> None:
        """Asks for a scan of everything, not before `at`."""
        self._asked[reason] = min(self._asked.get(reason, at), at)

    def next_at(self) -> float | None:
        """When there is something to do, None while a scan was never done and nobody asked for one."""
        candidates = (*self._asked.values(), self._periodic_at(), self._debouncer.next_due())
        times = [time for time in candidates if time is not None]
        return max(min(times), self._blocked_until) if times else None

    def next_job(self, now: float) -> Job | None:
        """What to do now. A scan of everything takes all that waits with it."""
        if now < self._blocked_until:
            return None
        reason = self._scan_due(now)
        if reason is not None:
            return self._scan(reason, self._debouncer.waiting)
        batch = self._debouncer.due(now)
        if batch is None:
            return None
        if batch.trailing or ROOT in batch.subtrees:
            return self._scan(Reason.STORM, (*batch.paths, *batch.subtrees, *self._debouncer.waiting))
        covers = (*batch.paths, *batch.subtrees)
        return Job(covers, Reason.EVENTS, covers)

    def finish(self, job: Job, ended: float, *, scan_s: float = 0.0, changed: bool = False) -> None:
        """The job is done. A scan of everything took `scan_s`; `changed`: it led to a commit."""
        self._failures = 0
        if job.is_scan:
            self._last_scan_end, self._last_scan_s = ended, scan_s
            self._moved |= changed

    def fail(self, job: Job, now: float) -> float:
        """The job failed; all it was about waits again. Gives the seconds until then."""
        self._failures += 1
        wait = back_off_s(self._failures)
        self._blocked_until = now + wait
        if job.is_scan:
            self.ask_scan(Reason.RETRY, self._blocked_until)
        else:
            self._debouncer.put_back(Batch(subtrees=job.covers), now, delay=wait)
        return wait

    def retry_now(self) -> None:
        """Something was mended, a person said so: no longer wait."""
        self._blocked_until = float("-inf")

    def _periodic_at(self) -> float | None:
        if self._last_scan_end is None:
            return None
        confirmed = not (self._moved or self._moved_before)
        return self._last_scan_end + scan_interval_s(
            self._last_scan_s,
            watching=self._watching,
            confirmed=confirmed,
            shortest_s=self._shortest_interval_s,
        )

    def _scan_due(self, now: float) -> Reason | None:
        due = [reason for reason, at in self._asked.items() if at <= now]
        if due:
            return due[0]
        periodic = self._periodic_at()
        return Reason.PERIODIC if periodic is not None and periodic <= now else None

    def _scan(self, reason: Reason, expected: tuple[str, ...]) -> Job:
        self._debouncer.clear()
        self._asked.clear()
        self._moved_before, self._moved = self._moved, False
        return Job(EVERYTHING, reason, expected)


def find_unreported(changed: Iterable[str], reported: Collection[str]) -> tuple[str, ...]:
    """The changed paths that nobody had reported, by themselves or through a folder above."""
    known = set(reported)
    return tuple(path for path in changed if path not in known and known.isdisjoint(folders_above(path)))
