"""The measures of what readers meet: a whole search process, and the size of the file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import apsw

from tests.benchmarks.corpus import source_bytes
from tests.benchmarks.ratio import Ratio, alternate, seconds
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import ensure_built
from tests.wikiq.asking import answer
from wikiq.answers.search import search
from wikiq.index.database import open_database
from wikiq.model.request import SearchRequest

QUERY: Final = ("rename", "folder")  # as typed every day: the process is measured, not the ranking
# Most of its eight words are frequent: the expensive kind, of which the ranking is measured.
QUESTION: Final = "how do I list files of a folder"
PROCESS_ROUNDS: Final = 21  # processes of 20 ms: more rounds than builds of seconds
QUESTION_ROUNDS: Final = 11
RANKED: Final = """SELECT rowid, bm25(sections_fts, 5.0, 1.0, 8.0, 1.0) FROM sections_fts
    WHERE sections_fts MATCH ? ORDER BY 2 LIMIT 20"""
NAMED_TABLES: Final = 8  # the largest, in the remark


def run(command: list[str]) -> None:
    """Run a command whose output nobody reads. A failure carries what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: exit {done.returncode}: {done.stderr.strip()}")


def search_process(setting: Setting) -> Ratio:
    """A whole `wikiq search` process against a Python that imports sqlite3."""
    wikiq = str(Path(sys.executable).with_name("wikiq"))
    command = [wikiq, "search", "--db", str(ensure_built(setting)), *QUERY]
    subject, baseline = alternate(
        partial(seconds, partial(run, command)),
        partial(seconds, partial(run, [sys.executable, "-c", "import sqlite3"])),
        max(setting.rounds, PROCESS_ROUNDS),
    )
    return Ratio("wikiq search / import sqlite3", setting.corpus, "s", subject, baseline, 2.0)


def question(setting: Setting) -> Ratio:
    """A question of eight words, answered in process, against SQLite's own ranking of its words."""
    path = str(ensure_built(setting))
    match = " OR ".join(f'"{word}"' for word in QUESTION.split())
    request = SearchRequest(query=QUESTION)
    uri = f"file:{path}?mode=ro"
    with closing(open_database(path)) as index, closing(sqlite3.connect(uri, uri=True)) as plain:
        subject, baseline = alternate(
            partial(seconds, partial(answer, index, search, request)),
            partial(seconds, lambda: plain.execute(RANKED, (match,)).fetchall()),
            max(setting.rounds, QUESTION_ROUNDS),
        )
    return Ratio("question of 8 words / its OR", setting.corpus, "s", subject, baseline, 0.6)


def file_size(setting: Setting) -> Ratio:
    """The size of the file against that of the pages; the remark has the parts, in the same unit."""
    connection = apsw.Connection(str(ensure_built(setting)), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC")
    sizes = [(str(name), int(str(size))) for name, size in rows]
    connection.close()
    source = source_bytes(setting.root)
    parts = ", ".join(f"{name} {size / source:.2f}" for name, size in sizes[:NAMED_TABLES])
    total = float(sum(size for _, size in sizes))
    return Ratio("file size / source", setting.corpus, "B", (total,), (float(source),), 2.4, remark=parts)
