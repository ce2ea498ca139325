"""Those who wait until everything that was on disk when they asked is in the index (spec 3.6).

A request is served by a scan of the whole tree that began after it came, whatever the watcher says;
requests that come during a scan share the next one. It never answers "fresh" while something is
open; what is open is named when time runs out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from indexerd.contract.barrier import Answer, Fresh, NotFresh
from indexerd.core.sync.scheduler import Reason, Scheduler

RETRY_S: Final = 0.1  # between two scans for one who waits, whatever waits for confirmation


@dataclass(slots=True, eq=False)
class Request:
    """One who waits. `answer` is there once `answered` is set; `tried`: a scan was asked for it."""

    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None
    tried: bool = False

    def scan_asked(self) -> None:
        """A scan was asked for it."""
        self.tried = True

    def serve(self, answer: Answer) -> None:
        """Everything that it waits for is in the index."""
        self.answer = answer
        self.answered.set()


Wait = tuple[Request, ...]


class Barrier:
    """The requests that wait.

    `wake` is called when one comes; `what_is_open` names what is missing, `how_far` the work at hand.
    """

    def __init__(
        self,
        *,
        wake: Callable[[], None],
        what_is_open: Callable[[], tuple[str, ...]],
        how_far: Callable[[], str],
    ) -> None:
        self._wake = wake
        self._what_is_open = what_is_open
        self._how_far = how_far
        self._waiting: list[Request] = []

    async def ask(self, timeout_s: float) -> Answer:
        """Waits for all that is on disk now, for `timeout_s` at most."""
        request = Request()
        self._waiting.append(request)
        self._wake()
        with anyio.move_on_after(timeout_s):
            await request.answered.wait()
        if request in self._waiting:
            self._waiting.remove(request)
        return request.answer or NotFresh(open=self._what_is_open() or (self._how_far(),))

    def begin(self, scheduler: Scheduler, now: float, *, confirm_at: float | None) -> None:
        """Asks for a scan for everybody who waits. `confirm_at`: when one can settle what is open."""
        untried = [request for request in self._waiting if not request.tried]
        for request in untried:
            request.scan_asked()
        if untried or (self._waiting and not self._what_is_open()):
            scheduler.ask_scan(Reason.BARRIER, now)
        elif self._waiting and confirm_at is not None:
            scheduler.ask_scan(Reason.BARRIER, max(confirm_at, now + RETRY_S))

    def present(self) -> Wait:
        """Those whom a scan that begins now serves."""
        return tuple(self._waiting)

    def serve(self, requests: Wait, answer: Fresh) -> None:
        """The scan is committed and nothing is open."""
        for request in requests:
            request.serve(answer)
            if request in self._waiting:
                self._waiting.remove(request)
