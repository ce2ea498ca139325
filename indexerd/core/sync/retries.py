"""Pages that were given up for the time or memory they take: when each is tried again, with how much more.

Pure: the monotonic time is passed in. Remembers nothing across a start, so each start tries them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from indexerd.core.model import Stamp

RETRY_AFTER_S: Final = (10.0, 30.0, 90.0)  # a paused or busy machine is itself again by then (spec 3.4)
GROWTH: Final = 3  # of the budget at each attempt


@dataclass(frozen=True, slots=True)
class _GivenUp:
    stamp: Stamp
    attempts: int
    due_at: float


class Retries:
    """The pages given up since the start, by path."""

    def __init__(self) -> None:
        self._pages: dict[str, _GivenUp] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """The pages that are listed without text for now."""
        return tuple(self._pages)

    def attempts(self, path: str, stamp: Stamp) -> int:
        """How often the page was given up under this stamp."""
        page = self._pages.get(path)
        return page.attempts if page is not None and page.stamp == stamp else 0

    def is_resting(self, path: str, stamp: Stamp, now: float) -> bool:
        """Whether it is not to be tried yet; one with another stamp always is."""
        page = self._pages.get(path)
        return page is not None and page.stamp == stamp and now < page.due_at

    def give_up(self, path: str, stamp: Stamp, now: float) -> None:
        """It went over its budget once more."""
        attempts = self.attempts(path, stamp) + 1
        waits = dict(enumerate(RETRY_AFTER_S, start=1))
        self._pages[path] = _GivenUp(stamp, attempts, now + waits.get(attempts, float("inf")))

    def forget(self, path: str) -> None:
        """It was projected, or is gone."""
        self._pages.pop(path, None)

    def next_at(self) -> float | None:
        """When the next one is tried, None without one."""
        due = min((page.due_at for page in self._pages.values()), default=float("inf"))
        return None if due == float("inf") else due
