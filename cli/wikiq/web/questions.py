"""Asks the index for the viewer: in threads, each question on an open index of its own.

An index is opened when it is first needed and again when another file has taken its place. A question whose
asker has gone is interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TypeVar

from wikiq.errors import CancelledError, DamagedIndexError, NoIndexError, UnreadableIndexError
from wikiq.index.database import Database, Snapshot

MOST_AT_ONCE = 8  # questions; more wait for their turn
# After these the file may be another one: a copy that is written over, an index that was moved away.
_LOST = (DamagedIndexError, NoIndexError, UnreadableIndexError)

T = TypeVar("T")


class Questions:
    """Answers questions about one index; `opened` opens it and raises what `open_index` does."""

    def __init__(self, opened: Callable[[], Database]) -> None:
        self._opened = opened
        self._idle: list[Database] = []
        self._running: set[Database] = set()
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="question")
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def ask(self, question: Callable[[Snapshot], Callable[[], T]]) -> T:
        """Answer a question in a thread, from one snapshot; ended when this task is cancelled.

        What `question` gives is called after the snapshot has ended: rendering keeps no transaction open.
        """
        async with self._turns:
            call = _Call()
            answer = asyncio.get_running_loop().run_in_executor(self._threads, self._answer, question, call)
            try:
                return await asyncio.shield(answer)
            except asyncio.CancelledError:
                call.cancel()
                with suppress(Exception):  # nobody waits for it any more
                    await answer
                raise

    def _answer(self, question: Callable[[Snapshot], Callable[[], T]], call: _Call) -> T:
        return self._asked(question, call)()

    def _asked(self, question: Callable[[Snapshot], T], call: _Call) -> T:
        database = self._take()
        self._running.add(database)
        is_lost = False
        try:
            call.begin(database)
            with database.snapshot() as snapshot:
                return question(snapshot)
        except _LOST:
            is_lost = True
            raise
        finally:
            call.end()
            self._running.discard(database)
            if is_lost:
                database.close()
            else:
                self._idle.append(database)

    def _take(self) -> Database:
        while self._idle:
            database = self._idle.pop()
            if not database.is_replaced():
                return database
            database.close()
        return self._opened()

    def cancel(self) -> None:
        """Interrupt every question that runs."""
        for database in tuple(self._running):
            database.cancel()

    def close(self) -> None:
        """Interrupt what runs, and close what is open."""
        self.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)
        while self._idle:
            self._idle.pop().close()


class _Call:
    """One question on its way, and how it is ended from the thread of the asker."""

    def __init__(self) -> None:
        self._lock = Lock()  # an index that has been given back answers somebody else by now
        self._database: Database | None = None
        self._is_cancelled = False

    def begin(self, database: Database) -> None:
        """Say which index answers. Raises CancelledError where nobody waits any more."""
        with self._lock:
            if self._is_cancelled:
                raise CancelledError(database.path, "nobody waits for the answer", "ask again")
            self._database = database

    def end(self) -> None:
        """Let nobody interrupt the index any more."""
        with self._lock:
            self._database = None

    def cancel(self) -> None:
        """Interrupt the question, or keep it from being asked."""
        with self._lock:
            self._is_cancelled = True
            if self._database is not None:
                self._database.cancel()
