"""Opening an index: modes before SQLite, foreign and damaged files, other versions, unclean stops."""

from __future__ import annotations

import errno
import grp
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from indexerd.contract.file import APPLICATION_ID, META_KEYS, SCHEMA_VERSION
from indexerd.core.sync.model import Plan
from indexerd.errors import (
    AnotherWriterError,
    ConfigurationError,
    DamagedIndexError,
    ForeignFileError,
    IndexerdError,
    NotPermittedError,
    StorageError,
)
from indexerd.store import Snapshot, Store
from indexerd.store.file import connection
from indexerd.store.file.failures import FAILURES, explained, explaining
from indexerd.store.store import UNCLEAN_JUMP
from tests.imports import REPOSITORY
from tests.store.wiki import NOON, bring, build, open_store, rows_of

WIKI = {"README.md": "# Home\n\n[a](a.md)\n", "a.md": "# A\n\ntext\n"}
NAMES = ("index.db", "index.db-wal", "index.db-shm", "index.lock")

OPEN_AND_CLOSE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT 1 FROM meta").fetchall()
connection.close()
"""

CRASH = """
import os, signal, sys
from pathlib import Path
from tests.store.wiki import bring, open_store
store = open_store(Path(sys.argv[1]))
bring(store, {"a.md": "# A\\n\\nchanged by a writer that dies\\n"})
os.kill(os.getpid(), signal.SIGKILL)
"""


def crash(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, str(folder)], check=False, cwd=REPOSITORY)
    assert done.returncode == -signal.SIGKILL


def modes(folder: Path) -> dict[str, int]:
    return {name: stat.S_IMODE((folder / name).stat().st_mode) for name in NAMES if (folder / name).exists()}


def is_building(store: Store) -> bool:
    return store.building


def read_meta(folder: Path) -> dict[object, object]:
    return {row[0]: row[1] for row in read(folder / "index.db", "SELECT key, value FROM meta")}


def read(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_may_read_an_index_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "state" / "wiki-1"
    before = os.umask(umask)
    try:
        with open_store(folder) as store:
            bring(store, WIKI)
            assert modes(folder) == dict.fromkeys(NAMES, 0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert modes(folder) == dict.fromkeys(NAMES, 0o600)


def test_a_shared_index_is_read_by_its_group_and_written_by_nobody_else(tmp_path: Path) -> None:
    group = grp.getgrgid(os.getegid())
    folder = tmp_path / "wiki"
    with open_store(folder, share_group=group.gr_name) as store:
        bring(store, WIKI)
        assert modes(folder) == dict.fromkeys(NAMES, 0o640)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o2750
    assert {(folder / name).stat().st_gid for name in NAMES} == {group.gr_gid}


def test_sharing_can_be_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "wiki"
    with open_store(folder, share_group=grp.getgrgid(os.getegid()).gr_name) as store:
        bring(store, WIKI)
    with open_store(folder) as store:
        bring(store, {})
        assert modes(folder) == dict.fromkeys(NAMES, 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_with_a_mode_of_its_owners_choice_keeps_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with open_store(tmp_path):
        pass
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert modes(tmp_path)["index.db"] == 0o600


def test_a_group_that_does_not_exist_is_a_setting_to_mend(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no group 'no-such-group'"):
        open_store(tmp_path / "wiki", share_group="no-such-group")
    assert not (tmp_path / "wiki").exists()


def test_a_new_index_describes_itself(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        assert store.moved_aside is None
        assert is_building(store)
        bring(store, WIKI)
        assert not is_building(store)
    meta = read_meta(tmp_path)
    assert set(meta) == set(META_KEYS)
    assert (meta["root"], meta["name"], meta["generation"], meta["clean"]) == ("/wiki", "wiki", 1, 1)
    assert read(tmp_path / "index.db", "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert read(tmp_path / "index.db", "PRAGMA page_size") == [(8192,)]
    assert read(tmp_path / "index.db", "PRAGMA journal_mode") == [("wal",)]


def test_a_closed_index_keeps_its_wal_for_readers_who_may_not_create_one(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        bring(store, WIKI)
    assert (tmp_path / "index.db-wal").exists()
    assert (tmp_path / "index.db-shm").exists()


def test_opening_and_closing_without_work_commits_nothing(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    before = (tmp_path / "index.db").read_bytes()
    with open_store(tmp_path) as store:
        assert bring(store, WIKI).committed is False
        assert store.wal_bytes == 0
    assert (tmp_path / "index.db").read_bytes() == before


def test_a_moved_root_is_written_down_without_a_generation(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    with Store.open(tmp_path / "index.db", root="/elsewhere", name="other") as store:
        assert store.generation == 1
    meta = read_meta(tmp_path)
    assert (meta["root"], meta["name"]) == ("/elsewhere", "other")


def test_a_page_named_as_the_index_is_left_alone_where_another_index_is(tmp_path: Path) -> None:
    """The lock of that one says nothing of this file."""
    build(tmp_path, WIKI)
    page = tmp_path / "keep.md"
    page.write_text(
        "# My page, longer than the header of a database, which is one hundred bytes, is long\n" * 2
    )
    before = page.read_bytes()
    with pytest.raises(ForeignFileError, match="left alone"):
        Store.open(page, root="/wiki", name="wiki")
    assert page.read_bytes() == before
    assert not page.with_name("keep.md.damaged").exists()


def test_a_link_to_an_index_is_refused_by_name(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    (tmp_path / "link.db").symlink_to(tmp_path / "index.db")
    with pytest.raises(ForeignFileError, match="is a symbolic link; name the file itself"):
        Store.open(tmp_path / "link.db", root="/wiki", name="wiki")


def test_the_database_of_another_application_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    foreign = sqlite3.connect(path)
    foreign.execute("PRAGMA application_id = 42")
    foreign.execute("PRAGMA journal_mode = WAL")
    foreign.execute("CREATE TABLE places(url)")
    foreign.commit()
    shutil.copy(path, tmp_path / "before")
    wal = (tmp_path / "index.db-wal").read_bytes()
    with pytest.raises(ForeignFileError, match="not an index of this program"):
        open_store(tmp_path)
    assert path.read_bytes() == (tmp_path / "before").read_bytes()
    assert (tmp_path / "index.db-wal").read_bytes() == wal
    assert not (tmp_path / "index.lock").exists()
    foreign.close()


@pytest.mark.parametrize(
    "content", [b"just my notes\n", b"\x00" * 8192, b"SQLite format 3\x00" + b"\x00" * 84]
)
def test_a_file_that_was_never_an_index_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index.db").write_bytes(content)
    for _ in range(2):
        with pytest.raises(ForeignFileError):
            open_store(tmp_path)
    assert (tmp_path / "index.db").read_bytes() == content


def test_a_link_or_a_folder_in_place_of_the_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "index.db").symlink_to(tmp_path / "target")
    with pytest.raises(StorageError):
        open_store(tmp_path / "one")
    assert not (tmp_path / "target").exists()
    (tmp_path / "two" / "index.db").mkdir(parents=True)
    with pytest.raises(StorageError):
        open_store(tmp_path / "two")


def _zero_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x00" * 100)


def _truncate(path: Path) -> None:
    os.truncate(path, 3 * 8192 + 100)


def _scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(8000))


def _no_meta(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM meta WHERE key = 'index_id'")
    connection.close()


def _no_projection_version(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE meta SET key = 'projektion_version' WHERE key = 'projection_version'")
    connection.close()


def _unclean_of_no_format(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE sections_fts_config SET v = 0 WHERE k = 'version'")
    connection.execute("UPDATE meta SET value = 0 WHERE key = 'clean'")
    connection.close()


def _unclean_and_misspelt(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE meta SET value = 0 WHERE key = 'clean'")
    connection.pragma("writable_schema", value=True)
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'content_rowid', 'condent_rowid')")
    connection.close()


def _no_table(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE meta")
    connection.close()


def _other_tokenizer(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("writable_schema", value=True)
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'unicode61', 'unicode62')")
    connection.close()


@pytest.mark.parametrize(
    "damage",
    [
        _zero_header,
        _truncate,
        _scribble,
        _no_meta,
        _no_projection_version,
        _no_table,
        _other_tokenizer,
        _unclean_of_no_format,
        _unclean_and_misspelt,
    ],
)
def test_a_damaged_index_is_moved_aside_and_made_from_nothing(tmp_path: Path, damage: object) -> None:
    wanted = build(tmp_path, WIKI)
    with open_store(tmp_path) as store:
        identity = store.index_id
    assert callable(damage)
    damage(tmp_path / "index.db")
    with open_store(tmp_path) as store:
        assert store.moved_aside == tmp_path / "index.db.damaged"
        assert store.moved_aside.exists()
        assert store.index_id != identity
        assert store.fetch_indexed() == {}
        assert store.building
        bring(store, WIKI)
    assert rows_of(tmp_path) == wanted


def test_damage_deep_in_the_file_is_found_after_an_unclean_stop(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        bring(store, {f"{number}.md": f"# Page {number}\n\n{'words ' * 400}\n" for number in range(60)})
    crash(tmp_path)
    connection = apsw.Connection(str(tmp_path / "index.db"))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'section'").fetchall()
    connection.close()
    with (tmp_path / "index.db").open("r+b") as file:
        file.seek((int(str(root[0])) - 1) * 8192)
        file.write(b"\xff" * 8192)
    with open_store(tmp_path) as store:
        assert store.moved_aside is not None


def test_no_reader_ever_meets_an_index_without_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made elsewhere, from nothing or in place of a damaged one, and renamed when it is whole."""
    path, seen = tmp_path / "index.db", []

    def connect(at: Path) -> apsw.Connection:
        if path.exists():
            seen.append(read(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'v1_pages'"))
        return connection.connect(at)

    monkeypatch.setattr("indexerd.store.open.connect", connect)
    open_store(tmp_path).close()
    open_store(tmp_path, anew=True).close()
    assert seen == [[(1,)]] * 3
    assert not [name for name in os.listdir(tmp_path) if ".new" in name]


def test_a_disk_that_has_no_room_for_a_new_index_keeps_the_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path, WIKI)
    before = (tmp_path / "index.db").read_bytes()

    def full(*_: object) -> None:
        raise apsw.exception_for(apsw.SQLITE_FULL)

    monkeypatch.setattr("indexerd.store.open.create_schema", full)
    with pytest.raises(StorageError, match="the disk is full"):
        open_store(tmp_path, anew=True)
    assert (tmp_path / "index.db").read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if ".new" in name or "damaged" in name]


def test_a_log_that_an_index_left_behind_is_not_taken_for_that_of_the_next(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        bring(store, WIKI)
        subprocess.run(["cp", str(tmp_path / "index.db-wal"), str(tmp_path / "log")], check=True)
    (tmp_path / "index.db").unlink()
    (tmp_path / "log").rename(tmp_path / "index.db-wal")
    with open_store(tmp_path) as store:
        assert store.fetch_indexed() == {}
        bring(store, WIKI)
        assert store.check_integrity() == ()


def test_only_one_damaged_index_is_kept(tmp_path: Path) -> None:
    for _ in range(3):
        build(tmp_path, WIKI)
        _zero_header(tmp_path / "index.db")
        open_store(tmp_path).close()
    assert sorted(name for name in os.listdir(tmp_path) if "damaged" in name) == [
        "index.db.damaged", "index.db.damaged-shm", "index.db.damaged-wal",
    ]  # fmt: skip


def test_an_index_can_be_started_anew(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    with open_store(tmp_path, anew=True) as store:
        assert store.fetch_indexed() == {}
        assert store.moved_aside is not None


def test_an_empty_file_becomes_an_index_with_its_mode(tmp_path: Path) -> None:
    (tmp_path / "index.db").touch(mode=0o644)
    build(tmp_path, WIKI)
    assert modes(tmp_path)["index.db"] == 0o600


def test_a_writer_that_died_before_it_made_tables_leaves_nothing_to_trip_over(tmp_path: Path) -> None:
    build(tmp_path / "whole", WIKI)
    connection = apsw.Connection(str(tmp_path / "index.db"))
    connection.pragma("application_id", APPLICATION_ID)
    connection.close()
    assert build(tmp_path, WIKI) == rows_of(tmp_path / "whole")


def test_after_a_kill_the_generation_jumps_once(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    crash(tmp_path)
    with open_store(tmp_path) as store:
        assert store.was_unclean
        assert store.generation == 2
        bring(store, {"a.md": "# A\n"})
        assert store.generation == 2 + UNCLEAN_JUMP
        bring(store, {"a.md": "# B\n"})
        assert store.generation == 3 + UNCLEAN_JUMP
    with open_store(tmp_path) as store:
        assert not store.was_unclean
        bring(store, {"a.md": "# C\n"})
        assert store.generation == 4 + UNCLEAN_JUMP


def test_a_jump_that_was_due_is_not_forgotten_by_a_session_without_work(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    crash(tmp_path)
    open_store(tmp_path).close()
    with open_store(tmp_path) as store:
        assert store.was_unclean
        bring(store, WIKI)
        assert store.generation == 2 + UNCLEAN_JUMP


def test_a_second_writer_is_kept_out_and_the_first_goes_on(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        with pytest.raises(AnotherWriterError, match=f"process {os.getpid()}"):
            open_store(tmp_path)
        bring(store, WIKI)
    open_store(tmp_path).close()


def test_a_refused_second_opening_does_not_drop_the_locks_of_the_first(tmp_path: Path) -> None:
    """A program that believes to be the last one deletes the log at its close, with what is in it."""
    with open_store(tmp_path) as store:
        bring(store, WIKI)
        with pytest.raises(AnotherWriterError):
            open_store(tmp_path)
        Snapshot.open(tmp_path / "index.db").close()
        subprocess.run([sys.executable, "-c", OPEN_AND_CLOSE, str(tmp_path / "index.db")], check=True)
        assert (tmp_path / "index.db-wal").exists()
        bring(store, {})
        assert store.check_integrity() == ()


def _with_version(path: Path, version: int) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", version)
    connection.execute("CREATE TABLE _litestream_seq(id INTEGER PRIMARY KEY, seq)")
    connection.execute("CREATE TABLE of_another_version(x)")
    connection.execute("UPDATE meta SET value = value || ' of_another_version' WHERE key = 'objects'")
    connection.close()


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_another_schema_version_is_rebuilt_in_place_while_readers_see_the_old_rows(
    tmp_path: Path, version: int
) -> None:
    wanted = build(tmp_path, WIKI)
    _with_version(tmp_path / "index.db", version)
    reader = apsw.Connection(str(tmp_path / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    count = "SELECT count(*) FROM v1_pages"
    with open_store(tmp_path) as store:
        assert store.needs_rebuild
        assert store.fetch_indexed() == {}
        with pytest.raises(RuntimeError, match="rebuilt before"):
            store.apply(Plan(), committed_at=NOON)
        with store.rebuilding():
            bring(store, {"README.md": WIKI["README.md"]})
            assert reader.execute(count).fetchall() == [(2,)]
            bring(store, WIKI)
        assert reader.execute(count).fetchall() == [(2,)]
        assert bring(store, WIKI).committed is False
        assert store.generation == 1
        assert store.check_integrity() == ()
    reader.close()
    assert rows_of(tmp_path) == wanted
    names = {name for (name,) in read(tmp_path / "index.db", "SELECT name FROM sqlite_schema")}
    assert "_litestream_seq" in names
    assert "of_another_version" not in names


def rebuild_and_fail(store: Store) -> None:
    with store.rebuilding():
        bring(store, {"only.md": "# Only\n"})
        raise FileNotFoundError("a page that went while it was read")


def test_a_rebuild_that_fails_leaves_the_old_rows(tmp_path: Path) -> None:
    wanted = build(tmp_path, WIKI)
    with open_store(tmp_path) as store:
        identity = store.index_id
        with pytest.raises(FileNotFoundError):
            rebuild_and_fail(store)
        assert store.index_id == identity
        assert bring(store, WIKI).committed is False
    assert rows_of(tmp_path) == wanted


@pytest.mark.parametrize("contract", ["1.99", "0.9", "1"])
def test_an_index_of_another_contract_gets_this_programs_views_and_keeps_its_rows(
    tmp_path: Path, contract: str
) -> None:
    wanted = build(tmp_path, WIKI)
    connection = apsw.Connection(str(tmp_path / "index.db"))
    connection.execute("UPDATE meta SET value = ? WHERE key = 'contract'", (contract,))
    connection.execute("DROP VIEW v1_scans")
    connection.execute("CREATE VIEW v1_of_tomorrow AS SELECT 1")
    connection.close()
    with open_store(tmp_path) as store:
        assert store.moved_aside is None
        assert bring(store, WIKI).committed is False
    assert rows_of(tmp_path) == wanted
    assert read(tmp_path / "index.db", "SELECT * FROM v1_scans") == []
    assert read(tmp_path / "index.db", "SELECT 1 FROM sqlite_schema WHERE name = 'v1_of_tomorrow'") == []


def test_a_rebuild_has_a_new_identity_and_one_generation(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    with open_store(tmp_path) as store:
        identity = store.index_id
        with store.rebuilding():
            bring(store, {"a.md": "# A\n"})
            bring(store, WIKI)
        assert store.index_id != identity
    changes = read(tmp_path / "index.db", "SELECT generation, op, slug FROM v1_changes ORDER BY slug")
    assert changes == [(1, "upsert", "README"), (1, "upsert", "a")]


def test_a_snapshot_shows_one_moment_and_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no index"):
        Snapshot.open(tmp_path / "index.db")
    build(tmp_path, WIKI)
    with Snapshot.open(tmp_path / "index.db") as snapshot:
        assert snapshot.meta["generation"] == 1
        assert set(snapshot.fetch_indexed()) == set(WIKI)
    _with_version(tmp_path / "index.db", SCHEMA_VERSION + 1)
    with pytest.raises(StorageError, match="another version"):
        Snapshot.open(tmp_path / "index.db")
    _zero_header(tmp_path / "index.db")
    with pytest.raises(DamagedIndexError):
        Snapshot.open(tmp_path / "index.db")


def test_a_file_that_was_replaced_while_open_is_noticed(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        assert store.is_in_place()
        (tmp_path / "index.db").rename(tmp_path / "moved.db")
        assert not store.is_in_place()
        (tmp_path / "index.db").touch()
        assert not store.is_in_place()


CODES = [
    (apsw.FullError, StorageError, "disk is full"),
    (apsw.IOError, StorageError, "fails to read or write"),
    (apsw.NoMemError, StorageError, "memory"),
    (apsw.ReadOnlyError, NotPermittedError, "may not be written"),
    (apsw.PermissionsError, NotPermittedError, "refused"),
    (apsw.AuthError, NotPermittedError, "refused"),
    (apsw.CantOpenError, StorageError, "cannot be opened"),
    (apsw.BusyError, StorageError, "mode=ro"),
    (apsw.LockedError, StorageError, "locked"),
    (apsw.CorruptError, DamagedIndexError, "damaged"),
    (apsw.NotADBError, DamagedIndexError, "damaged"),
    (apsw.TooBigError, StorageError, "max_page_bytes"),
    (apsw.ProtocolError, StorageError, "local disk"),
    (apsw.NoLFSError, StorageError, "another disk"),
    (apsw.FormatError, DamagedIndexError, "damaged"),
]


@pytest.mark.parametrize("raised, kind, words", CODES)
def test_what_sqlite_refuses_becomes_one_line_with_a_remedy(
    raised: type[apsw.Error], kind: type[IndexerdError], words: str
) -> None:
    result = next(code for code in FAILURES if isinstance(apsw.exception_for(code), raised))
    with pytest.raises(kind, match=words) as caught, explaining(Path("/state/index.db")):
        raise apsw.exception_for(result)
    assert str(caught.value).startswith("/state/index.db: ")
    assert "; " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "number, kind",
    [
        (errno.EACCES, NotPermittedError),
        (errno.EROFS, NotPermittedError),
        (errno.ENOSPC, StorageError),
        (errno.EMFILE, StorageError),
        (errno.EIO, StorageError),
    ],
)
def test_what_the_system_refuses_becomes_one_line_too(number: int, kind: type[IndexerdError]) -> None:
    with pytest.raises(kind, match=r"^/state: "), explaining(Path("/state")):
        raise OSError(number, os.strerror(number))


def test_a_bug_keeps_its_traceback() -> None:
    assert explained(apsw.ConstraintError("UNIQUE"), "/state/index.db") is None
    with pytest.raises(apsw.ConstraintError), explaining(Path("/state/index.db")):
        raise apsw.exception_for(apsw.SQLITE_CONSTRAINT_UNIQUE)


def test_the_first_commit_waits_for_the_disk_since_it_says_that_the_index_is_open(tmp_path: Path) -> None:
    build(tmp_path, WIKI)
    with open_store(tmp_path) as store:
        assert store._connection.pragma("synchronous") == 2
        bring(store, {})
        assert store._connection.execute("SELECT value FROM meta WHERE key = 'clean'").fetchall() == [(0,)]
        bring(store, WIKI)
        assert store._connection.pragma("synchronous") == 1
