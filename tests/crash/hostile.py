"""A hostile wiki beside an honest page that is saved every second: how soon each save is found, and memory.

`python -m tests.crash.hostile --seconds 120 --large 16 --found-s 5 --memory-mb 1024 --stop-s 2`: ignore
files of stars, dotted keys, a chain of topics, nested quotes and pages of so many MB come all the time.
"""

from __future__ import annotations

import contextlib
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.process import LiveDaemon, UnequalError, open_index

POLL_S: Final = 0.05
GIVE_UP_S: Final = 1200.0  # of one save


def hostilities(root: Path, chance: random.Random, large: int) -> Iterator[Callable[[], object]]:
    """What somebody might put into a repository, as steps; `large`: bytes of the large pages, 0 without."""
    nth = chance.randrange(1000)
    stars = "*a*a*a*a*a*ab\n" + "**/a/" * 10 + "b\n"
    yield lambda: (root / ".gitignore").write_text(stars + f"{nth}\n" * 50_000)
    yield lambda: (root / ".wikiignore").write_text("".join(f"*{'a' * 100}{n}b\n" for n in range(1000)))
    yield lambda: (root / ("a" * 250 + ".md")).write_text(f"# {nth}\n")
    yield lambda: (root / ".wikiq.toml").write_text("a." * 16_000 + f"b = {nth}\n")
    yield lambda: (root / "dotted.md").write_text("+++\n" + "a." * 16_000 + f"b = {nth}\n+++\n# Dots\n")
    chain = "".join(f"- {{slug: t{n}, parents: [t{n + 1}]}}\n" for n in range(3000))
    yield lambda: (root / "topics.yaml").write_text(f"# {nth}\n{chain}")
    yield lambda: (root / "quotes.md").write_text(f"{nth}\n\n" + (">" * 199 + " a\n") * 320)
    kinds = (("lines", "\n"), ("items", "- a\n"), ("tags", "<a "), ("heads", "# a\n")) if large else ()
    for name, text in kinds:
        yield lambda name=name, text=text: (root / f"{name}.md").write_text(  # type: ignore[misc]
            f"{nth}\n{text * (large // len(text) - 8)}"
        )


def memory_of(pid: int) -> int:
    """Bytes of the process and all below it, shared ones in parts (proc(5), Pss)."""
    total = 0
    for process in (pid, *_below(pid)):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


def _below(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                yield int(child)
                yield from _below(int(child))


def is_found(db: Path, word: str) -> bool:
    """Whether a reader finds the word."""
    with closing(open_index(db)) as index:
        found = index.execute("SELECT count(*) FROM sections_fts WHERE sections_fts MATCH ?", (word,))
        return bool(found.fetchone()[0])


def run(folder: Path, *, seconds: float, large: int, seed: int) -> dict[str, list[float]]:
    """Plays it: seconds until each honest save was found, bytes of memory meanwhile, seconds to stop."""
    chance = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True)
    (root / "honest.md").write_text("# Honest\n")
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    daemon.start()
    found: dict[str, list[float]] = {"found_s": [], "memory": [], "stop_s": []}
    steps = list(hostilities(root, chance, large))
    until = time.monotonic() + seconds
    nth = 0
    while time.monotonic() < until or nth < len(steps):
        steps[nth % len(steps)]()
        if nth % len(steps) == len(steps) - 1:
            steps = list(hostilities(root, chance, large))
        nth += 1
        began = time.monotonic()
        (root / "honest.md").write_text(f"# Honest\n\nhonest{nth}\n")
        while not is_found(daemon.db, f"honest{nth}"):
            if time.monotonic() - began > GIVE_UP_S:
                raise UnequalError(f"honest{nth} is not found; see {daemon.log}")
            found["memory"].append(memory_of(daemon.pid))
            time.sleep(POLL_S)
        found["found_s"].append(time.monotonic() - began)
        time.sleep(max(0.0, 1 - found["found_s"][-1]))
    found["stop_s"].append(daemon.stop())
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("hostile", __doc__, seconds=120.0, large=16, found_s=5.0, memory_mb=1024, stop_s=2.0)
    options = command.parse(arguments)

    def play(folder: Path) -> dict[str, object]:
        found = run(folder, seconds=options.seconds, large=options.large << 20, seed=options.seed)
        worst, memory = max(found["found_s"]), max(found["memory"]) / (1 << 20)
        faults = [
            f"{what}: {measured:.1f}, where {most} is the most"
            for what, measured, most in (
                ("seconds until a save was found", worst, options.found_s),
                ("MB of memory", memory, options.memory_mb),
                ("seconds to stop", found["stop_s"][0], options.stop_s),
            )
            if measured > most
        ]
        return {
            "faults": faults,
            "saves": len(found["found_s"]),
            "found_median_s": round(statistics.median(found["found_s"]), 2),
            "found_worst_s": round(worst, 2),
            "memory_mb": round(memory),
            "stop_s": round(found["stop_s"][0], 2),
        }

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
