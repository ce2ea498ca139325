"""`make run`, the first minute with a wiki of one's own: what it prints, and how Ctrl-C ends it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from tests.imports import REPOSITORY
from tests.terminal import Screen

SCRIPT: Final = REPOSITORY / "tests" / "tools" / "first_run.sh"
BIN: Final = Path(sys.executable).parent
PAGES: Final = {
    "index.md": "# Household\n\nSee [power](power.md).\n",
    "power.md": "# Power\n\n## What to do when the lights go out?\n\nThe fuse box is behind the coats.\n",
}

pytestmark = pytest.mark.slow


def started(home: Path, wiki: Path, *words: str) -> Screen:
    """The script on a terminal of its own."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8"}
    return Screen(["/bin/sh", str(SCRIPT), str(BIN), str(wiki), *words], home, environment)


@pytest.fixture
def home() -> Iterator[Path]:
    """A home whose path leaves room for that of a socket."""
    with TemporaryDirectory(prefix="first-") as folder:
        wiki = Path(folder) / "wiki"
        wiki.mkdir()
        for name, text in PAGES.items():
            (wiki / name).write_text(text, "utf-8")
        yield Path(folder)


def is_through(shown: str) -> bool:
    return "wikiq status " in shown


def test_a_wiki_is_asked_something_of_its_own_and_followed_and_a_second_run_says_by_whom(home: Path) -> None:
    first = started(home, home / "wiki")
    shown = first.read_until(is_through)
    assert "$ wikiq What to do when the lights go out?\n 1  Power > What to do" in shown
    assert "The fuse box is behind the coats." in shown
    assert "not running" not in shown
    assert "not followed" not in shown
    status, again = started(home, home / "wiki", "fuse box").end()
    assert status == 0
    assert again.startswith(f"{home / 'wiki'} is followed already, by process ")
    assert "$ wikiq fuse box\n 1  Power" in again
    first.type(b"\x03")
    status, shown = first.end()
    assert status == 0
    assert shown.partition("how far the index has got")[2].strip() in ("", "^C")


@pytest.mark.parametrize("after", ["2 pages, ", " 1  Power", "What to type next"])
def test_an_interrupt_at_any_moment_is_one_line(home: Path, after: str) -> None:
    screen = started(home, home / "wiki")
    screen.read_until(lambda shown: after in shown)
    before = screen.read_until(lambda _: True)
    screen.type(b"\x03")
    _, shown = screen.end()
    assert "Traceback" not in shown
    assert "Terminated" not in shown
    said = shown.removeprefix(before).partition("^C")[2].strip().splitlines()
    assert len(said) <= 1


def test_a_wiki_without_pages_or_without_a_folder_says_so_and_ends_or_waits(home: Path) -> None:
    status, shown = started(home, home / "nowhere").end()
    assert status == 66
    assert shown.startswith(f"indexerd: {home / 'nowhere'}: does not exist; ")
    assert len(shown.splitlines()) == 1
    done = subprocess.run(["/bin/sh", "-n", str(SCRIPT)], capture_output=True, check=False)
    assert done.returncode == 0
