"""The N-th operation of a writer that commits and checkpoints all the time fails: it must end up equal.

`python -m tests.crash.failing_writer [--calls fdatasync:EIO ...] [--first 1] [--to 200] [--step 1]`:
what `failing` cannot reach, since a daemon seldom waits for the disk. Short with `--step 40`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from indexerd.errors import StorageError
from indexerd.store import Store
from tests.building import REPOSITORY
from tests.crash.command import Command
from tests.crash.failing import failures_in, parse_traced, play_calls
from tests.crash.power import Wiki, edited
from tests.store.wiki import NOON, bring, build, open_store, plan_for, rows_of

CALLS: Final = ("fdatasync:EIO", "fdatasync:ENOSPC", "ftruncate:EIO", "pwrite64:EIO", "pwrite64:ENOSPC")
MODULE: Final = "tests.crash.failing_writer"
STEPS: Final = 70  # with three to four syncs each
TRIES: Final = 20  # of one step; a fault hits a few calls in a row at most
LONGEST_FAULT: Final = 4  # calls
CASE_S: Final = 120.0


def wikis(seed: int) -> list[Wiki]:
    """What the writer writes, one after the other."""
    chance, states = random.Random(seed), [Wiki()]
    for _ in range(STEPS):
        states.append(edited(states[-1], chance))
    return states[1:]


def write(folder: Path, seed: int) -> int:
    """The writer, in a process of its own; prints how many operations were refused."""
    refused = 0
    store: Store | None = None
    for number, wiki in enumerate(wikis(seed)):
        for _ in range(TRIES):
            try:
                store = store or open_store(folder)
                bring(store, wiki)
                store.checkpoint(truncate=number % 3 == 0)
                if number % 10 == 9:
                    done, store = store, None  # closed it is, even where that fails
                    done.close()
                break
            except StorageError as error:
                refused += 1
                print(error, file=sys.stderr)
        else:
            return 1
    if store is not None:
        store.close()
    print(refused)
    return 0


def play(folder: Path, call: str, number: int, seed: int, wanted: object) -> tuple[list[str], int, int]:
    """One writer under a fault; what is wrong with what it left, calls that failed, errors it saw."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    log = folder / "strace.log"
    name, _, error = call.partition(":")
    when = f"{number}..{number + number % LONGEST_FAULT}"
    words = ["strace", "-f", "--seccomp-bpf", "-o", str(log), "-e", f"trace={name}"]
    words += ["-e", f"inject={name}:error={error}:when={when}", sys.executable, "-m", MODULE]
    done = subprocess.run(
        [*words, "--write", str(folder / "index"), "--seed", str(seed)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=CASE_S,
    )  # fmt: skip
    if done.returncode:
        return [f"{call} {when}: exit {done.returncode}: {done.stderr[-500:]}"], failures_in(log), 0
    faults = []
    with open_store(folder / "index") as store:
        if store.moved_aside is not None or (folder / "index" / "index.db.damaged").exists():
            faults.append("damaged")
        if store.apply(plan_for(store, wikis(seed)[-1]), committed_at=NOON).committed:
            faults.append("a commit that was said to be done was not")
        faults += store.check_integrity()
    if rows_of(folder / "index") != wanted:
        faults.append("rows differ from those of an index made anew")
    return [f"{call} {when}: {fault}" for fault in faults], failures_in(log), int(done.stdout)


@dataclass(slots=True)
class Counts:
    """`hit`: cases in which a call failed. `refused`: errors that the writer saw and waited out."""

    cases: int = 0
    hit: int = 0
    failed_calls: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


def run(folder: Path, *, calls: Sequence[str], numbers: Sequence[int], seed: int) -> Counts:
    """Every call at every number."""
    counts = Counts()
    wanted = build(folder / "fresh", wikis(seed)[-1])
    for call in calls:
        for number in numbers:
            found, failed, refused = play(folder / "case", call, number, seed, wanted)
            counts.cases += 1
            counts.hit += failed > 0
            counts.failed_calls += failed
            counts.refused += refused
            counts.faults += found
        print(f"{call}: {counts.cases} cases, {counts.hit} hit, {len(counts.faults)} faults", flush=True)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("failing_writer", __doc__, first=1, to=200, step=1)
    command.parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parse_traced(command, CALLS, arguments)
    return write(options.write, options.seed) if options.write else play_calls(command, options, run)


if __name__ == "__main__":
    sys.exit(main())
