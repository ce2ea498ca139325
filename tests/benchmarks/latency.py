"""How soon a save can be found: three ways to save, at rest and beside 40 writes a second.

`python -m tests.benchmarks.latency WIKI [--saves 50] [--folder F]` follows a copy of the wiki and
prints the median, the 95th percentile and the worst of each, in milliseconds.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from tests.benchmarks.ratio import percentile
from tests.crash.process import LiveDaemon, hash_tree, open_index, wait_until

FOUND_S: Final = 30.0
PAUSE_S: Final = 0.3  # between two saves, so that each is a save of its own
POLL_S: Final = 0.002
WRITES_A_SECOND: Final = 40
NOISY_PAGES: Final = 200
LOST: Final = "a save was lost"


def save_in_place(page: Path, text: str) -> None:
    """One write at the end of the file."""
    with page.open("a") as file:
        file.write(text)


def save_by_rename(page: Path, text: str) -> None:
    """A temporary file renamed over the page."""
    temporary = page.with_name(f".{page.name}.tmp")
    temporary.write_text(page.read_text(errors="replace") + text)
    temporary.replace(page)


def save_like_an_editor(page: Path, text: str) -> None:
    """Truncated, and written a moment later."""
    before = page.read_text(errors="replace")
    with page.open("w") as file:
        file.flush()
        time.sleep(0.005)
        file.write(before + text)


SAVES: Final[dict[str, Callable[[Path, str], None]]] = {
    "in place": save_in_place,
    "by rename": save_by_rename,
    "truncate and write": save_like_an_editor,
}


@contextmanager
def noise(root: Path, a_second: int) -> Iterator[None]:
    """So many writes a second to other pages."""
    over = threading.Event()

    def write() -> None:
        nth = 0
        while not over.wait(1 / a_second):
            nth += 1
            (root / f"noise{nth % NOISY_PAGES}.md").write_text(f"# Noise {nth}\n\nword{nth}\n")

    writer = threading.Thread(target=write)
    if a_second:
        writer.start()
        time.sleep(1)
    try:
        yield
    finally:
        over.set()
        if a_second:
            writer.join()


def measure(daemon: LiveDaemon, save: Callable[[Path, str], None], saves: int, tag: str) -> tuple[float, ...]:
    """Milliseconds from the end of each save until a search finds it."""
    generator = random.Random(tag)
    pages = sorted(path for path in hash_tree(daemon.root) if not path.startswith("noise"))
    delays = []
    with closing(open_index(daemon.db)) as index:
        for nth in range(saves):
            word = f"saved{tag}x{nth}x{generator.randrange(10**9)}"
            save(daemon.root / generator.choice(pages), f"\n{word}\n")
            began = time.perf_counter()
            while not index.execute(
                "SELECT 1 FROM sections_fts WHERE sections_fts MATCH ?", (word,)
            ).fetchone():
                if time.perf_counter() - began > FOUND_S:
                    raise RuntimeError(LOST)
                time.sleep(POLL_S)
            delays.append(1000 * (time.perf_counter() - began))
            time.sleep(PAUSE_S)
    return tuple(delays)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wiki", type=Path)
    parser.add_argument("--saves", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder by default")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="latency-") as temporary:
        folder = options.folder or Path(temporary)
        shutil.copytree(options.wiki, folder / "wiki", symlinks=True)
        daemon = LiveDaemon(folder / "wiki", folder / "state" / "index.db")
        daemon.start()
        wait_until(lambda: daemon.state()["mode"] == "watching", FOUND_S, "watching")
        try:
            for name, save in SAVES.items():
                for load in (0, WRITES_A_SECOND):
                    with noise(daemon.root, load):
                        delays = measure(daemon, save, options.saves, f"{name.replace(' ', '')}{load}")
                    shares = ", ".join(
                        f"p{100 * share:.0f} {percentile(delays, share):.0f}" for share in (0.5, 0.95)
                    )
                    print(f"{name}, {load} writes/s: {shares}, worst {max(delays):.0f} ms", flush=True)
        finally:
            daemon.stop()


if __name__ == "__main__":
    main()
