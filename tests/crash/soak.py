"""Edits at a steady rate for a long time: memory, descriptors, log and file must not grow with them.

`python -m tests.crash.soak [--edits 90000] [--rate 50] [--pages 2000] [--idle 60] [--seed N]` prints a
line a sample, then what grew; at the end the index must be what the tree says, and idle must be idle.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from tests.crash.command import Command
from tests.crash.process import LiveDaemon, wait_until

SAMPLES: Final = 60  # over the whole time
EQUAL_S: Final = 15.0  # of quiet
MOST_GROWTH_BYTES: Final = 10_000_000  # of resident memory, from the first tenth to the last
BUSIEST_IDLE: Final = 0.002  # of one core
LEAST_IDLE_S: Final = 30.0  # below it, one tick of the CPU clock is too much of the time
SETTLE_S: Final = 5.0  # after the last edit: young stamps are hashed once more, the log is emptied
WORDS: Final = tuple(f"word{nth}" for nth in range(5000))
FOLDERS: Final = 40


@dataclass(frozen=True, slots=True)
class Sample:
    """The daemon at one moment. Sizes in bytes; `cpu_s`: used since it started."""

    edits: int
    resident: int
    descriptors: int
    wal: int
    file: int
    cpu_s: float
    pending: int
    commits: int

    def line(self) -> str:
        """For people."""
        sizes = ", ".join(
            f"{size / 1e6:.1f} MB {name}"
            for name, size in (("resident", self.resident), ("wal", self.wal), ("file", self.file))
        )
        work = f"{self.commits} commits, {self.pending} pending, {self.cpu_s:.1f} s of CPU"
        return f"{self.edits} edits: {sizes}, {self.descriptors} descriptors, {work}"


@dataclass(slots=True)
class Outcome:
    """All samples, and what happened once it was quiet."""

    samples: list[Sample] = field(default_factory=list)
    took_s: float = 0.0
    equal_s: float = 0.0
    idle_commits: int = 0
    idle_share: float = 0.0

    def growth(self, what: Literal["resident", "descriptors"]) -> int:
        """From the first tenth of the samples to the last: medians, since a look in progress holds more."""
        tenth = max(1, len(self.samples) // 10)
        values: list[int] = [getattr(sample, what) for sample in self.samples]
        return int(statistics.median(values[-tenth:]) - statistics.median(values[:tenth]))

    @property
    def faults(self) -> list[str]:
        """What must not be."""
        found = []
        if self.growth("resident") > MOST_GROWTH_BYTES:
            found.append(f"memory grew by {self.growth('resident')} bytes")
        if self.growth("descriptors") > 0:
            found.append(f"{self.growth('descriptors')} more descriptors")
        if self.idle_commits:
            found.append(f"{self.idle_commits} commits while nothing changed")
        if self.idle_share > BUSIEST_IDLE:
            found.append(f"{100 * self.idle_share:.2f} % of a core while nothing changed")
        return found


class Editor:
    """Edits of every common kind on a set of pages that stays about as large as it is."""

    def __init__(self, root: Path, pages: int, generator: random.Random) -> None:
        self._random = generator
        self._paths = [root / f"d{nth % FOLDERS}" / f"page{nth}.md" for nth in range(pages)]
        for path in self._paths:
            path.parent.mkdir(exist_ok=True)
            path.write_text(self._text())

    def one(self) -> None:
        """One edit."""
        path = self._random.choice(self._paths)
        kind = self._random.randrange(10)
        if not path.exists() or kind < 4:
            path.write_text(self._text())
        elif kind < 7:
            temporary = path.with_name(f".{path.name}.tmp")
            temporary.write_text(self._text())
            temporary.replace(path)
        elif kind == 7:
            with path.open("a") as page:
                page.write(f"\n{self._line()}\n")
        elif kind == 8:
            path.unlink()
        else:
            path.rename(self._random.choice(self._paths))

    def _text(self) -> str:
        links = f"[a link]({self._random.choice(self._paths).name}) and [[page{self._random.randrange(99)}]]"
        parts = [f"# {self._line()}", links]
        for _ in range(self._random.randrange(1, 8)):
            parts += [f"## {self._line()}", *(self._line() for _ in range(self._random.randrange(1, 8)))]
        return "\n\n".join(parts) + "\n"

    def _line(self) -> str:
        return " ".join(self._random.choice(WORDS) for _ in range(self._random.randrange(3, 15)))


def measure(daemon: LiveDaemon, edits: int) -> Sample:
    """What the daemon uses now, from /proc."""
    proc = Path(f"/proc/{daemon.pid}")
    fields = (proc / "stat").read_text().rpartition(")")[2].split()
    state: dict[str, Any] = daemon.state()
    return Sample(
        edits=edits,
        resident=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
        descriptors=len(os.listdir(proc / "fd")),
        wal=daemon.db.with_name("index.db-wal").stat().st_size,
        file=daemon.db.stat().st_size,
        cpu_s=daemon.cpu_s,
        pending=state["pending"],
        commits=state["counters"].get("commits", 0),
    )


def run(folder: Path, *, edits: int, rate: float, pages: int, idle_s: float, seed: int) -> Outcome:
    """The whole soak. Raises UnequalError when the index is not what the tree says in the end."""
    generator = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True)
    editor = Editor(root, pages, generator)
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    outcome = Outcome()
    daemon.start()
    try:
        began = time.monotonic()
        for number in range(1, edits + 1):
            editor.one()
            if number % max(1, edits // SAMPLES) == 0:
                outcome.samples.append(measure(daemon, number))
                print(outcome.samples[-1].line(), flush=True)
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
        outcome.took_s = time.monotonic() - began
        outcome.equal_s = daemon.wait_equal(EQUAL_S)
        _idle(daemon, outcome, edits, idle_s)
        daemon.verify()
        daemon.stop()
    finally:
        if daemon.process is not None:
            daemon.process.kill()
            daemon.process.wait()
    return outcome


def _idle(daemon: LiveDaemon, outcome: Outcome, edits: int, idle_s: float) -> None:
    settle_s = min(SETTLE_S, idle_s)
    time.sleep(settle_s)
    scanned = daemon.state()["counters"]["scans"]
    wait_until(lambda: daemon.state()["counters"]["scans"] > scanned, 900, "a scan after the last edit")
    time.sleep(max(settle_s, idle_s))  # a minute after a change the watcher asks less often
    before = measure(daemon, edits)
    time.sleep(idle_s)
    after = measure(daemon, edits)
    print(f"idle: {after.line()}", flush=True)
    outcome.idle_commits = after.commits - before.commits
    if idle_s >= LEAST_IDLE_S:
        outcome.idle_share = (after.cpu_s - before.cpu_s) / idle_s


def figures(outcome: Outcome, edits: int) -> dict[str, object]:
    """What the soak came to; sizes in bytes."""
    samples = outcome.samples
    counts = [sample.descriptors for sample in samples]
    return {
        "edits": edits,
        "seconds": round(outcome.took_s),
        "memory_growth": outcome.growth("resident"),
        "descriptors": [min(counts), max(counts)],
        "wal_most": max(sample.wal for sample in samples),
        "file": [samples[0].file, samples[-1].file],
        "equal_s": round(outcome.equal_s, 2),
        "idle_commits": outcome.idle_commits,
        "idle_share": round(outcome.idle_share, 5),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("soak", __doc__, edits=90_000, rate=50.0, pages=2_000, idle=60.0)
    options = command.parse(arguments)

    def play(folder: Path) -> dict[str, object]:
        outcome = run(
            folder,
            edits=options.edits,
            rate=options.rate,
            pages=options.pages,
            idle_s=options.idle,
            seed=options.seed,
        )
        return {"faults": outcome.faults, **figures(outcome, options.edits)}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
