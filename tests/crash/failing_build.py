"""The N-th operation of a build fails, from the start of the interpreter on: what it says is what it did.

`python -m tests.crash.failing_build [--calls mmap:ENOMEM ...] [--first 10] [--to 200] [--step 10]`: a
build that says that it is done is equal to the tree; after any other, the next one is.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.failing import failures_in, parse_traced, play_calls
from tests.crash.kills import Counts as Found
from tests.crash.kills import check_file
from tests.crash.operations import Mischief
from tests.crash.process import describe_difference, hash_index, hash_tree

CALLS: Final = (
    "mmap:ENOMEM", "openat:EMFILE", "openat:ENOMEM", "openat:EIO", "getdents64:EIO", "getdents64:ENOMEM",
    "pread64:EIO", "read:EIO", "newfstatat:EIO", "ftruncate:EIO", "ftruncate:ENOSPC", "fcntl:EIO",
    "pwrite64:ENOSPC", "pwrite64:EIO", "fdatasync:EIO",
)  # fmt: skip
CASE_S: Final = 120.0
EDITS: Final = 60


@dataclass(slots=True)
class Counts:
    """`hit`: cases in which the call failed. `exits`: how the builds under a fault ended."""

    cases: int = 0
    hit: int = 0
    exits: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def build(root: Path, db: Path, *prefix: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("indexerd")), "build", str(root), "--db", str(db)]
    return subprocess.run(
        [*prefix, *command], capture_output=True, text=True, errors="replace", check=False, timeout=CASE_S
    )


def play(folder: Path, call: str, number: int, chance: random.Random, counts: Counts) -> Iterator[str]:
    """One build under a fault over a wiki that moved on, and the next one without."""
    root, db, log = folder / "wiki", folder / "state" / "index.db", folder / "strace.log"
    log.unlink(missing_ok=True)
    mischief = Mischief(root, chance)
    for _ in range(EDITS):
        mischief.one()
    name, _, error = call.partition(":")
    done = build(
        root, db, "strace", "-f", "--seccomp-bpf", "-o", str(log), "-e", f"trace={name}",
        "-e", f"inject={name}:error={error}:when={number}",
    )  # fmt: skip
    counts.cases += 1
    counts.hit += failures_in(log) > 0
    counts.exits[str(done.returncode)] = counts.exits.get(str(done.returncode), 0) + 1
    if done.returncode == 0 and hash_tree(root) != hash_index(db):
        yield f"said to be done: {describe_difference(hash_tree(root), hash_index(db))}"
    after = build(root, db)
    if after.returncode:
        yield f"the next one: exit {after.returncode}: {after.stderr[-300:]}"
    elif hash_tree(root) != hash_index(db):
        yield f"the next one: {describe_difference(hash_tree(root), hash_index(db))}"
    found = Found()
    check_file(db, found)
    yield from found.faults
    if (aside := db.with_name("index.db.damaged")).exists():
        aside.unlink()
        if name not in ("pread64", "read"):  # what cannot be read may be called damaged
            yield "moved aside as damaged"


def run(folder: Path, *, calls: Sequence[str], numbers: Sequence[int], seed: int) -> Counts:
    """Every call at every number, one build after the other over the same wiki."""
    chance, counts = random.Random(seed), Counts()
    root, db = folder / "wiki", folder / "state" / "index.db"
    root.mkdir(parents=True)
    db.parent.mkdir()
    mischief = Mischief(root, chance)
    for _ in range(100):
        mischief.create()
    build(root, db)
    for call in calls:
        for number in numbers:
            found = play(folder, call, number, chance, counts)
            counts.faults += [f"{call} {number}: {fault}" for fault in found]
        print(f"{call}: {counts.cases} cases, {counts.hit} hit, {len(counts.faults)} faults", flush=True)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("failing_build", __doc__, first=10, to=200, step=10)
    options = parse_traced(command, CALLS, arguments)
    return play_calls(command, options, run)


if __name__ == "__main__":
    sys.exit(main())
