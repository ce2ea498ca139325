"""The measures that are taken of whole commands: builds, a search, the size of the file.

Each takes a `Setting` and gives one `Ratio`. Commands run as a user runs them, in processes of their
own, with an index below the setting's work folder and nowhere else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw

from tests.benchmarks.corpus import find_pages, source_bytes
from tests.benchmarks.ratio import Ratio, alternate, seconds
from tests.imports import REPOSITORY

QUESTION = "how do I list the files of a folder"  # eight words, most of them frequent


@dataclass(frozen=True, slots=True)
class Setting:
    """One wiki to measure on: its name, its root, an existing empty folder to work in, the rounds."""

    corpus: str
    root: Path
    work: Path
    rounds: int

    @property
    def db(self) -> Path:
        """The index that measures of a finished build share."""
        return self.work / "shared" / "index.db"


def run(words: list[str]) -> str:
    """Run Python with `words`; its standard output. A failure carries what it said."""
    done = subprocess.run(
        [sys.executable, *words], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def fresh_db(setting: Setting) -> Path:
    """A path for an index that does not exist yet."""
    folder = setting.work / "fresh"
    if folder.is_dir():
        for left in folder.iterdir():
            left.unlink()
    folder.mkdir(exist_ok=True)
    return folder / "index.db"


def build(setting: Setting, db: Path, workers: int) -> None:
    """Build the index of the setting's wiki at `db`, as the command does."""
    words = ["-m", "indexerd.main", "build", str(setting.root), "--db", str(db), "--workers", str(workers)]
    run(words)


def ensure_built(setting: Setting) -> Path:
    """The index that measures of a finished build share."""
    if not setting.db.exists():
        setting.db.parent.mkdir(parents=True, exist_ok=True)
        build(setting, setting.db, os.cpu_count() or 1)
    return setting.db


def _timed_build(setting: Setting, workers: int) -> float:
    db = fresh_db(setting)
    return seconds(partial(build, setting, db, workers))


def _timed_raw(setting: Setting) -> float:
    db = fresh_db(setting)
    return seconds(partial(run, ["-m", "tests.benchmarks.baselines", "raw", str(setting.root), str(db)]))


def build_serial(setting: Setting) -> Ratio:
    """A full build in one process against reading the files and inserting them raw."""
    subject, baseline = alternate(
        partial(_timed_build, setting, 1), partial(_timed_raw, setting), setting.rounds
    )
    pages = sum(1 for _ in find_pages(setting.root))
    return Ratio(
        "build, serial / raw insert", setting.corpus, "s", subject, baseline, 9.0, remark=f"{pages} pages"
    )


def build_workers(setting: Setting) -> Ratio:
    """A full build with a worker for every core against one without workers."""
    cores = os.cpu_count() or 1
    subject, baseline = alternate(
        partial(_timed_build, setting, cores), partial(_timed_build, setting, 1), setting.rounds
    )
    return Ratio(
        f"build, {cores} workers / serial", setting.corpus, "s", subject, baseline, 0.6 if cores > 1 else None
    )


def search_process(setting: Setting) -> Ratio:
    """A whole `wikiq search` process against a Python that imports sqlite3."""
    db = ensure_built(setting)
    search = ["-m", "wikiq.main", "search", "--db", str(db), *QUESTION.split()]
    subject, baseline = alternate(
        partial(seconds, partial(run, search)),
        partial(seconds, partial(run, ["-c", "import sqlite3"])),
        max(setting.rounds, 11),  # processes of 20 ms need more rounds than builds of seconds
    )
    return Ratio("wikiq search / import sqlite3", setting.corpus, "s", subject, baseline, 2.0)


def file_size(setting: Setting) -> Ratio:
    """The size of the file against the source, with its tables by size."""
    connection = apsw.Connection(str(ensure_built(setting)), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC")
    sizes = [(str(name), int(str(size))) for name, size in rows]
    connection.close()
    source = source_bytes(setting.root)
    parts = ", ".join(f"{name} {size / source:.2f}" for name, size in sizes[:8])
    total = float(sum(size for _, size in sizes))
    return Ratio("file size / source", setting.corpus, "B", (total,), (float(source),), 2.4, remark=parts)


COMMAND_MEASURES: dict[str, Callable[[Setting], Ratio]] = {
    "build-serial": build_serial,
    "build-workers": build_workers,
    "search": search_process,
    "size": file_size,
}
