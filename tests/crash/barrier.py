"""A page is written, freshness is asked for, and the index must hold the write: never a wrong "fresh".

`python -m tests.crash.barrier --trips 10000 [--storm 1000] [--restart-every 500] [--pages N]
[--folders 24000] [--overflow-every 10] [--command-every 20]`: the last trips run beside a storm of other
changes; the daemon is stopped or killed now and then; every so many trips the watcher's queue overflows
before the page is written, or ask through `wikiq --fresh` instead of the socket. A page is written in
place, through a rename, a hard link outside the tree or a memory map, or appears with a mount.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.crash.command import Command
from tests.crash.operations import Mischief
from tests.crash.process import LiveDaemon, open_index

TIMEOUT_S: Final = 5.0
WIKIQ: Final = str(Path(sys.executable).with_name("wikiq"))
AWAY_S: Final = 0.05  # between two questions to a daemon that is just starting
STORM_PAUSE_S: Final = 0.002
FLOOD_FILES: Final = 9_000  # of two events or more each; the queue holds 16,384 unless somebody set it


@dataclass(slots=True)
class Counts:
    """Trips by what came of them. `wrong`: "fresh" was said, and the write was not there."""

    fresh: int = 0
    not_fresh: int = 0
    unanswered: int = 0
    by_command: int = 0
    overflows: int = 0
    by_way: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    took_ms: list[float] = field(default_factory=list)


def ask(control: str, timeout_s: float = TIMEOUT_S) -> dict[str, Any] | None:
    """The daemon's answer, None when nobody answers."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout_s + 5)
            client.connect(control)
            request = {"protocol": 1, "ask": "fresh", "timeout_s": timeout_s}
            client.sendall(json.dumps(request).encode() + b"\n")
            line = client.makefile().readline()
    except OSError:
        return None
    answer: dict[str, Any] | None = json.loads(line) if line else None
    return answer


@contextmanager
def storm(root: Path, generator: random.Random) -> Iterator[None]:
    """Other changes, one after the other, in a part of the tree of their own."""
    over = threading.Event()
    part = root / "storm"
    part.mkdir(exist_ok=True)
    mischief = Mischief(part, random.Random(generator.random()))

    def rage() -> None:
        while not over.wait(STORM_PAUSE_S):
            mischief.one()

    thread = threading.Thread(target=rage)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def write_in_place(page: Path, text: bytes) -> Path:
    """As an editor without care does."""
    page.write_bytes(text)
    return page


def rename_over(page: Path, text: bytes) -> Path:
    """As a careful editor does."""
    temporary = page.with_name(".new")
    temporary.write_bytes(text)
    temporary.replace(page)
    return page


def write_through_link(page: Path, text: bytes) -> Path:
    """Through another name outside the tree, of which no watcher of the tree is told."""
    outside = page.parents[2] / "outside"
    outside.unlink(missing_ok=True)
    if not page.exists():
        page.write_bytes(b"")
    outside.hardlink_to(page)
    outside.write_bytes(text)
    return page


def write_through_map(page: Path, text: bytes) -> Path:
    """Through a map that is synced, of which inotify(7) tells nothing."""
    if not page.exists() or page.stat().st_size != len(text):
        page.write_bytes(b"." * len(text))
    with page.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:] = text
        mapped.flush()
    return page


def mount_over(page: Path, text: bytes) -> Path:
    """A disk with the page is mounted over a folder; the one before is taken away."""
    folder = page.parent / "mounted"
    folder.mkdir(exist_ok=True)
    subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], check=True, capture_output=True)
    return write_in_place(folder / page.name, text)


def flood(root: Path) -> None:
    """More events than the watcher's queue holds, of files that are no pages."""
    folder = root / ".git"
    folder.mkdir(exist_ok=True)
    for nth in range(FLOOD_FILES):
        path = folder / str(nth)
        path.touch()
        path.unlink()


def travel(
    daemon: LiveDaemon,
    number: int,
    generator: random.Random,
    counts: Counts,
    *,
    through_command: bool = False,
    overflow: bool = False,
) -> None:
    """One write and one question; with `overflow`, of what the watcher could not tell."""
    ways = [write_in_place, rename_over, write_through_link, write_through_map]
    ways += [mount_over] if os.geteuid() == 0 else []
    write = generator.choice(ways)
    counts.by_way[write.__name__] = counts.by_way.get(write.__name__, 0) + 1
    page = daemon.root / "asked" / f"{generator.randrange(50)}.md"
    page.parent.mkdir(exist_ok=True)
    # All of one length: only times and bytes tell that a page is another one.
    text = f"# 第 Trip {number:09}\n\nword{number} {generator.randrange(10**9):09}\n".encode()
    if overflow:
        counts.overflows += 1
        os.kill(daemon.pid, signal.SIGSTOP)
        flood(daemon.root)
    page = write(page, text)
    if overflow:
        os.kill(daemon.pid, signal.SIGCONT)
    if through_command:
        _ask_command(daemon, page, f"word{number}", counts)
        return
    began = time.perf_counter()
    answer = ask(daemon.state()["control"])
    if answer is None:
        counts.unanswered += 1
        time.sleep(AWAY_S)
    elif not answer["fresh"]:
        counts.not_fresh += 1
    else:
        counts.took_ms.append(1000 * (time.perf_counter() - began))
        counts.fresh += 1
        _check(daemon, page, text, answer, counts)


def _check(daemon: LiveDaemon, page: Path, text: bytes, answer: dict[str, Any], counts: Counts) -> None:
    path = page.relative_to(daemon.root).as_posix()
    with closing(open_index(daemon.db)) as index:
        found = index.execute("SELECT content_hash FROM v1_pages WHERE path = ?", (path,)).fetchone()
        meta = dict(index.execute("SELECT key, value FROM meta WHERE key IN ('index_id', 'generation')"))
    if found != (hashlib.sha256(text).hexdigest(),) or meta["generation"] < answer["generation"]:
        counts.wrong.append(f"{path}: {found}, {meta}, {answer}")


def _ask_command(daemon: LiveDaemon, page: Path, word: str, counts: Counts) -> None:
    """`wikiq --fresh` says by its status whether it could be had: 3 is not fresh, all else is."""
    words = [WIKIQ, "search", word, "--fresh", "--json", "--db", str(daemon.db)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    path = page.relative_to(daemon.root).as_posix()
    counts.by_command += 1
    if done.returncode == 3:
        counts.not_fresh += 1
    elif done.returncode or path not in [hit["path"] for hit in json.loads(done.stdout)["hits"]]:
        counts.wrong.append(f"{path}: {word}: exit {done.returncode}: {done.stdout}{done.stderr}")
    else:
        counts.fresh += 1


def run(
    folder: Path,
    *,
    trips: int,
    stormy: int,
    restart_every: int,
    pages: int,
    folders: int,
    overflow_every: int,
    command_every: int,
    seed: int,
) -> Counts:
    """All the trips."""
    generator = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True)
    for nth in range(pages):
        part = root / f"part{nth // 500}"
        part.mkdir(exist_ok=True)
        (part / f"{nth}.md").write_text(f"# Page {nth}\n\nwords\n")
    for nth in range(folders):
        (root / "quiet" / str(nth // 500) / str(nth)).mkdir(parents=True)
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    counts = Counts()

    def is_due(number: int) -> bool:
        return command_every > 0 and number % command_every == 1

    def go(number: int) -> None:
        overflow = overflow_every > 0 and number % overflow_every == overflow_every - 1
        travel(daemon, number, generator, counts, through_command=is_due(number), overflow=overflow)

    daemon.start()
    try:
        for number in range(trips - stormy):
            if restart_every and number and number % restart_every == 0:
                daemon.stop(generator.choice([signal.SIGTERM, signal.SIGKILL]))
                travel(daemon, number, generator, counts, through_command=is_due(number + 1))
                daemon.start(wait=generator.random() < 0.5)
            go(number)
        with storm(root, generator):
            for number in range(trips - stormy, trips):
                go(number)
    finally:
        daemon.stop(signal.SIGKILL)
        subprocess.run(["umount", str(root / "asked" / "mounted")], check=False, capture_output=True)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command(
        "barrier",
        __doc__,
        trips=10_000,
        storm=1_000,
        restart_every=500,
        pages=300,
        folders=0,
        overflow_every=0,
        command_every=20,
    )
    options = command.parse(arguments)

    def play(folder: Path) -> dict[str, object]:
        counts = run(
            folder,
            trips=options.trips,
            stormy=options.storm,
            restart_every=options.restart_every,
            pages=options.pages,
            folders=options.folders,
            overflow_every=options.overflow_every,
            command_every=options.command_every,
            seed=options.seed,
        )
        took_ms = counts.took_ms
        return {
            "faults": counts.wrong,
            "fresh": counts.fresh,
            "by_way": counts.by_way,
            "overflows": counts.overflows,
            "not_fresh": counts.not_fresh,
            "unanswered": counts.unanswered,
            "by_command": counts.by_command,
            "median_ms": round(statistics.median(took_ms)),
            "p99_ms": round(statistics.quantiles(took_ms, n=100)[-1]),
            "worst_ms": round(max(took_ms)),
        }

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
