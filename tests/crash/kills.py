"""Daemons and builds that are killed and stopped at random points, while others read and the tree changes.

`python -m tests.crash.kills --kills 1000 [--readers 2] [--check-every 50] [--seed N] [--folder F]`:
short with `--kills 20 --check-every 10`. With a `--folder` that was used before, it goes on there. Counts
corrupt files, torn views, errors of readers and differences; all must be 0.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from indexerd.store.store import UNCLEAN_JUMP
from tests.crash.command import Command
from tests.crash.operations import EQUAL_S, Mischief
from tests.crash.process import START_S, LiveDaemon, open_index, wait_until

LONGEST_LIFE_S: Final = 0.4  # of a daemon before it is killed, from its start, or once it follows
STOPS: Final = 4  # one end in so many is a clean one
LONGEST_BUILD_S: Final = 1.0
CHECKED: Final = ("sections_fts", "names_fts")  # the third keeps no content to compare with
BUILDS: Final = 5  # after so many lives a build is killed as well


@dataclass(slots=True)
class Counts:
    """What was seen. `looks`: searches by the readers."""

    kills: int = 0
    builds: int = 0
    stops: int = 0
    commits: int = 0
    looks: int = 0
    checks: int = 0
    faults: list[str] = field(default_factory=list)


@contextmanager
def reading(db: Path, readers: int, counts: Counts, prefix: Sequence[str] = ()) -> Iterator[None]:
    """Readers over held and over new connections, whose findings are counted at the end."""
    command = [*prefix, sys.executable, "-m", "tests.crash.reader", str(db)]
    processes = [
        subprocess.Popen(
            [*command, "held" if nth % 2 else "anew"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for nth in range(readers)
    ]
    try:
        yield
    finally:
        for process in processes:
            out, _ = process.communicate()
            found: dict[str, Any] = json.loads(out)
            counts.looks += found["looks"]
            counts.faults += [f"reader: {error}" for error in found["errors"]]
            counts.faults += [
                f"reader: {found[kind]} {kind}" for kind in ("torn", "backwards") if found[kind]
            ]


def check_file(db: Path, counts: Counts) -> None:
    """What SQLite thinks of the file and its full text, in a copy: the check of the full text writes."""
    with tempfile.TemporaryDirectory(prefix="left-") as copy:
        for left in (db, db.with_name(f"{db.name}-wal")):
            if left.exists():
                shutil.copy(left, copy)
        with closing(sqlite3.connect(Path(copy, db.name))) as connection:
            said = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            if said != ["ok"]:
                counts.faults.append(f"integrity_check: {said[:3]}")
            for table in CHECKED:
                try:
                    connection.execute(f"INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)")
                except sqlite3.DatabaseError as error:
                    counts.faults.append(f"{table}: {error}")


def generation_of(db: Path) -> int:
    """The generation that readers see, without the jumps."""
    with closing(open_index(db)) as index:
        found = index.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
    return int(found) % UNCLEAN_JUMP


def run(folder: Path, *, kills: int, readers: int, check_every: int, seed: int) -> Counts:
    """Plays the kills. Raises UnequalError at the first difference between tree and index."""
    generator = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True, exist_ok=True)
    mischief = Mischief(root, generator)
    for _ in range(60):
        mischief.create()
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    counts = Counts()
    daemon.start()
    with reading(daemon.db, readers, counts):
        for number in range(1, kills + 1):
            before = generation_of(daemon.db)
            _live_and_die(daemon, mischief, generator, counts)
            check_file(daemon.db, counts)
            counts.commits += max(generation_of(daemon.db) - before, 0)
            if number % BUILDS == 0:
                _kill_build(daemon, mischief, generator, counts)
                check_file(daemon.db, counts)
            daemon.start(wait=number % check_every == 0)
            if number % check_every == 0:
                daemon.wait_equal(EQUAL_S)
                daemon.verify()
                counts.checks += 1
                print(f"{number} ends: equal, {len(counts.faults)} faults", flush=True)
        daemon.stop(signal.SIGKILL)
    return counts


def _live_and_die(daemon: LiveDaemon, mischief: Mischief, generator: random.Random, counts: Counts) -> None:
    if generator.random() < 0.5:
        wait_until(daemon.is_ready, START_S, "start")
    until = time.monotonic() + generator.random() * LONGEST_LIFE_S
    while time.monotonic() < until:
        mischief.one()
        time.sleep(0.005)
    if generator.randrange(STOPS) == 0:
        daemon.stop(signal.SIGTERM if daemon.is_ready() else signal.SIGKILL)
        counts.stops += 1
    else:
        daemon.stop(signal.SIGKILL)
        counts.kills += 1


def _kill_build(daemon: LiveDaemon, mischief: Mischief, generator: random.Random, counts: Counts) -> None:
    """`indexerd build` over a tree with many changes."""
    for _ in range(40):
        mischief.one()
    words = [str(Path(sys.executable).with_name("indexerd")), "build", str(daemon.root)]
    with subprocess.Popen([*words, "--db", str(daemon.db)], stderr=subprocess.DEVNULL) as build:
        with contextlib.suppress(subprocess.TimeoutExpired):
            build.wait(generator.random() * LONGEST_BUILD_S)
        build.kill()
    counts.kills += 1
    counts.builds += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("kills", __doc__, kills=1000, readers=2, check_every=50)
    options = command.parse(arguments)
    how = {"kills": options.kills, "readers": options.readers, "check_every": options.check_every}
    return command.play(options, lambda folder: dataclasses.asdict(run(folder, **how, seed=options.seed)))


if __name__ == "__main__":
    sys.exit(main())
