"""Readers that never notice the daemon's comings and goings, while the tree changes all the time.

`python -m tests.crash.readers [--minutes 10] [--restarts 20] [--readers 8]`: short with `--minutes 0.2
--restarts 3`. A quarter of the readers are commands, a process for each search; the others hold a
connection, or open one each time. Counts errors, torn views, generations that go backwards.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.kills import Counts as Looks
from tests.crash.kills import reading
from tests.crash.operations import EQUAL_S, WORDS, Mischief
from tests.crash.process import LiveDaemon

EDIT_PAUSE_S: Final = 0.05
COMMAND_SHARE: Final = 4  # one reader in so many is a command
FOUND, NOTHING_FOUND = 0, 1
COMMAND_PAUSE_S: Final = 0.2  # starting Python all the time would measure Python


@dataclass(slots=True)
class Searches:
    """By commands. `errors`: what a user would have seen."""

    done: int = 0
    errors: list[str] = field(default_factory=list)


@contextmanager
def searching(db: Path, commands: int, searches: Searches) -> Iterator[None]:
    """So many people who type one search after the other."""
    over = threading.Event()

    def ask(words: Sequence[str]) -> None:
        chance = random.Random(threading.get_ident())
        while not over.wait(COMMAND_PAUSE_S):
            done = subprocess.run([*words, chance.choice(WORDS)], capture_output=True, text=True, check=False)
            searches.done += 1
            if done.returncode not in (FOUND, NOTHING_FOUND):
                searches.errors.append(f"exit {done.returncode}: {done.stderr.strip()}")

    words = [str(Path(sys.executable).with_name("wikiq")), "--db", str(db), "search"]
    threads = [threading.Thread(target=ask, args=(words,)) for _ in range(commands)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def run(
    folder: Path, *, seconds: float, restarts: int, readers: int, seed: int
) -> tuple[Looks, Searches, int]:
    """Plays it; gives what the readers saw and how many edits were made. Raises UnequalError."""
    generator = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True)
    mischief = Mischief(root, generator)
    for _ in range(100):
        mischief.create()
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    looks, searches, edits = Looks(), Searches(), 0
    daemon.start()
    commands = readers // COMMAND_SHARE
    try:
        with reading(daemon.db, readers - commands, looks), searching(daemon.db, commands, searches):
            for number in range(restarts):
                until = time.monotonic() + seconds / restarts
                while time.monotonic() < until:
                    mischief.one()
                    edits += 1
                    time.sleep(EDIT_PAUSE_S)
                daemon.stop(generator.choice([signal.SIGTERM, signal.SIGKILL]))
                daemon.start()
                print(f"{number + 1} restarts, {edits} edits, {searches.done} searches", flush=True)
            daemon.wait_equal(EQUAL_S)
        daemon.verify()
    finally:
        daemon.stop(signal.SIGKILL)
    return looks, searches, edits


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("readers", __doc__, minutes=10.0, restarts=20, readers=8)
    options = command.parse(arguments)
    how = {"restarts": options.restarts, "readers": options.readers}

    def play(folder: Path) -> dict[str, object]:
        looks, searches, edits = run(folder, seconds=options.minutes * 60, **how, seed=options.seed)
        faults = [*looks.faults, *searches.errors]
        found = {"edits": edits, "looks": looks.looks, "searches": searches.done}
        return {"faults": faults, "minutes": options.minutes, **how, **found}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
