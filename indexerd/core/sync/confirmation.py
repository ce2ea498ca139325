"""Confirmation of surprising scans: another root, most pages gone, a file suddenly empty.

An observation is believed when it is made again, unchanged, some time later; the time is passed in.
It only judges; the daemon decides when to scan a second time.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from indexerd.core.model import Stamp
from indexerd.core.sync.debounce import LONGEST_WAIT_MS

CONFIRM_AFTER_S: Final = 2.0  # an automounter or a checkout needs less (spec 3.3)
SETTLE_AFTER_S: Final = LONGEST_WAIT_MS / 1000  # editors truncate, then write (spec 3.4)
SETTLE_AT_MOST_S: Final = 2.0  # a file that is emptied again and again is published as it is


@dataclass(slots=True)
class _Observed:
    observation: Hashable
    since: float  # this observation
    first: float  # any observation under the same key


class Confirmation:
    """What waits for confirmation, by key. `wait_s`: between two scans; `at_most_s`: even if they differ."""

    def __init__(self, wait_s: float, at_most_s: float = float("inf")) -> None:
        self._wait_s = wait_s
        self._at_most_s = at_most_s
        self._waiting: dict[str, _Observed] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """What waits for confirmation."""
        return tuple(self._waiting)

    def believe(self, key: str, observation: Hashable, now: float) -> bool:
        """Whether it has been seen before, unchanged, for long enough. Then it waits no more."""
        seen = self._waiting.get(key)
        if seen is None:
            seen = self._waiting[key] = _Observed(observation, now, now)
        elif seen.observation != observation:
            seen.observation, seen.since = observation, now
        believed = now - seen.since >= self._wait_s or now - seen.first >= self._at_most_s
        if believed:
            del self._waiting[key]
        return believed

    def forget(self, key: str) -> None:
        """A scan found nothing surprising."""
        self._waiting.pop(key, None)

    def next_at(self) -> float | None:
        """When a second scan can confirm something, None where nothing waits."""
        return min(
            (min(seen.since + self._wait_s, seen.first + self._at_most_s) for seen in self._waiting.values()),
            default=None,
        )


def is_emptied(before: Stamp, now: Stamp) -> bool:
    """Whether a file became empty or much shorter in place; one renamed into its place is whole."""
    same_file = (before.device, before.inode) == (now.device, now.inode)
    return same_file and now.size * 2 < before.size


GUARDED_DELETIONS: Final = 20  # fewer are an afternoon's tidying up, not a vanished mount


def needs_confirmation(total: int, gone: int) -> bool:
    """Whether so many pages are gone at once that a second scan must agree (spec 3.3).

    More than half and at least 20, or all of them: an unmounted disk looks just like that.
    """
    return 0 < total == gone or (gone >= GUARDED_DELETIONS and gone * 2 > total)
