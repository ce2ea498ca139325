"""One answer, one state (spec 5.7): every command reads one transaction and prints after it has ended."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.wikiq.running import environment, running_daemon
from tests.wikiq.sample_index import SampleIndex
from wikiq.index.database import open_database
from wikiq.main import run
from wikiq.output.context import Surroundings
from wikiq.output.terminal import open_screen
from wikiq.shell.options import COMMANDS

# How each command is asked; one that is missing fails the test below. `{set}` is a file of questions.
ASKED = {
    "backlinks": ("paths", "--json"),
    "changes": ("--since=0", "--json"),
    "check": ("--json",),
    "chunks": ("--since=0",),
    "eval": ("{set}", "--json"),
    "expand": ("run-lifecycle#retry", "--json"),
    "links": ("run-lifecycle", "--json"),
    "open": ("paths#windows",),
    "outline": ("run-lifecycle", "--json"),
    "pages": ("--json",),
    "search": ("runs", "--json"),
    "show": ("paths", "--json"),
    "sql": ("SELECT slug FROM v1_pages", "--json"),
    "status": ("--json",),
    "sync": ("--json",),
    "topics": ("--json",),
}
NO_INDEX = {"completion", "feed", "mcp", "serve"}  # print a script; serve calls, one snapshot each
OPENING = ("PRAGMA", "SELECT key, value FROM meta")  # read before there is a question

# What reads more than once, each a reader of its own.
MORE = [
    (("search", "runs", "--fresh"), 2, "one to name the wiki, before the barrier; one for the answer"),
    (("search", "runs", "--all"), 1, "one for each index; here is one"),
    (("search", "runs", "--explain", "--", "run"), 1, "through click"),
    (("pages", "--topic", "runs", "--linked-by", "guide"), 1, "names in filters are looked up in it"),
    (("show", "no-such-page"), 1, "suggestions are of it too"),
]


class Watch:
    """Which transactions the connections of this process begin, and whether one is open."""

    def __init__(self) -> None:
        self.begun = 0
        self.stray: list[str] = []
        self._connections: list[sqlite3.Connection] = []

    @property
    def is_reading(self) -> bool:
        return any(_in_transaction(connection) for connection in self._connections)

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = _connect(*arguments, **options)
        if arguments[0] == ":memory:":
            return connection  # where an evaluation keeps its copy
        self._connections.append(connection)

        def ran(statement: str) -> None:
            if statement.startswith("BEGIN"):
                self.begun += 1
            elif not connection.in_transaction and not statement.startswith(OPENING):
                self.stray.append(statement)

        connection.set_trace_callback(ran)
        return connection


class WatchedStream(io.StringIO):
    """An output that notes what is written while a transaction is open."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.early: list[str] = []
        self._watch = watch

    def write(self, text: str) -> int:
        if self._watch.is_reading:
            self.early.append(text)
        return super().write(text)


_connect = sqlite3.connect


def _in_transaction(connection: sqlite3.Connection) -> bool:
    try:
        return connection.in_transaction
    except sqlite3.ProgrammingError:
        return False  # it is closed


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    watch = Watch()
    with monkeypatch.context() as patch:
        patch.setattr("wikiq.index.database.sqlite3.connect", watch.connect)
        yield watch


def read_by(arguments: tuple[str, ...], index: SampleIndex, patch: pytest.MonkeyPatch) -> tuple[int, Watch]:
    """Run a command in this process; gives its exit status and what it read, and holds when it printed."""
    with watched(patch) as watch:
        out, err = WatchedStream(watch), WatchedStream(watch)
        environ = environment(index.root.parent, VISUAL="true")
        surroundings = Surroundings(
            environ=environ,
            folder=str(index.root),
            out=open_screen(out, environ),
            err=open_screen(err, environ),
        )
        status = run(arguments, surroundings)
        assert not watch.is_reading
    assert (out.early, err.early) == ([], [])
    return status, watch


def test_the_table_here_names_every_command() -> None:
    assert {*ASKED, *NO_INDEX} == set(COMMANDS)


@pytest.mark.parametrize("is_running", [True, False], ids=["daemon", "no daemon"])
@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_command_reads_one_transaction_and_prints_after_it(
    index: SampleIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_running: bool
) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text('{"id": "1", "query": "runs", "relevant": [{"page": "paths.md"}]}\n')
    words = (name, *(word.format(set=questions) for word in ASKED[name]), f"--db={index.db}")
    if is_running:
        with running_daemon(index):
            status, watch = read_by(words, index, monkeypatch)
    else:
        status, watch = read_by(words, index, monkeypatch)
    assert status in ((0, 1, 3) if name in ("check", "status", "sync") else (0,))
    assert (watch.begun, watch.stray) == (1, [])


@pytest.mark.parametrize("words, count, why", MORE, ids=[" ".join(words) for words, _, _ in MORE])
def test_other_ways_to_ask_read_as_much_as_is_said_here(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], count: int, why: str
) -> None:
    _, watch = read_by(words, index, monkeypatch)
    # Which index is meant is found out by its root, in a transaction of its own, unless it is named.
    assert (watch.begun, watch.stray) == (count + 1, []), why


def test_what_the_daemon_said_before_the_state_was_taken_is_told_of_it(index: SampleIndex) -> None:
    """The other way round an answer without a change could be called fresh: the change is in by then."""
    database = open_database(str(index.db))
    with running_daemon(index), database.snapshot() as snapshot:
        assert snapshot.daemon.running
    assert snapshot.daemon.told.state is not None
    database.close()
