"""Publishes the daemon's state: `state.json` for readers, a line and the watchdog for the service manager.

Computes nothing; what is published is the Status, and what the daemon has still to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from indexerd.contract.live_state import LiveState
from indexerd.contract.moments import time_text
from indexerd.daemon.environment import Surroundings
from indexerd.daemon.status import Status


class Publisher:
    """`pending` counts what is not written yet, `what_is_open` names it; `wal_bytes`: the WAL's size."""

    def __init__(
        self,
        status: Status,
        around: Surroundings,
        *,
        pending: Callable[[], int],
        what_is_open: Callable[[], tuple[str, ...]],
        wal_bytes: Callable[[], int],
        log: Any,
    ) -> None:
        self._status = status
        self._file = around.state
        self._service = around.service
        self._clock = around.clock
        self._pending = pending
        self._what_is_open = what_is_open
        self._wal_bytes = wal_bytes
        self._log = log

    def publish(self) -> None:
        """Writes the state if it is new, and not too soon after the last time."""
        state, updated_at = self._state(), time_text(time.time_ns())
        if self._file.write(state, self._clock(), updated_at) and self._status.started:
            self._service.status(self._status.line())

    def publish_now(self) -> None:
        """Writes the state whatever was written before: the first and the last word of a daemon."""
        self._file.write_now(self._state(), self._clock(), time_text(time.time_ns()))

    @property
    def due_at(self) -> float:
        """When the state is to be written next, in monotonic seconds."""
        return self._file.due_at(self._status.state(self._pending(), self._what_is_open()))

    def progressed(self) -> None:
        """Feeds the watchdog: the loop, or a job in its thread, has come further."""
        self._service.progressed(self._clock(), starting=not self._status.started)

    def job_progressed(self) -> None:
        """Shows readers, by the file's time, that a job goes on. For any thread."""
        self.progressed()
        self._file.touch(self._clock())

    def pages_done(self, done: int, total: int) -> None:
        """Publishes how far a job is; of a first build, to the service manager too."""
        self.publish()
        if not self._status.started:
            self._service.status(f"{self._status.mode}, {done} of {total} pages")

    def ready(self) -> None:
        """Tells the service manager that the start, or a reload, is over."""
        self._service.ready(self._status.line())

    def _state(self) -> LiveState:
        size = self._wal_bytes()
        if self._status.wal_measured(size):
            self._log.warning("wal.grown", bytes=size)
        return self._status.state(self._pending(), self._what_is_open())
