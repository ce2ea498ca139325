"""The N-th operation of a running daemon fails, once or from then on: it must recover by itself.

`python -m tests.crash.failing [--calls pwrite64:EIO ...] [--first 1] [--to 200] [--step 1]`: strace
lets a system call fail while pages are edited and searched. Short with `--to 200 --step 40`; goes on
after a case with `--first`. Without `--calls`, all are tried; those that do not write at every tenth number.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.crash.barrier import ask
from tests.crash.command import Command
from tests.crash.kills import Counts as Readers
from tests.crash.kills import check_file, reading
from tests.crash.process import LiveDaemon, UnequalError, hash_index, open_index

EVERY_CALL: Final = ("pwrite64:EIO", "pwrite64:ENOSPC", "fdatasync:EIO", "fdatasync:ENOSPC")
EVERY_TENTH: Final = (
    "ftruncate:EIO", "ftruncate:ENOSPC", "mmap:ENOMEM", "openat:EMFILE", "openat:ENOMEM", "openat:EIO",
    "getdents64:EIO", "getdents64:ENOMEM", "fsync:EIO", "pread64:EIO", "read:EIO", "newfstatat:EIO",
    "accept4:EMFILE", "rename:ENOSPC", "write:ENOSPC",
)  # fmt: skip
READING: Final = "pread64"
RECOVERED_S: Final = 10.0  # after the fault has gone (spec 7)
HIT_S: Final = 2.5  # of edits; what has not failed by then is not used that often
HELD_S: Final = 0.4  # how long everything goes on failing
ASK_S: Final = 0.3
EDIT_PAUSE_S: Final = 0.02
PAGES: Final = 40
VERIFY_EVERY: Final = 25  # cases


@dataclass(slots=True)
class Counts:
    """`hit`: cases in which a call failed. `slowest_s`: until the index was equal again.

    `made_anew`: an index that cannot be read may be called damaged, by SQLite too; else it must not be.
    """

    cases: int = 0
    hit: int = 0
    failed_calls: int = 0
    asked: int = 0
    fresh: int = 0
    verified: int = 0
    made_anew: int = 0
    slowest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


@contextmanager
def calls_failing(pid: int, call: str, when: str, log: Path) -> Iterator[None]:
    """Lets a system call of the process fail, counted by the thread that makes it."""
    name, _, error = call.partition(":")
    words = ["strace", "-f", "-p", str(pid), "-o", str(log), "-e", f"trace={name}"]
    words += ["-e", f"inject={name}:error={error}:when={when}"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        if "attached" not in tracer.stderr.readline():
            raise RuntimeError(f"strace cannot be attached: {tracer.stderr.read()}")
        try:
            yield
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()


def parse_traced(
    command: Command, calls: Sequence[str], arguments: Sequence[str] | None
) -> argparse.Namespace:
    """The options of a command that makes calls fail, `--calls` among them."""
    command.parser.add_argument("--calls", nargs="*", default=[*calls])
    options = command.parse(arguments)
    if shutil.which("strace") is None:
        command.parser.error("strace is not installed here")
    return options


def play_calls(command: Command, options: argparse.Namespace, run: Callable[..., Any]) -> int:
    """Runs a command that tries every call at every number; `run` gives a dataclass of counts."""
    numbers = range(options.first, options.to + 1, options.step)
    return command.play(
        options,
        lambda folder: dataclasses.asdict(
            run(folder, calls=options.calls, numbers=numbers, seed=options.seed)
        ),
    )


def failures_in(log: Path) -> int:
    return log.read_text(errors="replace").count("(INJECTED)") if log.exists() else 0


@dataclass(slots=True)
class Trial:
    """A daemon whose calls fail, case after case."""

    folder: Path
    chance: random.Random
    counts: Counts = field(default_factory=Counts)
    daemon: LiveDaemon = field(init=False)
    control: str = ""
    edits: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        root = self.folder / "wiki"
        root.mkdir(parents=True)
        self.daemon = LiveDaemon(root, self.folder / "state" / "index.db")
        for _ in range(PAGES):
            self.edit()

    def start(self) -> None:
        self.daemon.start()
        self.control = self.daemon.state()["control"]

    def index_id(self) -> str:
        with closing(open_index(self.daemon.db)) as index:
            return str(index.execute("SELECT value FROM meta WHERE key = 'index_id'").fetchone()[0])

    def edit(self) -> Path:
        """One page saved, or now and then a folder that goes."""
        nth = next(self.edits)
        part = self.daemon.root / f"part{self.chance.randrange(4)}"
        if nth % 37 == 36:
            shutil.rmtree(part, ignore_errors=True)
        part.mkdir(exist_ok=True)
        page = part / f"{self.chance.randrange(PAGES // 4)}.md"
        words = " ".join(f"w{self.chance.randrange(3000)}" for _ in range(self.chance.randrange(20, 400)))
        page.write_text(f"# Page {nth}\n\n[x](0.md) {words}\n\n## Part\n\n{words}\n")
        return page

    def case(self, call: str, number: int, *, lasting: bool) -> None:
        """Edits until the call has failed, asks for freshness meanwhile, and waits for equality after it."""
        what = f"{call} {number}{'+' if lasting else ''}"
        self.counts.cases += 1
        if self.daemon.process is None or self.daemon.process.poll() is not None:
            self.start()
        pid, before = self.daemon.pid, self.index_id()
        log = self.folder / "strace.log"
        log.unlink(missing_ok=True)
        try:
            with calls_failing(pid, call, f"{number}+" if lasting else str(number), log):
                self._work(log, what)
                if lasting and failures_in(log):
                    self._work_on(HELD_S, what)
            self.counts.slowest_s = max(self.counts.slowest_s, self.daemon.wait_equal(RECOVERED_S))
            if self.index_id() != before:
                self.counts.made_anew += 1
            if self.index_id() != before and not call.startswith(READING):
                self.counts.faults.append(f"{what}: the index was made anew")
        except UnequalError as error:
            self.counts.faults.append(f"{what}: {error}")
        self.counts.hit += failures_in(log) > 0
        self.counts.failed_calls += failures_in(log)
        if self.counts.cases % VERIFY_EVERY == 0:
            self.check(what)

    def check(self, what: str) -> None:
        """The file, its full text and every row, against a fresh projection."""
        found = Readers()
        check_file(self.daemon.db, found)
        try:
            self.daemon.verify()
        except UnequalError as error:
            found.faults.append(str(error))
        self.counts.verified += 1
        self.counts.faults += [f"{what}: {fault}" for fault in found.faults]

    def _work(self, log: Path, what: str) -> None:
        until = time.monotonic() + HIT_S
        while time.monotonic() < until and not failures_in(log):
            self._work_on(EDIT_PAUSE_S, what)

    def _work_on(self, seconds: float, what: str) -> None:
        until = time.monotonic() + seconds
        page = self.edit()
        if self.chance.random() < 0.2:
            self._ask(page, what)
        time.sleep(max(until - time.monotonic(), 0))

    def _ask(self, page: Path, what: str) -> None:
        """Whoever is told "fresh" must find what was written before."""
        wanted = hashlib.sha256(page.read_bytes()).hexdigest()
        answer = ask(self.control, timeout_s=ASK_S)
        self.counts.asked += 1
        if answer is not None and answer["fresh"]:
            self.counts.fresh += 1
            path = page.relative_to(self.daemon.root).as_posix()
            if hash_index(self.daemon.db).get(path) != wanted:
                self.counts.faults.append(f"{what}: {path} is called fresh, and is not")


def run(
    folder: Path, *, plan: Mapping[str, Sequence[int]], seed: int, readers: int = 2
) -> tuple[Counts, Readers]:
    """Every call at its numbers; at the even ones it goes on failing for a while."""
    trial, seen = Trial(folder, random.Random(seed)), Readers()
    trial.start()
    try:
        with reading(trial.daemon.db, readers, seen):
            for call, numbers in plan.items():
                for number in numbers:
                    trial.case(call, number, lasting=number % 2 == 0)
                counts = trial.counts
                print(
                    f"{call}: {counts.cases} cases, {counts.hit} hit, {len(counts.faults)} faults", flush=True
                )
        trial.check("the end")
    finally:
        trial.daemon.stop(signal.SIGKILL)
    return trial.counts, seen


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("failing", __doc__, first=1, to=200, step=1)
    options = parse_traced(command, (), arguments)
    numbers = range(options.first, options.to + 1, options.step)
    plan = {call: [*numbers] for call in options.calls or EVERY_CALL}
    if not options.calls:
        plan |= {call: [number for number in numbers if number % 10 == 0] for call in EVERY_TENTH}

    def play(folder: Path) -> dict[str, object]:
        counts, readers = run(folder, plan=plan, seed=options.seed)
        faults = [*counts.faults, *readers.faults]
        return {**dataclasses.asdict(counts), "faults": faults, "looks": readers.looks}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
