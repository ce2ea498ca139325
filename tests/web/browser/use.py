"""Use of the viewer for as long as you like: `python -m tests.web.browser.use ARCHIVE --minutes 60 --seed 1`.

Three tabs are open on a wiki that is edited, renamed, deleted and rebuilt, under a daemon that is
restarted. Fails on any error of the browser or the server, on a page or a hit that is behind the disk and
does not say so, on a tab that does not catch up, and on memory that grows.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum, auto
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote, urlsplit

from tests.benchmarks.corpus import unpack
from tests.benchmarks.live import resident_bytes
from tests.crash.process import LiveDaemon, open_index
from tests.web.browser.conftest import Opener, Window, launched, opening
from tests.web.served import Answer, Served, serving
from tests.wikiq.built_wiki import BuiltWiki
from tests.wikiq.sample_index import SampleIndex

CATCH_UP_S: Final = 60.0  # of a tab, on a busy machine
RESTART_EVERY: Final = 40  # steps
REBUILD_EVERY: Final = 150
TELL_EVERY: Final = 50
MAY_GROW: Final = 1.15  # of the memory of the second quarter, in the last
QUESTIONS: Final = ("how to", "install", "parameters", "examples", "module", "remote", "error", "create")


class Act(Enum):
    """What is done to the wiki."""

    EDIT = auto()
    RENAME = auto()
    DELETE = auto()
    RESTART = auto()
    REBUILD = auto()


class Use:
    """A server, its tabs, and what was done to the wiki. `word` is the newest that was written."""

    def __init__(self, daemon: LiveDaemon, server: Served, open_window: Opener, seed: int) -> None:
        self._daemon = daemon
        self._server = server
        self._random = random.Random(seed)
        self._reader = open_window(server)
        self._searcher = open_window(server, beside=self._reader)
        self._watcher = open_window(server, beside=self._reader)
        self._pages = sorted(path.relative_to(daemon.root) for path in daemon.root.rglob("*.md"))
        self._written = 0
        self.steps = 0
        self.memory: list[int] = []

    def step(self, act: Act | None = None) -> None:
        """Do `act`, or what comes next, and hold what is shown against the disk."""
        self.steps += 1
        self.do(act or self._due(), self._random.choice(self._pages))
        self._search()
        self._watcher.go(("/changes", "/topics", "/status", "/check")[self.steps % 4])
        self.memory.append(resident_bytes(self._server.process.pid))

    def pause(self, milliseconds: int) -> None:
        """Let the browser go on by itself."""
        self._reader.page.wait_for_timeout(milliseconds)

    def do(self, act: Act, page: Path) -> None:
        """Do one thing to a page."""
        acts = {
            Act.EDIT: self._edit,
            Act.RENAME: self._rename,
            Act.DELETE: self._delete,
            Act.RESTART: self._restart,
            Act.REBUILD: self._rebuild,
        }
        acts[act](page)

    def _due(self) -> Act:
        due = {REBUILD_EVERY: Act.REBUILD, RESTART_EVERY: Act.RESTART, 5: Act.RENAME, 7: Act.DELETE}
        return next((act for every, act in due.items() if self.steps % every == 0), Act.EDIT)

    def _edit(self, page: Path) -> None:
        """Edit a page that is open, and see it there."""
        self._reader.go(f"/p/{quote(page.as_posix())}")
        word = self._write(page)
        self._no_lie(page, word)
        self._shows(self._reader, word)

    def _rename(self, page: Path) -> None:
        new = page.with_name(f"renamed-{self.steps}.md")
        (self._daemon.root / page).rename(self._daemon.root / new)
        self._pages[self._pages.index(page)] = new
        gone = self._get(page)
        assert gone.status == 404 or "gone from the disk" in gone.text or "renamed-" in gone.text, page
        self._no_lie(new, self._write(new))

    def _delete(self, page: Path) -> None:
        file = self._daemon.root / page
        text = file.read_bytes()
        self._reader.go(f"/p/{quote(page.as_posix())}")
        file.unlink()
        gone = self._get(page)
        assert gone.status == 404 or "gone from the disk" in gone.text, page
        self._reader.until(
            "() => /no such page|gone from the disk/.test(document.querySelector('main')?.innerText)"
        )
        file.write_bytes(text)

    def _restart(self, page: Path) -> None:
        """Edit while no daemon is there: the page says so, and shows the edit when one is."""
        self._reader.go(f"/p/{quote(page.as_posix())}")
        self._daemon.stop()
        word = self._write(page)
        answer = self._get(page)
        assert "has changed on the disk" in answer.text, page
        assert "the daemon is not running" in answer.text, page
        self._daemon.start()
        self._shows(self._reader, word)

    def _rebuild(self, page: Path) -> None:
        """Put a new index in the place of the old one, which is gone for a while."""
        self._reader.go(f"/p/{quote(page.as_posix())}")
        word = self._write(page)
        self._daemon.stop()
        for file in self._daemon.db.parent.glob("index.db*"):
            file.unlink()
        assert self._get(page).status == 503
        build = [str(Path(sys.executable).with_name("indexerd")), "build", str(self._daemon.root)]
        subprocess.run(
            [*build, "--db", str(self._daemon.db)], check=True, capture_output=True, env=dict(os.environ)
        )
        self._shows(self._reader, word)
        self._daemon.start()

    def _search(self) -> None:
        """Type a question, walk to a hit and open it."""
        words = self._random.choice(QUESTIONS)
        self._searcher.go("/")
        keyboard = self._searcher.page.keyboard
        keyboard.press("/")
        keyboard.type(words)
        self._searcher.until("words => document.title.startsWith(words)", words)
        keyboard.press("Escape")
        keyboard.press("j")
        keyboard.press("Enter")
        self._searcher.until("document.querySelector('main').dataset.part === 'page'")

    def _write(self, page: Path) -> str:
        """Write a word of its own into a page."""
        self._written += 1
        word = f"written{self._written}"
        file = self._daemon.root / page
        lines = file.read_bytes().decode("utf-8", "replace").splitlines()
        rest = [line for line in lines if not line.startswith("written")]
        file.write_text("\n".join([*rest, "", word, ""]), "utf-8")
        return word

    def _no_lie(self, page: Path, word: str) -> None:
        """What is shown right after an edit has the edit, or says that it has not."""
        answer = self._get(page)
        has_said = "has changed on the disk" in answer.text or answer.status == 404
        assert word in answer.text or has_said, f"{page}: stale, and does not say so"

    def _shows(self, window: Window, word: str) -> None:
        window.until("word => document.querySelector('article')?.textContent.includes(word)", word)

    def _get(self, page: Path) -> Answer:
        answer = self._server.get(f"/p/{quote(page.as_posix())}")
        if answer.status == 303:
            answer = self._server.get(urlsplit(answer.headers["location"]).path)
        return answer

    def growth(self) -> float:
        """The memory of the last quarter over that of the second."""
        quarter = max(1, len(self.memory) // 4)
        return median(self.memory[-quarter:]) / median(self.memory[quarter : 2 * quarter])


@contextmanager
def using(root: Path, db: Path, seed: int = 1) -> Iterator[Use]:
    """A wiki in use; at the end the index must be sound, and the server must have said nothing."""
    daemon = LiveDaemon(root, db)
    daemon.start()
    wiki = BuiltWiki(SampleIndex(root=root, db=db))
    try:
        with (
            serving(wiki, "--db", str(db)) as server,
            launched() as browser,
            opening(browser, patience_ms=int(CATCH_UP_S * 1000)) as open_window,
        ):
            yield Use(daemon, server, open_window, seed)
            with closing(open_index(db)) as index:
                assert index.execute("PRAGMA quick_check").fetchone() == ("ok",)
            assert server.stop() == 0
            assert server.process.stderr is not None
            assert server.process.stderr.read() == ""
    finally:
        if daemon.process is not None:
            daemon.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("archive", type=Path, help="a wiki as a tar file")
    arguments.add_argument("--minutes", type=float, default=60.0)
    arguments.add_argument("--pause-ms", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    with TemporaryDirectory(prefix="use-") as folder:
        root = unpack(given.archive, Path(folder) / "wiki")
        with using(root, Path(folder) / "state" / "index.db", given.seed) as used:
            began = time.monotonic()
            while (passed := time.monotonic() - began) < given.minutes * 60:
                used.step()
                used.pause(given.pause_ms)
                if used.steps % TELL_EVERY == 0:
                    print(f"{used.steps} steps, {passed:.0f} s, {used.memory[-1] >> 20} MB", flush=True)
    print(f"{used.steps} steps, memory {used.growth():.2f} × that of the second quarter")
    assert used.growth() <= MAY_GROW


if __name__ == "__main__":
    main()
