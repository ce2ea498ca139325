"""Those who wait until everything that was on disk when they asked is in the index (spec 3.6).

A request is served by a look that began after it came; requests that wait at the same time share
one. It never answers "fresh" while something is open; what is open is named when time runs out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from indexerd.control import Answer, Fresh, NotFresh


@dataclass(slots=True, eq=False)
class Request:
    """One who waits. `answer` is there once `answered` is set."""

    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None


class Barrier:
    """The requests that wait. `wake` is called when one comes; `what_is_open` names what is missing."""

    def __init__(self, wake: Callable[[], None], what_is_open: Callable[[], tuple[str, ...]]) -> None:
        self._wake = wake
        self._what_is_open = what_is_open
        self._waiting: list[Request] = []

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

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
        return NotFresh(self._what_is_open() or ("the look at the tree is not finished",))

    def present(self) -> tuple[Request, ...]:
        """Those that a look which begins now serves."""
        return tuple(self._waiting)

    def serve(self, requests: tuple[Request, ...], answer: Fresh) -> None:
        """The look is committed and nothing is open."""
        for request in requests:
            request.answer = answer
            request.answered.set()
            if request in self._waiting:
                self._waiting.remove(request)
