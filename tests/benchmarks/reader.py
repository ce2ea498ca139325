"""The measures of what readers meet: a whole search process, and the size of the file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import apsw

from tests.benchmarks.corpus import source_bytes
from tests.benchmarks.ratio import Ratio, Timing, alternate, clocked, percentile, seconds
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import ensure_built
from tests.wikiq.asking import answer
from wikiq.answers.search import search
from wikiq.index.database import open_database
from wikiq.model.request import SearchRequest
from wikiq.query.match import said_terms
from wikiq.query.parse import analyze_question

QUERY: Final = ("rename", "folder")  # as typed every day: the process is measured, not the ranking
MISTYPED: Final = "renmae folder"
MISTYPED_S: Final = 0.015
TYPED: Final = ("rename folder", "list of files", "how do I change the name of a variable", "copy and move")
SHORTEST: Final = 2  # letters, from which on the viewer asks
TYPED_S: Final = (0.5, 0.04), (0.95, 0.12)  # share of the letters typed, and their goal
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


def search_process(setting: Setting) -> Iterator[Ratio]:
    """A whole `wikiq search` process, for two words and for eight, against importing sqlite3."""
    wikiq = str(Path(sys.executable).with_name("wikiq"))
    for name, words, goal in (("two words", QUERY, 2.5), ("8 words", (QUESTION,), 5.0)):
        command = [wikiq, "search", "--db", str(ensure_built(setting)), *words]
        sides = alternate(
            partial(clocked, partial(run, command)),
            partial(clocked, partial(run, [sys.executable, "-c", "import sqlite3"])),
            setting.at_least(PROCESS_ROUNDS),
        )
        yield Ratio.by_wall(f"wikiq search, {name} / import sqlite3", setting.corpus, sides, goal)


def question(setting: Setting) -> Ratio:
    """A question of eight words, answered in process, against SQLite's own ranking of those that rank."""
    path = str(ensure_built(setting))
    kept = [term.text for term in said_terms(analyze_question(QUESTION))]
    match = " OR ".join(f'"{word}"' for word in kept)
    request = SearchRequest(query=QUESTION)
    uri = f"file:{path}?mode=ro"
    with closing(open_database(path)) as index, closing(sqlite3.connect(uri, uri=True)) as plain:
        sides = alternate(
            partial(clocked, partial(answer, index, search, request)),
            partial(clocked, lambda: plain.execute(RANKED, (match,)).fetchall()),
            setting.at_least(QUESTION_ROUNDS),
        )
    remark = f"{_ms(sides[0])}; of its words {len(kept)} rank; nothing is pruned, so the policy in full"
    return Ratio.by_cpu("question of 8 words / OR of those that rank", setting.corpus, sides, remark=remark)


def typing(setting: Setting) -> Iterator[Ratio]:
    """A typing error, and every letter of some questions as they are typed; the goals are times."""
    with closing(open_database(str(ensure_built(setting)))) as index:

        def ask(text: str, *, prefix: bool = False) -> float:
            return seconds(partial(answer, index, search, SearchRequest(query=text, prefix=prefix)))

        ask(MISTYPED)
        wrong = tuple(ask(MISTYPED) for _ in range(setting.at_least(QUESTION_ROUNDS)))
        right = tuple(ask(" ".join(QUERY)) for _ in wrong)
        goal = f"typing error / {1000 * MISTYPED_S:.0f} ms"
        remark = f"{median(wrong) / median(right):.1f} x the same spelled right"
        yield Ratio(goal, setting.corpus, "s", wrong, (MISTYPED_S,), 1.0, remark)
        letters = [text[:end] for text in TYPED for end in range(SHORTEST, len(text) + 1)]
        took = [ask(letter, prefix=True) for letter in letters]
        for share, goal_s in TYPED_S:
            name = f"as you type, p{100 * share:.0f} / {1000 * goal_s:.0f} ms"
            yield Ratio(name, setting.corpus, "s", (percentile(took, share),), (goal_s,), 1.0)


def _ms(timings: Sequence[Timing]) -> str:
    return f"{1000 * median(timing.wall for timing in timings):.1f} ms"


def file_size(setting: Setting) -> Ratio:
    """The size of the file against that of the pages; the remark has the parts, in the same unit."""
    connection = apsw.Connection(str(ensure_built(setting)), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC")
    sizes = [(str(name), int(str(size))) for name, size in rows]
    connection.close()
    source = source_bytes(setting.root)
    parts = ", ".join(f"{name} {size / source:.2f}" for name, size in sizes[:NAMED_TABLES])
    total = float(sum(size for _, size in sizes))
    return Ratio("file size / source", setting.corpus, "B", (total,), (float(source),), 2.45, remark=parts)
