"""What is not believed at first sight: another root, most pages gone, a file suddenly empty.

An observation is believed when it is made again, unchanged, some time later; the time is passed in.
It only judges; who looks a second time, and when, is the daemon's business.
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
class _Doubt:
    observation: Hashable
    since: float  # this observation
    first: float  # any observation under the same key


class SecondLook:
    """Doubts by key. `wait_s`: between the two looks; `at_most_s`: even if each look differs."""

    def __init__(self, wait_s: float, at_most_s: float = float("inf")) -> None:
        self._wait_s = wait_s
        self._at_most_s = at_most_s
        self._doubts: dict[str, _Doubt] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """What is in doubt."""
        return tuple(self._doubts)

    def believe(self, key: str, observation: Hashable, now: float) -> bool:
        """Whether it has been seen before, unchanged, for long enough. Then there is no doubt left."""
        doubt = self._doubts.get(key)
        if doubt is None:
            doubt = self._doubts[key] = _Doubt(observation, now, now)
        elif doubt.observation != observation:
            doubt.observation, doubt.since = observation, now
        believed = now - doubt.since >= self._wait_s or now - doubt.first >= self._at_most_s
        if believed:
            del self._doubts[key]
        return believed

    def forget(self, key: str) -> None:
        """A look that found nothing surprising."""
        self._doubts.pop(key, None)

    def next_at(self) -> float | None:
        """When a second look can settle a doubt, None without one."""
        return min(
            (
                min(doubt.since + self._wait_s, doubt.first + self._at_most_s)
                for doubt in self._doubts.values()
            ),
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
