"""Debounce: when a reported change is scanned, by two timers and caps over paths. Time is passed in.

A path waits until it has been quiet, and never longer than the longest wait; too many paths become
one folder to scan. Knows neither disk nor clock, and not whether a path is a page or a folder.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from indexerd.contract.places import is_below
from indexerd.core.sync.paths import ROOT, folders_above, parent_of

QUIET_DELAY_MS: Final = 50  # an editor's save is one to four events within a few milliseconds
LONGEST_WAIT_MS: Final = 500  # a path written all the time is scanned this often, and no more
FOLDER_CAP: Final = 64  # paths directly in one folder; past it, listing it is cheaper and surer
PENDING_CAP: Final = 1024  # paths in all; past it the whole root is scanned
TRAILING_PATHS: Final = 64  # a batch of more paths has probably lost events (cp -r loses one in six)
TRAILING_QUIET_MS: Final = 500  # nothing reported for so long: the storm is over, check once
TRAILING_LATEST_MS: Final = 5_000  # the check is not put off longer by a file that is never quiet


@dataclass(frozen=True, slots=True)
class Batch:
    """A settled set. `paths`: to be scanned one by one; `subtrees`: folders to scan, `ROOT` for all.

    `trailing`: the storm before it is over, so everything is scanned once.
    """

    paths: tuple[str, ...] = ()
    subtrees: tuple[str, ...] = ()
    trailing: bool = False


@dataclass(slots=True)
class _Wait:
    """One pending path: when it was first and last reported, in seconds, and before when it is not due."""

    first: float
    last: float
    not_before: float
    subtree: bool
    differs: bool = False  # it was scanned, and what was found is not in the index yet

    def due_at(self) -> float:
        settled = min(self.last + QUIET_DELAY_MS / 1000, self.first + LONGEST_WAIT_MS / 1000)
        return max(settled, self.not_before)


class Debouncer:
    """Collects changes and hands them out when they have settled. All times are monotonic seconds."""

    def __init__(self) -> None:
        self._waits: dict[str, _Wait] = {}
        self._waiting_in: Counter[str] = Counter()  # folder -> how many of its direct entries wait
        self._taken: dict[str, float] = {}  # path -> when it was last handed out
        self._last_report = float("-inf")
        self._trailing_asked: float | None = None

    @property
    def differing(self) -> int:
        """How many of those that wait were scanned and differ. A report alone is a hint, not a change."""
        return sum(wait.differs for wait in self._waits.values())

    def add(self, path: str, now: float, *, subtree: bool = False, delay: float = 0.0) -> None:
        """Reports a change of `path`, with `subtree` of all below it.

        `delay`: it was scanned and could not be written; not due for so many seconds.
        """
        self._last_report = max(self._last_report, now)
        above = self._pending_folder_above(path)
        if above is not None and not delay:
            self._waits[above].last = now
            return
        wait = self._waits.get(path)
        if wait is None:
            wait = self._begin(path, now, subtree=subtree)
        wait.last = max(wait.last, now)
        wait.subtree |= subtree
        wait.differs |= delay > 0
        wait.not_before = max(wait.not_before, now + delay) if delay else wait.not_before
        if subtree:
            self._absorb(path)
        self._collapse_above(path)

    def rest(self, path: str, until: float) -> None:
        """What is reported of `path` is not scanned before `until`: it is costly."""
        self._taken[path] = until - LONGEST_WAIT_MS / 1000

    def scan_when_quiet(self, now: float) -> None:
        """Asks for one scan of everything once nothing has been reported for a while."""
        if self._trailing_asked is None:
            self._trailing_asked = now

    def put_back(self, batch: Batch, now: float, *, delay: float) -> None:
        """A batch that could not be written waits again, all of it, for `delay` seconds."""
        for path in batch.paths:
            self.add(path, now, delay=delay)
        for path in batch.subtrees:
            self.add(path, now, subtree=True, delay=delay)
        if batch.trailing:
            self.add(ROOT, now, subtree=True, delay=delay)

    def next_due(self) -> float | None:
        """When `due` has something to give, None while nothing waits."""
        times = [wait.due_at() for wait in self._waits.values()]
        if self._trailing_asked is not None:
            times.append(self._trailing_at(self._trailing_asked))
        return min(times, default=None)

    def due(self, now: float) -> Batch | None:
        """All that has settled; those that have not are left waiting."""
        self._forget_old(now)
        ready = sorted(path for path, wait in self._waits.items() if wait.due_at() <= now)
        trailing = self._trailing_asked is not None and self._trailing_at(self._trailing_asked) <= now
        if not ready and not trailing:
            return None
        taken = {path: self._end(path) for path in ready}
        self._taken.update(dict.fromkeys(ready, now))
        if trailing:
            self._trailing_asked = None
        batch = Batch(
            paths=tuple(path for path, wait in taken.items() if not wait.subtree),
            subtrees=tuple(path for path, wait in taken.items() if wait.subtree),
            trailing=trailing,
        )
        if batch.subtrees or len(batch.paths) > TRAILING_PATHS:
            self.scan_when_quiet(now)
        return batch

    @property
    def waiting(self) -> tuple[str, ...]:
        """The paths and folders that wait, settled or not."""
        return tuple(self._waits)

    def clear(self) -> None:
        """Forgets all that waits: a scan of everything, started now, sees it all."""
        self._waits.clear()
        self._waiting_in.clear()
        self._trailing_asked = None

    def _begin(self, path: str, now: float, *, subtree: bool) -> _Wait:
        wait = self._waits[path] = _Wait(now, now, self._rested_at(path), subtree)
        if path != ROOT:
            self._waiting_in[parent_of(path)] += 1
        return wait

    def _end(self, path: str) -> _Wait:
        if path != ROOT:
            self._waiting_in[parent_of(path)] -= 1
        return self._waits.pop(path)

    def _rested_at(self, path: str) -> float:
        """What was scanned a moment ago is not scanned again before the longest wait is over."""
        taken = [self._taken[place] for place in (path, *folders_above(path)) if place in self._taken]
        return max(taken, default=float("-inf")) + LONGEST_WAIT_MS / 1000

    def _trailing_at(self, asked: float) -> float:
        quiet = max(asked, self._last_report) + TRAILING_QUIET_MS / 1000
        return min(quiet, asked + TRAILING_LATEST_MS / 1000)

    def _forget_old(self, now: float) -> None:
        limit = now - LONGEST_WAIT_MS / 1000
        self._taken = {path: taken for path, taken in self._taken.items() if taken > limit}

    def _pending_folder_above(self, path: str) -> str | None:
        for folder in folders_above(path):
            wait = self._waits.get(folder)
            if wait is not None and wait.subtree:
                return folder
        return None

    def _absorb(self, folder: str) -> None:
        """What waits below `folder` is scanned with it, as early as the first of them was to be."""
        below = [path for path in self._waits if path != folder and is_below(path, folder)]
        whole = self._waits[folder]
        for path in below:
            absorbed = self._end(path)
            whole.first = min(whole.first, absorbed.first)
            whole.differs |= absorbed.differs

    def _collapse_above(self, path: str) -> None:
        """Turns a folder with too many waiting paths into one to scan; all of them, into the root."""
        if len(self._waits) > PENDING_CAP:
            self._collapse(ROOT)
            return
        for folder in folders_above(path):
            if self._waiting_in[folder] <= FOLDER_CAP:
                return
            self._collapse(folder)

    def _collapse(self, folder: str) -> None:
        wait = self._waits.get(folder)
        if wait is None:
            wait = self._begin(folder, self._last_report, subtree=True)
        wait.subtree = True
        wait.last = self._last_report
        self._absorb(folder)
