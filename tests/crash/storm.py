"""A storm of files that overflows the watcher's queue, of which nothing tells: equal soon after it.

`python -m tests.crash.storm [--files 50000] [--queue 64] [--limit 15]` lowers the kernel's queue for the
moment in which the daemon opens its watcher (root only; 0 leaves it), then makes, edits, moves and
deletes.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.process import Hashes, LiveDaemon, wait_until

QUEUE: Final = Path("/proc/sys/fs/inotify/max_queued_events")
# As long as usual, read before any test shortens it: tests of another file may run at the same time.
USUAL_QUEUE: Final = int(QUEUE.read_text()) if QUEUE.exists() else 0
SHORT_QUEUE: Final = 64
WATCHING_S: Final = 30.0
FOLDERS: Final = 50
Act = Callable[[Path, Hashes, int, random.Random], None]


@contextmanager
def queue_of(events: int) -> Iterator[None]:
    """Watchers that are opened meanwhile have a queue of this length; 0 leaves it as it is."""
    before = QUEUE.read_text()
    if events:
        QUEUE.write_text(str(events))
    try:
        yield
    finally:
        if events:
            QUEUE.write_text(before)


def write(root: Path, expected: Hashes, path: str, text: str) -> None:
    """A page, and what the index must say of it."""
    (root / path).write_text(text)
    expected[path] = hashlib.sha256(text.encode()).hexdigest()


def make(root: Path, expected: Hashes, files: int, _chance: random.Random) -> None:
    """All the pages, each folder right before its first."""
    for nth in range(files):
        folder = f"d{nth % FOLDERS}/e{nth % 7}"
        (root / folder).mkdir(parents=True, exist_ok=True)
        write(root, expected, f"{folder}/{nth}.md", f"# Page {nth}\n\nwords of page {nth}\n")


def edit(root: Path, expected: Hashes, _files: int, chance: random.Random) -> None:
    """Half of the pages, in place."""
    for nth, path in enumerate(sorted(expected)):
        if chance.random() < 1 / 2:
            write(root, expected, path, f"# Edited {nth}\n\nother words\n")


def move(root: Path, expected: Hashes, _files: int, chance: random.Random) -> None:
    """A tenth of the folders."""
    for nth in chance.sample(range(FOLDERS), FOLDERS // 10):
        (root / f"d{nth}").rename(root / f"moved{nth}")
        for path in [path for path in expected if path.startswith(f"d{nth}/")]:
            expected[path.replace(f"d{nth}/", f"moved{nth}/", 1)] = expected.pop(path)


def delete(root: Path, expected: Hashes, _files: int, chance: random.Random) -> None:
    """A third of the pages."""
    for path in sorted(expected):
        if chance.random() < 1 / 3:
            (root / path).unlink()
            del expected[path]


ACTS: Final[tuple[Act, ...]] = (make, edit, move, delete)


def run(folder: Path, *, files: int, queue: int, limit_s: float, seed: int) -> dict[str, float]:
    """Seconds of quiet until equal after each act. Raises UnequalError past `limit_s`."""
    root = folder / "wiki"
    root.mkdir(parents=True)
    (root / "first.md").write_text("# First\n")
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    with queue_of(queue):
        daemon.start()
        wait_until(lambda: daemon.state()["mode"] == "watching", WATCHING_S, "watching")
    expected: Hashes = {"first.md": hashlib.sha256(b"# First\n").hexdigest()}
    took = {}
    chance = random.Random(seed)
    try:
        for act in ACTS:
            name, began, cpu_s = act.__name__, time.monotonic(), daemon.cpu_s
            act(root, expected, files, chance)
            lasted = time.monotonic() - began
            took[name] = daemon.wait_equal(limit_s, expected)
            missed = daemon.state()["counters"].get("missed_by_events", 0)
            print(
                f"{name} in {lasted:.1f} s: equal after {took[name]:.2f} s of quiet, {missed} missed, "
                f"{daemon.cpu_s - cpu_s:.1f} s of CPU",
                flush=True,
            )
        daemon.verify()
        daemon.stop()
    finally:
        if daemon.process is not None:
            daemon.process.kill()
            daemon.process.wait()
    return took


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    queue = SHORT_QUEUE if os.geteuid() == 0 else 0
    command = Command("storm", __doc__, files=50_000, queue=queue, limit=15.0)
    options = command.parse(arguments)
    how = {"files": options.files, "queue": options.queue}

    def play(folder: Path) -> dict[str, object]:
        took = run(folder, **how, limit_s=options.limit, seed=options.seed)
        return {"faults": [], **how, "equal_worst_s": round(max(took.values()), 2)}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
