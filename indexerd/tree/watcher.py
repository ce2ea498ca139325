"""The only user of watchfiles: what the operating system reports, as paths, until the watcher dies.

A path is a hint to look there and nothing more; what kind of change it was is not passed on. Every
death has a kind, a reason and a remedy. Refuses polling: a scan of our own sees more (spec 3.2).
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import anyio
from watchfiles import Change
from watchfiles._rust_notify import RustNotify

from indexerd.core.sync.watch_faults import Fault, FaultKind, describe_fault, root_gone

ACTIVE_STEP_MS: Final = 10  # two steps pass before a change is handed over
IDLE_STEP_MS: Final = 50  # wake-ups cost .3 % of a core at 10 ms and .1 % at 50 ms, measured
ACTIVE_FOR_S: Final = 30.0  # after a change the next one is likely, and somebody waits for it
DEBOUNCE_MS: Final = 20  # the batcher settles each path by itself; sets need not be collected here
DEEPEST_FOLDER: Final = 128  # levels; what lies deeper is not scanned either
END_PATIENCE_S: Final = 0.5  # a thread that watches ends within a step; one that opens a huge tree does not
END_POLL_S: Final = 0.002
TIMEOUT_MS: Final = 5_000  # how often the thread comes back although nothing happened


class StopEvent(Protocol):
    """What the watcher asks at every step whether to stop."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...


class Notifier(Protocol):
    """What watchfiles' RustNotify offers, and a scripted one in the tests."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: StopEvent | None
    ) -> set[tuple[int, str]] | Literal["signal", "stop", "timeout"]:
        """Changes as (kind, absolute path) once a step brings no new one; raises when it is dead."""
        ...

    def close(self) -> None:
        """Gives the watches back."""
        ...


class Listener(Protocol):
    """Who is told; always called in the event loop."""

    def watch_opened(self) -> None:
        """From now on changes are reported."""

    def paths_changed(self, paths: frozenset[str], quiet_s: float) -> None:
        """Something happened at these paths (from the root, `""` is the root) `quiet_s` seconds ago."""


def open_notifier(paths: list[str]) -> Notifier:
    """A watcher of these folders and all below. Never polls, never leaves out what it may not read."""
    return RustNotify(
        paths,
        debug=False,
        force_polling=False,
        poll_delay_ms=0,
        recursive=True,
        ignore_permission_denied=False,
    )


@dataclass(frozen=True, slots=True)
class Watcher:
    """Watches `root`, an absolute path.

    `keep` says of a path from the root whether it can matter; the rest is dropped before any work.
    """

    root: str
    keep: Callable[[str], bool]
    open_notifier: Callable[[list[str]], Notifier] = open_notifier

    async def follow(self, listener: Listener) -> Fault:
        """Reports to `listener` until the watcher dies, and says why. Cancel to stop: 50 ms at most."""
        return await self._follow([self.root], listener, listener.watch_opened)

    async def follow_readable(self, listener: Listener) -> Fault:
        """As `follow`, for the folders that hold nothing unreadable; the rest is not watched.

        watchfiles can leave out what it may not read, but then also what a limit keeps it from
        watching, and says nothing.
        """
        parts = await asyncio.to_thread(find_readable, self.root)
        if not parts:
            return Fault(FaultKind.NOT_PERMITTED, f"nothing below {self.root} may be watched", None)
        return await self._follow(parts, listener, lambda: None)

    async def _follow(self, folders: list[str], listener: Listener, opened: Callable[[], None]) -> Fault:
        loop = asyncio.get_running_loop()
        died: asyncio.Future[Fault] = loop.create_future()
        thread = _WatchThread(self, folders, listener=listener, opened=opened, loop=loop, died=died)
        thread.start()
        try:
            return await died
        finally:
            # Set before anything waits for the thread: cancelling alone takes up to TIMEOUT_MS.
            thread.stopping.set()
            with anyio.CancelScope(shield=True):
                await thread.ended()

    def select(self, reported: Iterable[tuple[int, str]]) -> frozenset[str]:
        """The paths from the root that matter, among what was reported.

        A folder that a symbolic link leads to is watched once and reported under either path (inotify
        has one watch an inode), so the path without links is looked at as well.
        """
        paths: set[str | None] = set()
        real_root, real_folders = os.path.realpath(self.root), dict[str, str]()
        for _, path in reported:
            folder, _, name = path.rpartition("/")
            if folder not in real_folders:
                real_folders[folder] = os.path.realpath(folder or "/")
            real = os.path.join(real_folders[folder], name)
            paths.update((_within(self.root, path), _within(real_root, real)))
        return frozenset(path for path in paths if path is not None and (not path or self.keep(path)))


def _within(root: str, path: str) -> str | None:
    """The path from the root, `""` the root itself, None for what lies elsewhere."""
    if path == root:
        return ""
    start = root if root.endswith("/") else f"{root}/"
    return path[len(start) :] if path.startswith(start) else None


def find_readable(folder: str, levels: int = DEEPEST_FOLDER) -> list[str]:
    """The folders below, outermost, in which everything may be read; the folder itself when that is so."""
    parts: list[str] = []
    whole = levels > 0
    try:
        with os.scandir(folder) as entries:
            below = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    for path in below:
        readable = levels > 0 and os.access(path, os.R_OK | os.X_OK)
        found = find_readable(path, levels - 1) if readable else []
        whole = whole and found == [path]
        parts += found
    return [folder] if whole else parts


class _WatchThread(threading.Thread):
    """A daemon thread: opening a watcher on a huge tree cannot be interrupted and must not delay a stop."""

    def __init__(
        self,
        watcher: Watcher,
        folders: list[str],
        *,
        listener: Listener,
        opened: Callable[[], None],
        loop: asyncio.AbstractEventLoop,
        died: asyncio.Future[Fault],
    ) -> None:
        super().__init__(name="watch", daemon=True)
        self.stopping = threading.Event()
        self._watcher = watcher
        self._folders = folders
        self._listener = listener
        self._opened = opened
        self._loop = loop
        self._died = died

    async def ended(self) -> None:
        """Until it has ended, as far as it can be awaited.

        An interpreter that exits meanwhile would be aborted: it ends its threads by an exception that
        watchfiles' own code catches (glibc: "FATAL: exception not rethrown").
        """
        with anyio.move_on_after(END_PATIENCE_S):
            while self.is_alive():  # noqa: ASYNC110 - a thread sets no event of the loop's
                await anyio.sleep(END_POLL_S)

    def run(self) -> None:
        try:
            fault = self._watch()
        except Exception as error:  # noqa: BLE001 - whatever kills the watcher must not end silently
            fault = describe_fault(error, self._watcher.root)
        if not self.stopping.is_set():
            self._tell(_settle, self._died, fault)

    def _watch(self) -> Fault:
        notifier = self._watcher.open_notifier(self._folders)
        try:
            self._tell(self._opened)
            return self._pass_on(notifier)
        finally:
            notifier.close()

    def _pass_on(self, notifier: Notifier) -> Fault:
        last_change = float("-inf")
        while True:
            step = ACTIVE_STEP_MS if time.monotonic() - last_change < ACTIVE_FOR_S else IDLE_STEP_MS
            reported = notifier.watch(DEBOUNCE_MS, step, TIMEOUT_MS, self.stopping)
            if self.stopping.is_set() or reported == "stop":
                return Fault(FaultKind.UNKNOWN, "the watcher was stopped", None)
            if isinstance(reported, str):
                continue
            paths = self._watcher.select(reported)
            if paths:
                last_change = time.monotonic()
                # The last of the two steps brought nothing new.
                self._tell(self._listener.paths_changed, paths, step / 1000)
            if (Change.deleted, self._watcher.root) in reported:
                return root_gone(self._watcher.root)

    def _tell(self, call: Callable[..., None], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)


def _settle(died: asyncio.Future[Fault], fault: Fault) -> None:
    if not died.done():
        died.set_result(fault)
