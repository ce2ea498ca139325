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
from wikiq.web.frame import state_digest

MOST_STREAMS = 100  # a browser has one; more are a fault of somebody's program
POLL_S = 0.1  # between two looks at the generation: one row, 0.1 ms
STATE_POLL_S = 1.0  # between two looks at the daemon
SILENCE_S = 15.0  # after which a comment is sent, so that a dead connection is noticed
MOST_SLUGS = 200  # named in one event; of more, all pages are meant


class Seen(Record):
    """What a look at the index found; without an `index_id`, that it cannot be read.

    `slugs` are the pages that changed since the look before, None for any; `state` is the digest of
    how current the index is.
    """

    index_id: str = ""
    generation: int = 0
    slugs: tuple[str, ...] | None = None
    state: str = ""

    @property
    def at(self) -> tuple[str, int, str]:
        """Name what was seen: a page that shows the same needs no refresh."""
        return self.index_id, self.generation, self.state


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
        except WikiqError:
            self._drop()
            self._seen = Seen()
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
    return Seen(
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        slugs=slugs,
        state=state_digest(snapshot),
    )


class Stream:
    """What one tab has not been told yet."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._waiting: Seen | None = None
        self._ended = False

    def offer(self, seen: Seen) -> None:
        """Add what was seen to what waits to be sent."""
        waiting = self._waiting
        if waiting is not None and waiting.index_id == seen.index_id:
            seen = seen.replace(slugs=_together(waiting.slugs, seen.slugs))
        self._waiting = seen
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
            seen, self._waiting = self._waiting, None
            if seen is not None:
                told = dict(zip(("index_id", "generation", "state"), seen.at, strict=True))
                yield f"event: generation\ndata: {json.dumps({**told, 'slugs': seen.slugs})}\n\n".encode()
            elif not self._ended:
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
        self._last = Seen()

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
            stream.offer(self._last.replace(slugs=None))
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
            if seen.at != before.at:
                for stream in self._streams:
                    stream.offer(seen)

    def end(self) -> None:
        """Let every stream end."""
        for stream in tuple(self._streams):
            stream.end()
        if self._looking is not None:
            self._looking.cancel()

    def close(self) -> None:
        """Close what is open, after the last stream."""
        self._watcher.close()
