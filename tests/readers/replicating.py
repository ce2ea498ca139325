"""What the tests of litestream have in common: a daemon beside the documented commands, and the replica."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.crash.process import LiveDaemon
from tests.documents import blocks
from tests.imports import REPOSITORY

REPLICATE, RESTORE = blocks(REPOSITORY / "docs" / "readers" / "litestream.md", "sh")
EQUAL_S: Final = 60.0  # a second and a half, on an idle machine
PAGES: Final = 20


@contextmanager
def small_wiki(folder: Path) -> Iterator[LiveDaemon]:
    """A daemon over a small wiki, started by the test and stopped at the end; skipped without litestream."""
    if shutil.which("litestream") is None:
        pytest.skip("litestream is not installed: make strangers")
    live = LiveDaemon(folder / "wiki", folder / "state" / "index.db")
    live.root.mkdir()
    write(live, "first")
    try:
        yield live
    finally:
        if live.process is not None:
            live.stop()


def write(live: LiveDaemon, word: str) -> None:
    """Give every page other words."""
    for number in range(PAGES):
        text = f"# Page {number}\n\n{word} words\n\n## Cancel\n\nCancel a running worker.\n"
        (live.root / f"p{number}.md").write_text(text)


def replica_of(live: LiveDaemon) -> Path:
    return live.db.parent.with_name("replica")


def environment(live: LiveDaemon, restored: Path) -> dict[str, str]:
    """The variables of the document, and the commands of this environment before any others."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    names = {"INDEX": live.db, "REPLICA": replica_of(live), "RESTORED": restored, "ROOT": live.root}
    return {**os.environ, "PATH": path, **{name: str(value) for name, value in names.items()}}


@contextmanager
def replicating(live: LiveDaemon) -> Iterator[subprocess.Popen[bytes]]:
    """The documented command, until it is killed or the block ends."""
    with _running(live, ["sh", "-c", f"exec {REPLICATE}"], live.db) as process:
        yield process


@contextmanager
def following(live: LiveDaemon, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A restored file that litestream keeps up to date, until the block ends."""
    place.parent.mkdir(exist_ok=True)
    words = ["litestream", "restore", "-f", "-follow-interval", "200ms", "-o", str(place)]
    with _running(live, [*words, f"file://{replica_of(live)}"], place) as process:
        yield process


def restore(live: LiveDaemon, place: Path, words: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Restore the replica to a place of its own; `words` are further options."""
    place.parent.mkdir(exist_ok=True)
    return subprocess.run(
        ["litestream", "restore", *words, "-o", str(place), f"file://{replica_of(live)}"],
        capture_output=True, text=True, check=False, timeout=EQUAL_S,
    )  # fmt: skip


@contextmanager
def _running(live: LiveDaemon, words: list[str], restored: Path) -> Iterator[subprocess.Popen[bytes]]:
    with live.root.with_name("litestream.log").open("ab") as log:
        process = subprocess.Popen(words, env=environment(live, restored), stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(EQUAL_S)
