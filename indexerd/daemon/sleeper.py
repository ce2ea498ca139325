"""When the loop sleeps, what wakes it, and how it notices that more time has passed than it slept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import anyio

from indexerd.core.sync.intervals import GAP_S

REST_AT_MOST_S: Final = 5.0  # a machine that woke up is noticed this soon


class Sleeper:
    """`clock` is monotonic and stands still while the machine sleeps; `wall` does not."""

    def __init__(self, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        self._clock = clock
        self._wall = wall
        self._wake = anyio.Event()
        self._expected_at = clock() + REST_AT_MOST_S
        self._offset = wall() - clock()

    def wake(self) -> None:
        """Ends the rest, or keeps the next one from beginning."""
        self._wake.set()

    async def rest(self, times: Iterable[float | None], most_s: float | None) -> None:
        """Until the first of `times`, or woken; for `most_s` and `REST_AT_MOST_S` seconds at most."""
        now = self._clock()
        self._expected_at = now + REST_AT_MOST_S
        limit = now + min(REST_AT_MOST_S, most_s or REST_AT_MOST_S)
        until = min([limit, *(time for time in times if time is not None)])
        with anyio.move_on_after(max(until - now, 0)):
            await self._wake.wait()
        self._wake = anyio.Event()

    def worked(self) -> None:
        """The time since the last rest was spent on a job."""
        self._expected_at = self._clock() + REST_AT_MOST_S

    def skipped(self) -> bool:
        """Whether the machine slept, the process was held, or the wall clock jumped since last asked."""
        now = self._clock()
        offset = self._wall() - now
        late, jumped = now - self._expected_at > GAP_S, abs(offset - self._offset) > GAP_S
        self._offset = offset
        self._expected_at = now + REST_AT_MOST_S
        return late or jumped
