"""A watcher that says what a test tells it to, with the interface of watchfiles' RustNotify."""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from indexerd.tree.watcher import StopEvent

POLL_S: Final = 0.01
ADDED: Final = 1
MODIFIED: Final = 2
DELETED: Final = 3

Reported = set[tuple[int, str]]


class ScriptedNotifier:
    """Says what is put into it; once an error was put into it, raises that for ever, as the real one does."""

    def __init__(self) -> None:
        self.closed = False
        self._queue: queue.Queue[Reported] = queue.Queue()
        self._dead: Exception | None = None

    def say(self, *changes: tuple[int, str]) -> None:
        self._queue.put(set(changes))

    def raise_for_ever(self, error: Exception) -> None:
        self._dead = error

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: StopEvent | None
    ) -> Reported | Literal["signal", "stop", "timeout"]:
        for _ in range(max(1, int(timeout_ms / 1000 / POLL_S))):
            if self._dead is not None:
                raise self._dead
            if stop_event is not None and stop_event.is_set():
                return "stop"
            try:
                return self._queue.get(timeout=POLL_S)
            except queue.Empty:
                continue
        return "timeout"

    def close(self) -> None:
        self.closed = True


@dataclass
class Script:
    """Opens scripted notifiers and remembers them. `refusals` are raised first, one an opening."""

    refusals: list[Exception] = field(default_factory=list)
    opened: list[ScriptedNotifier] = field(default_factory=list)
    on_open: Callable[[ScriptedNotifier], None] = lambda notifier: None

    def open(self, paths: list[str]) -> ScriptedNotifier:
        if self.refusals:
            raise self.refusals.pop(0)
        notifier = ScriptedNotifier()
        self.opened.append(notifier)
        self.on_open(notifier)
        return notifier
