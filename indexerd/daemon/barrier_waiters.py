"""Those who wait until everything that was on disk when they asked is in the index (spec 3.6).

A request is served by a look that began after it came; requests that wait at the same time share
one. It never answers "fresh" while something is open; what is open is named when time runs out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.abc

from indexerd.contract.barrier import Answer, Fresh, NotFresh
from indexerd.core.sync.scheduler import Agenda, Reason
from indexerd.daemon.cookies import Cookies

SCAN_AT_MOST_S: Final = 0.2  # while a scan takes less it is the barrier; some 20,000 pages

SECOND_LOOK_S: Final = 0.1  # between two scans for one who waits, whatever keeps a doubt open

Wait = tuple["Request", ...]


@dataclass(slots=True, eq=False)
class Request:
    """One who waits. `answer` is there once `answered` is set; `tried`: a look was asked for it."""

    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None
    tried: bool = False


class Barrier:
    """The requests that wait. `wake` is called when one comes; `what_is_open` names what is missing."""

    def __init__(
        self, cookies: Cookies, *, wake: Callable[[], None], what_is_open: Callable[[], tuple[str, ...]]
    ) -> None:
        self._cookies = cookies
        self._wake = wake
        self._what_is_open = what_is_open
        self._waiting: list[Request] = []
        self._behind_cookies: set[Request] = set()  # whose cookie is on its way
        self._flushing: Wait = ()  # whose cookie has come

    async def ask(self, timeout_s: float) -> Answer:
        """Waits for all that is on disk now, for `timeout_s` at most."""
        request = Request()
        self._waiting.append(request)
        self._wake()
        with anyio.move_on_after(timeout_s):
            await request.answered.wait()
        if request in self._waiting:
            self._waiting.remove(request)
        if request.answer is not None:
            return request.answer
        return NotFresh(open=self._what_is_open() or ("the look at the tree is not finished",))

    def begin(
        self,
        tasks: anyio.abc.TaskGroup,
        agenda: Agenda,
        now: float,
        *,
        doubt_at: float | None,
        trust_watcher: bool,
    ) -> None:
        """Sees to it that a look begins for everybody who waits.

        `doubt_at`: when a look can settle what is open. `trust_watcher`: it has missed nothing so far.
        """
        untried = tuple(request for request in self._waiting if not request.tried)
        for request in untried:
            request.tried = True
        if untried and trust_watcher and agenda.last_scan_s > SCAN_AT_MOST_S:
            self._behind_cookies.update(untried)
            tasks.start_soon(self._pass_cookie, untried, agenda)
        elif untried or (self._needs_scan() and not self._what_is_open()):
            agenda.ask_scan(Reason.BARRIER, now)
        elif self._needs_scan() and doubt_at is not None:
            agenda.ask_scan(Reason.BARRIER, max(doubt_at, now + SECOND_LOOK_S))

    def present(self) -> Wait:
        """Those whom a scan that begins now serves."""
        return tuple(self._waiting)

    def take_flushing(self) -> Wait:
        """Those whom all that was reported by now serves, once it is in the index."""
        flushing, self._flushing = self._flushing, ()
        return flushing

    def serve(self, requests: Wait, answer: Fresh) -> None:
        """The look is committed and nothing is open."""
        for request in requests:
            request.answer = answer
            request.answered.set()
            if request in self._waiting:
                self._waiting.remove(request)

    def _needs_scan(self) -> bool:
        return any(
            request not in self._behind_cookies and request not in self._flushing for request in self._waiting
        )

    async def _pass_cookie(self, requests: Wait, agenda: Agenda) -> None:
        if await self._cookies.pass_one() and agenda.watching:
            self._flushing = (*self._flushing, *requests)
        self._behind_cookies.difference_update(requests)
        self._wake()
