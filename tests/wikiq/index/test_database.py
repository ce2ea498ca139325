"""Opening an index: what is refused and how it is said, waiting, the last resort, snapshots."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from indexerd.contract.file import READER_PRAGMAS
from tests.wikiq.running import running_daemon
from tests.wikiq.sample_index import SampleIndex
from wikiq.errors import (
    CancelledError,
    DamagedIndexError,
    ForeignIndexError,
    NoIndexError,
    TooSlowError,
    UnreadableIndexError,
    WikiqError,
)
from wikiq.index.daemon_state import writer_is_running
from wikiq.index.database import Database, Snapshot, open_database, parse_names


@pytest.fixture
def index(index: SampleIndex) -> SampleIndex:
    """The one file, as it lies there before anybody leaves a lock."""
    index.db.with_name("index.lock").unlink()
    return index


@pytest.mark.parametrize(
    "statement, error, said",
    [
        ("PRAGMA application_id = 0", ForeignIndexError, "another application (id 0x00000000)"),
        ("PRAGMA application_id = -2", ForeignIndexError, "another application (id 0xfffffffe)"),
        ("UPDATE meta SET value = '2.0' WHERE key = 'contract'", ForeignIndexError, "update wikiq"),
        ("UPDATE meta SET value = '0.9' WHERE key = 'contract'", ForeignIndexError, "to renew it"),
        ("UPDATE meta SET value = 'x' WHERE key = 'contract'", DamagedIndexError, "contract 'x'"),
        ("UPDATE meta SET value = 'x' WHERE key = 'generation'", DamagedIndexError, "no generation"),
        ("DELETE FROM meta", DamagedIndexError, "is damaged"),
        ("DROP TABLE meta", DamagedIndexError, "no such table: meta"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_what_to_do(
    index: SampleIndex, statement: str, error: type[WikiqError], said: str
) -> None:
    index.alter(statement)
    with pytest.raises(error) as raised:
        open_database(str(index.db))
    assert said in str(raised.value)
    assert str(index.db) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_newer_minor_contract_is_read(index: SampleIndex) -> None:
    index.alter("UPDATE meta SET value = '1.9' WHERE key = 'contract'")
    open_database(str(index.db)).close()


@pytest.mark.parametrize(
    "content, error",
    [
        (b"", ForeignIndexError),
        (b"# A page, not an index\n" * 100, ForeignIndexError),
        (b"SQLite format 3\0" + bytes(100), ForeignIndexError),
    ],
)
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes, error: type[WikiqError]) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(content)
    with pytest.raises(error):
        open_database(str(path))


def test_other_kinds_of_files_are_refused_without_waiting_on_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    with pytest.raises(ForeignIndexError, match="is not a file"):
        open_database(str(tmp_path / "pipe.db"))
    with pytest.raises(NoIndexError, match="there is no index"):
        open_database(str(tmp_path / "none.db"))
    with pytest.raises(NoIndexError, match="there is no index"):
        open_database(str(tmp_path / "pipe.db" / "index.db"))


@pytest.mark.parametrize("name", ["a b?c#d%41.db", "ä?mode=rw&.db"])
def test_signs_of_a_url_in_a_path_are_only_signs(index: SampleIndex, name: str) -> None:
    odd = index.db.with_name(name)
    index.db.rename(odd)
    database = open_database(str(odd))
    with database.snapshot() as snapshot:
        assert snapshot.wiki == "sample"
    database.close()
    assert sorted(path.name for path in odd.parent.iterdir()) == [name]


def test_a_writer_that_is_just_starting_is_waited_for(index: SampleIndex) -> None:
    writer = sqlite3.connect(index.db, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA locking_mode = EXCLUSIVE")
    writer.execute("BEGIN EXCLUSIVE")
    timer = threading.Timer(0.1, writer.close)
    timer.start()
    database = open_database(str(index.db))
    timer.join()
    database.close()


def test_a_writer_that_never_lets_go_is_named_in_the_end(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikiq.index.connection.BUSY_TIMEOUT_S", 0.0)
    writer = sqlite3.connect(index.db, isolation_level=None)
    writer.execute("PRAGMA locking_mode = EXCLUSIVE")
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UnreadableIndexError, match="locked by another process"):
        open_database(str(index.db), patience_s=0.05)
    writer.close()


def closed_wal_index(index: SampleIndex) -> None:
    """Leave the file as a writer does that closed without keeping its WAL."""
    connection = sqlite3.connect(index.db)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert [path.name for path in index.db.parent.iterdir()] == ["index.db"]


class Refused(sqlite3.OperationalError):
    sqlite_errorcode = sqlite3.SQLITE_READONLY


def refuse_ordinary_opening(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let SQLite refuse what it refuses to a user who may not write the folder; gives the URIs tried."""
    connect = sqlite3.connect
    tried: list[str] = []

    def refusing(database: str, **settings: Any) -> sqlite3.Connection:
        tried.append(database.partition("?")[2])
        if "immutable" not in database:
            raise Refused
        opened: sqlite3.Connection = connect(database, **settings)
        return opened

    monkeypatch.setattr(sqlite3, "connect", refusing)
    return tried


def test_a_closed_index_in_a_folder_of_others_is_read_as_immutable(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed_wal_index(index)
    tried = refuse_ordinary_opening(monkeypatch)
    database = open_database(str(index.db))
    assert tried == ["mode=ro", "mode=ro&immutable=1"]
    with database.snapshot() as snapshot:
        assert snapshot.generation == 1
    database.close()


@pytest.mark.parametrize("obstacle", ["wal", "writer"])
def test_an_index_that_may_be_written_is_never_read_as_immutable(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    closed_wal_index(index)
    tried = refuse_ordinary_opening(monkeypatch)
    if obstacle == "wal":
        index.db.with_name("index.db-wal").touch()
        with pytest.raises(UnreadableIndexError, match="check that you may read it"):
            open_database(str(index.db), patience_s=0.0)
    else:
        with running_daemon(index), pytest.raises(UnreadableIndexError):
            open_database(str(index.db), patience_s=0.0)
    assert set(tried) == {"mode=ro"}


def test_the_lock_is_probed_without_keeping_it(index: SampleIndex) -> None:
    folder = str(index.db.parent)
    assert writer_is_running(folder) is False
    with running_daemon(index):
        assert writer_is_running(folder) is True
    assert writer_is_running(folder) is False
    with (index.db.parent / "index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lock_that_is_a_link_is_not_followed(index: SampleIndex, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (index.db.parent / "index.lock").symlink_to(tmp_path / "elsewhere")
    assert writer_is_running(str(index.db.parent)) is None


def test_a_snapshot_is_one_state_and_the_next_one_the_new(index: SampleIndex) -> None:
    closed_wal_index(index)
    database = open_database(str(index.db))
    with database.snapshot() as before:
        index.alter("UPDATE meta SET value = 2 WHERE key = 'generation'")
        assert before.rows("SELECT value FROM meta WHERE key = 'generation'") == [(1,)]
    with database.snapshot() as after:
        assert after.generation == 2
    database.close()


def test_no_transaction_is_open_outside_a_snapshot(database: Database) -> None:
    with database.snapshot() as snapshot:
        connection = snapshot.connection
        states = [connection.in_transaction]
    states.append(connection.in_transaction)
    with pytest.raises(KeyError), database.snapshot():
        raise KeyError
    states.append(connection.in_transaction)
    assert states == [True, False, False]


def test_the_pragmas_of_the_contract_hold_on_the_connection(snapshot: Snapshot) -> None:
    for pragma in READER_PRAGMAS:
        name, _, value = pragma.removeprefix("PRAGMA ").partition(" = ")
        assert snapshot.rows(f"PRAGMA {name}") == [(1 if value == "ON" else 0,)]


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM page", "CREATE TEMP TABLE t(x)", "ATTACH ':memory:' AS other", "PRAGMA user_version = 9"],
)
def test_nothing_can_be_written(index: SampleIndex, statement: str) -> None:
    before = index.db.read_bytes()
    database = open_database(str(index.db))
    with suppress(WikiqError), database.snapshot() as snapshot:  # a pragma that cannot write says nothing
        snapshot.rows(statement)
    database.close()
    assert index.db.read_bytes() == before


def test_a_statement_without_end_is_cut_off_and_the_next_one_runs(database: Database) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    with pytest.raises(TooSlowError, match="took too long"), database.snapshot(deadline_s=0.05) as snapshot:
        snapshot.rows(endless)
    with database.snapshot() as snapshot:
        assert snapshot.rows("SELECT 1") == [(1,)]


def test_a_question_can_be_cancelled_from_another_thread_and_the_next_one_runs(database: Database) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    database.cancel()  # nothing runs: nothing happens
    threading.Timer(0.3, database.cancel).start()
    with pytest.raises(CancelledError, match="was cancelled"), database.snapshot() as snapshot:
        snapshot.rows(endless)
    with database.snapshot() as snapshot:
        assert snapshot.rows("SELECT 1") == [(1,)]


def test_the_generation_is_one_row(index: SampleIndex) -> None:
    opened = open_database(str(index.db))
    assert opened.generation() == 1
    index.alter("UPDATE meta SET value = 2 WHERE key = 'generation'")
    assert opened.generation() == 2
    opened.close()


def test_an_interrupt_within_a_statement_is_no_slow_question(database: Database) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(CancelledError), database.snapshot() as snapshot:
        snapshot.rows(endless)
    with database.snapshot() as snapshot:
        assert snapshot.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize("part", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_pipe_beside_the_index_is_not_waited_for(index: SampleIndex, part: str, mode: str) -> None:
    index.alter(f"PRAGMA journal_mode = {mode}")
    pipe = Path(f"{index.db}{part}")
    os.mkfifo(pipe)
    with pytest.raises(ForeignIndexError, match="is not a file") as refused:
        open_database(str(index.db))
    assert refused.value.subject == str(pipe)


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(index: SampleIndex) -> None:
    os.mkfifo(index.db.with_name("index.lock"))
    assert writer_is_running(str(index.db.parent)) in (False, None)


def test_a_file_put_in_the_place_of_the_index_is_noticed(index: SampleIndex) -> None:
    database = open_database(str(index.db))
    assert not database.is_replaced()
    copy = index.db.with_name("copy.db")
    shutil.copy(index.db, copy)
    os.replace(copy, index.db)
    assert database.is_replaced()
    index.db.unlink()
    assert database.is_replaced()
    database.close()


def test_opening_leaves_nothing_behind(index: SampleIndex) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in index.db.parent.iterdir()}
    open_database(str(index.db)).close()
    assert {path.name: path.stat().st_mtime_ns for path in index.db.parent.iterdir()} == before


@pytest.mark.parametrize("text", ["", "{}", "[", "1", "null"])
def test_a_heading_path_that_is_no_array_is_damage(text: str) -> None:
    assert parse_names('["a","b"]') == ("a", "b")
    with pytest.raises(sqlite3.DatabaseError):
        parse_names(text)


def test_waiting_for_a_missing_file_takes_no_time(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(NoIndexError):
        open_database(str(tmp_path / "none.db"), patience_s=3600)
    assert time.monotonic() - started < 60
