"""What the daemon's tests share: a daemon in this process that follows a small wiki.

Its watcher says what the test tells it to, or is the real one; its clock can be put forward.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from indexerd.contract.barrier import Answer
from indexerd.core.sync.intervals import SHORTEST_INTERVAL_S
from indexerd.daemon.environment import Surroundings
from indexerd.daemon.loop import Daemon
from indexerd.daemon.resources import Resources
from indexerd.errors import StorageError
from indexerd.service.notify import ServiceManager
from indexerd.service.status_file import StateFile
from indexerd.setup.compose import find_wiki
from indexerd.store import Snapshot
from indexerd.tree.watcher import Notifier, open_notifier
from tests.scripted_notifier import ADDED, Script, ScriptedNotifier

PATIENCE_S: Final = 60.0  # an upper bound for what takes milliseconds, on a busy machine
POLL_S: Final = 0.005


@dataclass(slots=True)
class Clock:
    """Real time, put forward by the test."""

    ahead_s: float = 0.0
    asleep_s: float = 0.0  # by which only the wall clock is ahead

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s

    def wall(self) -> float:
        return time.time() + self.ahead_s + self.asleep_s


@dataclass(slots=True)
class Log:
    """A log that keeps what it is told."""

    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def info(self, event: str, **facts: Any) -> None:
        self.events.append((event, facts))

    warning = info

    def named(self, event: str) -> list[dict[str, Any]]:
        return [facts for name, facts in self.events if name == event]


@dataclass(slots=True)
class Followed:
    """A wiki, the daemon that follows it, and looks at both."""

    root: Path
    db: Path
    environ: dict[str, str]
    clock: Clock
    log: Log
    script: Script
    resources: Resources
    daemon: Daemon

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def say(self, *paths: str, kind: int = ADDED) -> None:
        """Lets the scripted watcher report these paths, '' the root."""
        self.notifier.say(*((kind, os.path.join(self.root, path).rstrip("/")) for path in paths))

    @property
    def notifier(self) -> ScriptedNotifier:
        return self.script.opened[-1]

    def advance(self, seconds: float) -> None:
        """Puts the clock forward and lets the loop notice."""
        self.clock.ahead_s += seconds
        self.daemon._sleeper.wake()

    def advance_to_periodic_scan(self) -> None:
        """As if the last scan had cost nothing, so that the shortest interval is over now."""
        self.daemon._scheduler._last_scan_s = 0.0
        self.advance(SHORTEST_INTERVAL_S)

    def indexed(self) -> dict[str, str | None]:
        """Path and content hash of every page in the index; nothing where there is none just now."""
        try:
            with Snapshot.open(self.db) as snapshot:
                return {path: page.content_hash for path, page in snapshot.fetch_indexed().items()}
        except StorageError:
            return {}

    def has_young_stamps(self) -> bool:
        """Whether a page was so young when it was read that an equal stamp does not prove it unchanged."""
        with Snapshot.open(self.db) as snapshot:
            return any(page.racy for page in snapshot.fetch_indexed().values())

    @property
    def generation(self) -> int:
        with Snapshot.open(self.db) as snapshot:
            return int(snapshot.meta["generation"] or 0)

    def on_disk(self) -> dict[str, str | None]:
        return {
            path.relative_to(self.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.root.rglob("*.md")
        }

    def state(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.db.parent / "state.json").read_text())
        return loaded

    async def until(self, condition: Callable[[], object]) -> None:
        """Polls until the condition holds."""
        with anyio.fail_after(PATIENCE_S):
            while not condition():  # noqa: ASYNC110 - any condition a test thinks of
                await anyio.sleep(POLL_S)

    async def until_equal(self) -> None:
        await self.until(lambda: self.indexed() == self.on_disk())

    async def until_logged(self, event: str, times: int = 1) -> None:
        await self.until(lambda: len(self.log.named(event)) >= times)

    async def until_at_rest(self) -> None:
        """Until nothing that is due is left to do."""

        def is_at_rest() -> bool:
            due_at = self.daemon._scheduler.next_at()
            return self.daemon._progress._job is None and (due_at is None or due_at > self.clock.monotonic())

        await self.until(is_at_rest)

    async def until_scanned(self, reason: str) -> None:
        """Until one more scan for this reason is done."""
        before = self.counter(f"scans_{reason}")
        await self.until(lambda: self.counter(f"scans_{reason}") > before)

    def counter(self, name: str) -> int:
        return self.daemon._status.counters[name]

    async def ask(self, timeout_s: float = PATIENCE_S) -> Answer:
        return await self.daemon._barrier.ask(timeout_s)


@asynccontextmanager
async def following(
    folder: Path, *, real: bool = False, script: Script | None = None, **settings: str
) -> AsyncIterator[Followed]:
    """A daemon that has looked at the wiki in `folder` once and watches it; stopped at the end."""
    root = folder / "wiki"
    root.mkdir(exist_ok=True)
    environ = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    db = folder / "state" / "index.db"
    clock, log, script = Clock(), Log(), script or Script()
    notifier: Callable[[list[str]], Notifier] = open_notifier if real else script.open
    flags: dict[str, str | bool] = {"db": str(db), **settings}
    user_file = str(folder / "config" / "indexerd" / "config.toml")
    resources = Resources(
        lambda: find_wiki(str(root), flags, environ, must_exist=False),
        (user_file, str(root / ".wikiq.toml")),
        log,
    )
    around = Surroundings(
        state=StateFile(str(db.parent / "state.json")),
        control=str(db.parent / "control.sock"),
        service=ServiceManager(),
        open_notifier=notifier,
        clock=clock.monotonic,
        wall=clock.wall,
    )
    daemon = Daemon(resources, around, log)
    followed = Followed(root, db, environ, clock, log, script, resources, daemon)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(daemon.run)
            await followed.until_logged("daemon.ready")
            yield followed
            daemon.stop()
    finally:
        resources.close()
