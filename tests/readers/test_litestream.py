"""docs/readers/litestream.md run as it stands, beside a daemon that writes."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.crash.process import LiveDaemon, UnequalError, hash_index, hash_tree, wait_until
from tests.readers.replicating import EQUAL_S, RESTORE, environment, replicating, small_wiki, write

pytestmark = pytest.mark.slow

FOREIGN: Final = {"_litestream_lock", "_litestream_seq"}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over a small wiki, started by the test."""
    with small_wiki(tmp_path) as daemon:
        yield daemon


def restore_as_documented(live: LiveDaemon, place: Path) -> subprocess.CompletedProcess[str]:
    """What the documented commands print; the last one exits with 0 when the copy is that of the tree."""
    place.parent.mkdir()
    return subprocess.run(
        ["sh", "-ec", RESTORE],
        env=environment(live, place),
        cwd=place.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=EQUAL_S,
    )


def wait_until_restored(live: LiveDaemon, tmp_path: Path) -> None:
    """Until a restored copy holds the tree, by its own hashes and by the documented commands."""
    attempts = (tmp_path / f"restored-{number}" / "index.db" for number in range(10_000))
    place = next(attempts)
    done = restore_as_documented(live, place)

    def is_equal() -> bool:
        nonlocal place, done
        if done.returncode == 0 and hash_index(place) == hash_tree(live.root):
            return True
        place = next(attempts)
        done = restore_as_documented(live, place)
        return False

    try:
        wait_until(is_equal, EQUAL_S, "restored")
    except UnequalError as error:
        raise UnequalError(f"{error}: {done.stdout}{done.stderr}") from None
    assert re.search(rf"^{re.escape(str(live.root))}/p1\.md:\d+\tPage 1\tCancel", done.stdout, re.MULTILINE)
    with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as copy:
        assert copy.execute("PRAGMA quick_check").fetchall() == [("ok",)]


def tables(db: Path) -> set[str]:
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as index:
        return {name for (name,) in index.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_a_copy_made_while_the_daemon_writes_answers_and_is_verified(
    live: LiveDaemon, tmp_path: Path
) -> None:
    live.start()
    with replicating(live):
        wait_until(lambda: tables(live.db) >= FOREIGN, EQUAL_S, "litestream's tables")
        for number in range(10):
            write(live, f"edit{number}")
            live.wait_equal(EQUAL_S)
        wait_until_restored(live, tmp_path)
        live.verify()


def test_what_is_written_while_litestream_was_killed_is_in_the_next_copy(
    live: LiveDaemon, tmp_path: Path
) -> None:
    live.start()
    with replicating(live) as process:
        wait_until_restored(live, tmp_path)
        process.kill()
        process.wait(EQUAL_S)
    write(live, "unseen")
    live.wait_equal(EQUAL_S)
    log = live.db.with_name("index.db-wal")
    wait_until(lambda: log.stat().st_size == 0, EQUAL_S, "the log emptied by the daemon")
    (tmp_path / "second").mkdir()
    with replicating(live):
        wait_until_restored(live, tmp_path / "second")


def test_litestream_leaves_the_log_to_readers_and_a_rebuild_leaves_its_tables(
    live: LiveDaemon, tmp_path: Path
) -> None:
    live.start()
    with replicating(live):
        wait_until(lambda: tables(live.db) >= FOREIGN, EQUAL_S, "litestream's tables")
        live.stop()
    assert live.db.with_name("index.db-wal").exists()
    assert live.db.with_name("index.db-shm").exists()
    with closing(sqlite3.connect(live.db)) as index:
        index.execute("PRAGMA user_version = 9999")
    with replicating(live):
        live.start()
        live.verify()
        assert tables(live.db) >= FOREIGN
        wait_until_restored(live, tmp_path)
