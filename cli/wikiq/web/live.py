"""Tells open tabs what was committed: one watcher of the index, any number of streams that wait for it.

Nobody looks at the index while no stream is open. A stream that is slow gets what it missed as one event.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from threading import Lock

from indexerd.contract.record import Record
from wikiq.answers.changes import changes
from wikiq.errors import WikiqError
from wikiq.index.database import Database, Snapshot
from wikiq.index.freshness import freshness_of

MOST_STREAMS = 100  # a browser has one; more are a fault of somebody's program
POLL_S = 0.1  # between two looks at the generation: one row, 0.1 ms
STATE_POLL_S = 1.0  # between two looks at the daemon
SILENCE_S = 15.0  # after which a comment is sent, so that a dead connection is noticed
MOST_SLUGS = 200  # named in one event; of more, all pages are meant


class Seen(Record):
    """What a look at the index found. `problem`: why it cannot be read; `state`: how current it is."""

    index_id: str = ""
    generation: int = 0
    slugs: tuple[str, ...] | None = None
    state: tuple[object, ...] = ()
    problem: str | None = None


class Watcher:
    """Looks at one index and says what is new; `opened` opens it."""

    def __init__(self, opened: Callable[[], Database]) -> None:
        self._opened = opened
        self._database: Database | None = None
        self._seen = Seen()
        self._lock = Lock()  # a look goes on in its thread when the task that asked for it has ended
        self._state_due = 0.0

    def look(self) -> Seen:
        """Look at the index; what changed since the last look stands in `slugs`, None for all of it."""
        with self._lock:
            return self._look()

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            self._drop()

    def _look(self) -> Seen:
        try:
            database = self._current()
            now = time.monotonic()
            if database.generation() == self._seen.generation and now < self._state_due:
                return self._seen
            self._state_due = now + STATE_POLL_S
            with database.snapshot() as snapshot:
                self._seen = _look(snapshot, self._seen)
        except WikiqError as error:
            self._drop()
            self._seen = Seen(problem=error.problem)
        return self._seen

    def _current(self) -> Database:
        if self._database is not None and self._database.is_replaced():
            self._drop()
        if self._database is None:
            self._database = self._opened()
            self._state_due = 0.0
        return self._database

    def _drop(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _look(snapshot: Snapshot, before: Seen) -> Seen:
    slugs: tuple[str, ...] | None = None
    if snapshot.index_id == before.index_id:
        found = changes(snapshot, before.generation)
        named = tuple(dict.fromkeys(row.slug for row in found.rows))
        slugs = named if len(named) <= MOST_SLUGS and found.floor <= before.generation else None
    told = freshness_of(snapshot)
    state = (told.stale, told.daemon, told.mode, told.reason, told.pending > 0, snapshot.meta.get("building"))
    return Seen(index_id=snapshot.index_id, generation=snapshot.generation, slugs=slugs, state=state)


class Stream:
    """What one tab has not been told yet."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._commit: Seen | None = None
        self._has_state = False
        self._ended = False

    def offer(self, seen: Seen, *, is_commit: bool) -> None:
        """Add what was seen to what waits to be sent."""
        if is_commit:
            waiting = self._commit
            if waiting is not None and waiting.index_id == seen.index_id:
                seen = seen.replace(slugs=_together(waiting.slugs, seen.slugs))
            self._commit = seen
        else:
            self._has_state = True
        self._wake.set()

    def end(self) -> None:
        """Let the stream end."""
        self._ended = True
        self._wake.set()

    async def lines(self) -> AsyncIterator[bytes]:
        """Give events as they are to be sent, until the end; a comment after a silence."""
        while not self._ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(SILENCE_S):
                    await self._wake.wait()
            self._wake.clear()
            commit, has_state = self._commit, self._has_state
            self._commit, self._has_state = None, False
            if commit is not None:
                told = {"index_id": commit.index_id, "generation": commit.generation, "slugs": commit.slugs}
                yield f"event: generation\ndata: {json.dumps(told)}\n\n".encode()
            if has_state:
                yield b"event: state\ndata: {}\n\n"
            if commit is None and not has_state and not self._ended:
                yield b": still here\n\n"


def _together(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Join the slugs of two events; None where they are too many."""
    if one is None or other is None:
        return None
    both = tuple(dict.fromkeys((*one, *other)))
    return both if len(both) <= MOST_SLUGS else None


class Live:
    """The streams that are open, and the task that looks at the index while there are any."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._streams: set[Stream] = set()
        self._looking: asyncio.Task[None] | None = None
        self._last: Seen | None = None

    def __len__(self) -> int:
        return len(self._streams)

    @property
    def is_full(self) -> bool:
        """Tell whether no more streams are taken."""
        return len(self._streams) >= MOST_STREAMS

    async def follow(self) -> AsyncIterator[bytes]:
        """Give one stream: first where the index is, then what comes."""
        stream = Stream()
        self._streams.add(stream)
        try:
            if self._looking is None:
                self._last = await asyncio.to_thread(self._watcher.look)
                if self._looking is None:  # another stream may have come meanwhile
                    self._looking = asyncio.create_task(self._look())
            if self._last is not None and self._last.problem is None:
                stream.offer(self._last.replace(slugs=None), is_commit=True)
            else:
                stream.offer(Seen(), is_commit=False)
            async for line in stream.lines():
                yield line
        finally:
            self._streams.discard(stream)
            if not self._streams and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            seen = await asyncio.to_thread(self._watcher.look)
            before, self._last = self._last, seen
            if before is None or seen is before:
                continue
            if (seen.index_id, seen.generation) != (before.index_id, before.generation) and not seen.problem:
                self._tell(seen, is_commit=True)
            elif (seen.state, seen.problem) != (before.state, before.problem):
                self._tell(seen, is_commit=False)

    def _tell(self, seen: Seen, *, is_commit: bool) -> None:
        for stream in self._streams:
            stream.offer(seen, is_commit=is_commit)

    def end(self) -> None:
        """Let every stream end."""
        for stream in tuple(self._streams):
            stream.end()
        if self._looking is not None:
            self._looking.cancel()

    def close(self) -> None:
        """Close what is open, after the last stream."""
        self._watcher.close()
