"""Worker processes that read and project pages, for builds and large batches; inline for a few.

A worker that dies, or spends more CPU time or memory than a page may cost, is replaced, and that page alone
is given up. Workers know the tree and the core, never the store. Outcomes come in the order asked for.
Who has no patience is told that a page is late; one worker goes on with it, and one such page at a time.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final

from indexerd.core.model import ProjectionOptions
from indexerd.core.sync.plan import Late, Outcome
from indexerd.core.sync.reconcile import ToRead
from indexerd.core.sync.retries import GROWTH
from indexerd.errors import IndexerdError, ReplacedProgramError, StorageError
from indexerd.pipeline.page_task import Expensive, give_up, look_at
from indexerd.tree.scanner import Stopped, TreeSettings
from indexerd.tree.tree import Tree

PAGE_BUDGET_S: Final = 10.0  # of CPU (spec 3.4): a pause costs none; the slowest page of two wikis takes 0.5
WORKER_BYTES: Final = 768 << 20  # of address space; 8 MB of prose take 95 MB, with an interpreter of 20
STALL_S: Final = 600.0  # without CPU time spent: a disk that does not answer, or a machine that stood still
_STALLED: Final = f"nothing came of it for {STALL_S:.0f} s"
START_BUDGET_S: Final = 60.0  # from start to ready: 0.2 s; a machine that swaps is given time
INLINE_BYTES: Final = 512 << 10  # in all; less is projected sooner than workers are started
# Of one page: only a worker can be ended. The worst text known (lines that continue a hundred quotes) costs
# .11 ms a byte, so that this much keeps to the budget; one page in a thousand is larger.
INLINE_PAGE_BYTES: Final = 64 << 10
LARGE_BYTES: Final = 2 << 20  # of a page: prose of that size takes a second
POLL_S: Final = 0.2  # how late a stop or a spent budget is noticed at most

# New objects before the cyclic collector runs: a page is mostly gone by then. By default it runs
# dozens of times a page, over tuples that hold no cycle, for a tenth of a worker's time.
_COLLECTED_AFTER: Final = 100_000

_SHARE_PAGES: Final = 16  # handed to a worker at once; each outcome comes back by itself
_SHARE_BYTES: Final = 256 << 10
_SHARES_AHEAD: Final = 2  # a worker never waits for the next one
_WINDOW_PAGES: Final = 512  # outcomes held back at most until their turn comes


@dataclass(slots=True)
class _Worker:
    """One process, and the places of the pages it owes an outcome for, oldest first."""

    process: subprocess.Popen[bytes]
    connection: Connection[Any, Any]
    ready: bool = False
    is_known: bool = False  # it has said of which code it is
    owed: deque[int] = field(default_factory=deque)
    since: float = field(default_factory=time.monotonic)
    late: str | None = None  # the page it goes on with, while nobody waits for it

    def is_at_work_for(self, seconds: float) -> bool:
        return self.ready and bool(self.owed) and time.monotonic() - self.since > seconds

    def is_overdue(self) -> bool:
        budget = STALL_S if self.ready else START_BUDGET_S
        return (bool(self.owed) or not self.ready) and time.monotonic() - self.since > budget

    def reason_of_death(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)  # its end of the pipe is closed a moment before it can be asked for
        if self.process.returncode == -signal.SIGPROF:
            return "it took too much time"
        return "the process that parsed it died"

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()


class Projector:
    """Turns pages to read into outcomes. Workers stay for the next call; `close` ends them."""

    def __init__(self, tree: Tree, options: ProjectionOptions, *, workers: int | None = None) -> None:
        self._tree = tree
        self._options = options
        self._count = _processors() if workers is None else workers
        self._workers: list[_Worker] = []
        self._late: dict[str, Outcome | None] = {}  # pages that took long, with the outcome once it is there
        self._aside: _Worker | None = None  # at work at one of them

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids of the workers there are."""
        aside = [self._aside] if self._aside is not None else []
        return tuple(worker.process.pid for worker in (*self._workers, *aside))

    @property
    def late(self) -> tuple[str, ...]:
        """The pages that took long and whose outcome nobody has been given yet."""
        return tuple(self._late)

    def outcomes(
        self, wanted: Sequence[ToRead], stop: Callable[[], bool], patience_s: float | None = None
    ) -> Generator[Outcome | Late, None, None]:
        """One outcome for each page, in this order. Raises Stopped soon after `stop` says so.

        A page on which a worker has spent `patience_s` (seconds) is Late: ask for it again.
        """
        if self._count == 0 or _is_little([page.size for page in wanted]):
            for page in wanted:
                if stop():
                    raise Stopped
                outcome = look_at(page, self._tree, self._options, limited=self._count == 0)
                if isinstance(outcome, Expensive):
                    yield from self._from_workers([page], stop, patience_s)
                else:
                    self.forget(page.path)
                    yield outcome
            return
        yield from self._from_workers(wanted, stop, patience_s)

    def forget(self, path: str) -> None:
        """Let go of a page that is late: it has another outcome, or none any more."""
        if path in self._late and self._aside is not None and self._aside.late == path:
            self._aside.end()
            self._aside = None
        self._late.pop(path, None)

    def close(self) -> None:
        """End the workers. The next call starts new ones where it needs them."""
        for path in self.late:
            self.forget(path)
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _from_workers(
        self, wanted: Sequence[ToRead], stop: Callable[[], bool], patience_s: float | None
    ) -> Iterator[Outcome | Late]:
        done = dict(self._late_outcomes(wanted)) if patience_s is not None else {}
        waiting = deque(_shares(wanted, done))
        following = 0
        try:
            while True:
                while following in done:
                    outcome = done.pop(following)
                    if not isinstance(outcome, Late):
                        self.forget(outcome.path)
                    yield outcome
                    following += 1
                if following == len(wanted):
                    return
                self._hand_out(waiting, wanted, following + _WINDOW_PAGES)
                done.update(self._collect(wanted, waiting, patience_s))
                if stop():
                    raise Stopped
        except BaseException:
            self.close()  # what they still owe belongs to nobody
            raise

    def _hand_out(self, waiting: deque[list[int]], wanted: Sequence[ToRead], limit: int) -> None:
        while len(self._workers) < min(self._count, len(waiting) + len(self._workers)):
            self._workers.append(_start(self._tree, self._options))
        for worker in sorted(self._workers, key=lambda worker: len(worker.owed)):
            while waiting and waiting[0][0] < limit and len(worker.owed) < _SHARE_PAGES * _SHARES_AHEAD:
                share = waiting.popleft()
                if not worker.owed:
                    worker.since = time.monotonic()
                worker.owed.extend(share)
                try:
                    worker.connection.send([(wanted[place], _budget_s(wanted[place])) for place in share])
                except OSError:
                    break  # it has died; its end of the pipe says so when it is read

    def _late_outcomes(self, wanted: Sequence[ToRead]) -> Iterator[tuple[int, Outcome | Late]]:
        """What is there of pages that took long before, and of those that must wait for their turn."""
        self._receive_late()
        is_taken = self._aside is not None
        for place, page in enumerate(wanted):
            outcome = self._late.get(page.path)
            if outcome is not None:
                yield place, outcome
            elif page.path in self._late or page.size >= LARGE_BYTES:
                if is_taken:
                    yield place, Late(page.path)
                is_taken = True

    def _receive_late(self) -> None:
        """Take in the outcome of the page that a worker went on with, if it is there."""
        worker = self._aside
        if worker is None or worker.late is None:
            return
        outcome: Outcome | IndexerdError
        if worker.connection.poll():
            try:
                outcome = worker.connection.recv()
            except (EOFError, OSError):
                outcome = give_up(worker.late, self._tree, worker.reason_of_death())
        elif worker.is_overdue():
            outcome = give_up(worker.late, self._tree, _STALLED)
        else:
            return
        worker.end()
        self._aside = None
        if not isinstance(outcome, IndexerdError):  # else of the tree as a whole: the page is asked for again
            self._late[worker.late] = outcome

    def _set_aside(
        self, worker: _Worker, wanted: Sequence[ToRead], waiting: deque[list[int]]
    ) -> tuple[int, Late]:
        """Let a worker go on with a page that takes long, unless another does; others get what it owes."""
        self._workers.remove(worker)
        place, *others = worker.owed
        worker.late = wanted[place].path
        self._late[worker.late] = None
        if others:
            waiting.appendleft(others)
        if self._aside is None:
            self._aside = worker
        else:
            worker.end()
        return place, Late(worker.late)

    def _collect(
        self, wanted: Sequence[ToRead], waiting: deque[list[int]], patience_s: float | None
    ) -> Iterator[tuple[int, Outcome | Late]]:
        """The outcomes that are there, and those of pages whose worker died, ran over or takes long."""
        readable = set(wait([worker.connection for worker in self._workers], POLL_S))
        for worker in list(self._workers):
            reason = None
            if worker.connection in readable:
                try:
                    outcome = worker.connection.recv()
                except (EOFError, OSError):
                    reason = worker.reason_of_death()
                else:
                    worker.since = time.monotonic()
                    if isinstance(outcome, IndexerdError):
                        raise outcome
                    if worker.ready:
                        yield worker.owed.popleft(), outcome
                    elif not worker.is_known and outcome != CODE:
                        raise _replaced()
                    worker.ready, worker.is_known = worker.is_known, True
            elif worker.is_overdue():
                reason = _STALLED
            elif patience_s is not None and worker.is_at_work_for(patience_s):
                yield self._set_aside(worker, wanted, waiting)
            if reason is not None:
                yield from self._replace(worker, reason, wanted, waiting)

    def _replace(
        self, worker: _Worker, reason: str, wanted: Sequence[ToRead], waiting: deque[list[int]]
    ) -> Iterator[tuple[int, Outcome]]:
        self._workers.remove(worker)
        worker.end()
        if not worker.ready and code_identity() != CODE:
            raise _replaced()
        if not worker.ready:
            remedy = "check that the installation is complete and that there is memory"
            raise StorageError(sys.executable, "a worker process does not start", remedy)
        if worker.owed:
            place = worker.owed.popleft()
            yield place, give_up(wanted[place].path, self._tree, reason)
        if worker.owed:
            waiting.appendleft(list(worker.owed))


def code_identity() -> str:
    """Tells the code at this program's place from any other: names, sizes and times of its files."""
    folder = os.path.dirname(os.path.dirname(__file__))
    found = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(name for name in names if name.endswith(".py")):
            facts = os.stat(os.path.join(place, name))
            found.update(f"{place}/{name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return found.hexdigest()


CODE: Final = code_identity()  # when this process began: 3 ms


def _replaced() -> ReplacedProgramError:
    problem = "the program was replaced by another version while it ran"
    return ReplacedProgramError(os.path.dirname(os.path.dirname(__file__)), problem, "start it again")


def _budget_s(page: ToRead) -> float:
    return PAGE_BUDGET_S * float(GROWTH**page.attempts)


def _processors() -> int:
    """How many this process may use; not every system tells."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _is_little(sizes: list[int]) -> bool:
    return sum(sizes) <= INLINE_BYTES and max(sizes, default=0) <= INLINE_PAGE_BYTES


def _shares(wanted: Sequence[ToRead], done: Container[int]) -> Iterator[list[int]]:
    """The places of the pages that are not done, in shares of some pages and bytes."""
    share: list[int] = []
    size = 0
    for place, page in enumerate(wanted):
        if place in done:
            continue
        if share and (len(share) >= _SHARE_PAGES or size + page.size > _SHARE_BYTES):
            yield share
            share, size = [], 0
        share.append(place)
        size += page.size
    if share:
        yield share


def _start(tree: Tree, options: ProjectionOptions) -> _Worker:
    """A process of its own kind: forked ones would inherit locks, threads and the index's descriptors."""
    ours, theirs = Pipe()
    try:
        set_up = f"import sys; sys.path[:] = {sys.path!r}"
        code = f"{set_up}; from indexerd.pipeline.workers import run; run({theirs.fileno()}, {WORKER_BYTES})"
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", code],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,  # Ctrl-C is for the parent, which then ends its workers
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    ours.send((tree.root, tree.settings, options))
    return _Worker(process, ours)


def run(descriptor: int, most_bytes: int) -> None:
    """The worker's whole life, until the parent closes its end: set up, then outcomes, one a page.

    `most_bytes`: of address space.
    """
    gc.set_threshold(_COLLECTED_AFTER)
    connection: Connection[Any, Any] = Connection(descriptor)
    with contextlib.suppress(OSError, ValueError):  # a lower limit is in force, or there is none to set
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    try:
        connection.send(CODE)  # before anything that another version may understand otherwise
        root, settings, options = _received(connection)
        tree = Tree(root, settings)
        connection.send(None)  # ready: what dies from here on dies of a page
        while True:
            share: Iterable[tuple[ToRead, float]] = connection.recv()
            for wanted, budget_s in share:
                signal.setitimer(signal.ITIMER_PROF, budget_s)  # of CPU; SIGPROF then ends this process
                connection.send(_looked_at(wanted, tree, options))
            signal.setitimer(signal.ITIMER_PROF, 0)
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        return


def _looked_at(wanted: ToRead, tree: Tree, options: ProjectionOptions) -> Outcome | Expensive | IndexerdError:
    """The outcome, or what is wrong with the tree as a whole: its root is gone, say."""
    try:
        return look_at(wanted, tree, options, limited=True)
    except IndexerdError as error:
        return error


def _received(connection: Connection[Any, Any]) -> tuple[str, TreeSettings, ProjectionOptions]:
    root, settings, options = connection.recv()
    return root, settings, options
