"""A copy says what it is: its age, where to ask, and nothing of files that are not on this machine."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from indexerd.contract.moments import time_text
from tests.crash.process import wait_until
from tests.wikiq.conftest import PAGES
from tests.wikiq.mcp.session import Session
from tests.wikiq.running import command, environment, run_wikiq
from tests.wikiq.sample_index import SampleIndex, write_sample
from wikiq.index.database import open_database


def commit(db: Path, *, ago_s: float = 0.0, generation: int = 1) -> None:
    """Let the file say that its last commit was just made."""
    moment = datetime.now(UTC) - timedelta(seconds=ago_s)
    with closing(sqlite3.connect(db)) as connection, connection:
        told = {"committed_at": time_text(int(moment.timestamp() * 1e9)), "generation": generation}
        for key, value in told.items():
            connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))


def make_copy(index: SampleIndex, place: Path) -> SampleIndex:
    """A whole copy in one file, as `VACUUM INTO` and a restore leave it; the tree is not with it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(index.db)) as connection:
        connection.execute("VACUUM INTO ?", (str(place),))
    return SampleIndex(root=index.root, db=place)


@pytest.fixture
def copy(index: SampleIndex, tmp_path: Path) -> SampleIndex:
    """A copy whose last commit was just now, on a machine without the pages."""
    commit(index.db)
    return make_copy(index, tmp_path / "copies" / "index.db")


def status(copy: SampleIndex, *words: str) -> tuple[int, dict[str, Any]]:
    done = run_wikiq("--db", str(copy.db), "status", "--json", *words, index=copy)
    document: dict[str, Any] = json.loads(done.out)
    return done.status, document


def test_a_copy_is_stale_only_when_its_last_commit_is_older_than_the_age_allowed(copy: SampleIndex) -> None:
    exit_status, told = status(copy, "--max-age", "3600")
    assert (exit_status, told["mode"], told["stale"]) == (0, "copy", False)
    assert (told["daemon"], told["remedy"]) == ("unknown", None)
    assert told["age_s"] < 3600
    assert "sample-host" in told["reason"]
    commit(copy.db, ago_s=7200)
    exit_status, told = status(copy, "--max-age", "3600")
    assert (exit_status, told["stale"], told["remedy"]) == (3, True, "ask on sample-host")
    assert status(copy, "--max-age", "10000")[0] == 0


def test_a_copy_never_tells_anybody_to_start_a_daemon(copy: SampleIndex) -> None:
    commit(copy.db, ago_s=7200)
    done = run_wikiq("--db", str(copy.db), "search", "agent", index=copy)
    assert done.status == 0
    assert "indexerd run" not in done.err
    assert "this is a copy of an index on sample-host; last commit 2 h ago; ask on sample-host" in done.err


def test_an_index_that_a_writer_left_is_no_copy_unless_it_is_said_to_be(index: SampleIndex) -> None:
    commit(index.db)
    assert status(index)[1]["mode"] == "stopped"
    assert status(index, "--copy", "--max-age", "3600")[1]["mode"] == "copy"


def test_pages_of_a_tree_that_is_elsewhere_are_unknown_and_never_gone(copy: SampleIndex) -> None:
    root = copy.root.rename(copy.root.with_name("elsewhere"))
    done = run_wikiq("--db", str(copy.db), "search", "agent", "--json", index=copy, cwd=root)
    hits = json.loads(done.out)["hits"]
    assert {hit["status"] for hit in hits} == {"unknown"}
    plain = run_wikiq("--db", str(copy.db), "search", "agent", index=copy, cwd=root)
    assert "gone" not in plain.out + plain.err
    opened = run_wikiq("--db", str(copy.db), "open", "paths.md", index=copy, cwd=root)
    assert opened.status == 1
    assert "is not on this machine" in opened.err


def test_freshness_of_a_copy_is_refused_at_once_with_where_to_ask(copy: SampleIndex) -> None:
    done = run_wikiq("--db", str(copy.db), "search", "agent", "--fresh", "--timeout", "3000", index=copy)
    assert done.status == 3
    assert "this is a copy; ask on sample-host" in done.err
    synced = run_wikiq("--db", str(copy.db), "sync", "--timeout", "3000", index=copy)
    assert synced.status == 3
    assert "ask on sample-host" in synced.err


def test_a_copy_without_a_host_still_says_where_to_ask(copy: SampleIndex) -> None:
    copy.alter("DELETE FROM meta WHERE key = 'host'")
    commit(copy.db, ago_s=7200)
    assert status(copy)[1]["remedy"] == "ask on the machine that writes it"


def test_a_file_read_as_immutable_is_seen_to_be_replaced_when_it_is_written(copy: SampleIndex) -> None:
    with closing(sqlite3.connect(copy.db)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    with closing(open_database(str(copy.db))) as database:
        database.immutable = True  # as it is opened in a folder that this user may not write
        assert not database.is_replaced()
        commit(copy.db, generation=2)
        assert database.is_replaced()


def test_a_copy_is_closed_between_two_questions_so_that_its_keeper_may_write_it(copy: SampleIndex) -> None:
    with closing(sqlite3.connect(copy.db)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with closing(open_database(str(copy.db))) as database, closing(sqlite3.connect(copy.db)) as keeper:
        with database.snapshot() as snapshot:
            assert database.generation() == snapshot.generation
            assert snapshot.row("SELECT 1") == (1,)
        # SQLite leaves the WAL mode only where nobody else has the file open.
        assert keeper.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        assert database.generation() == 1
        assert keeper.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        with database.snapshot() as snapshot:
            assert snapshot.generation == 1


def holds(file: Path, words: str) -> bool:
    return words in file.read_text()


def add_change(index: SampleIndex, generation: int) -> None:
    moment = "2026-01-03T00:00:00.000Z"
    index.alter("INSERT INTO commits VALUES (?, ?)", generation, moment)
    index.alter(
        "INSERT INTO change(generation, slug, op, path) VALUES (?, 'p', 'upsert', ?)",
        generation,
        f"page-{generation}.md",
    )
    commit(index.db, generation=generation)


def test_a_follower_goes_on_while_its_copy_is_replaced_over_and_over(
    index: SampleIndex, copy: SampleIndex, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    words = command("--db", str(copy.db), "changes", "--since", "1", "--follow", "--ndjson")
    with seen.open("wb") as out, (tmp_path / "err").open("wb") as err:
        follower = subprocess.Popen(words, stdout=out, stderr=err, env=environment(tmp_path))
        try:
            for generation in range(2, 8):
                add_change(index, generation)
                fresh = make_copy(index, tmp_path / "copies" / "index.db.new")
                if generation % 2:
                    os.replace(fresh.db, copy.db)
                else:  # away for a moment
                    copy.db.unlink()
                    shutil.move(fresh.db, copy.db)
                wanted = f"page-{generation}.md"
                wait_until(partial(holds, seen, wanted), 30, wanted)
            assert follower.poll() is None
        finally:
            follower.terminate()
            follower.wait(30)
    assert len(seen.read_text().splitlines()) == 6
    assert (tmp_path / "err").read_text().count("\n") <= 1


def test_an_agent_goes_on_while_a_copy_is_replaced_and_is_told_its_age(
    index: SampleIndex, copy: SampleIndex, tmp_path: Path
) -> None:
    with Session(
        "--db", str(copy.db), "--max-age", "3600", cwd=tmp_path, environ=environment(tmp_path)
    ) as session:
        assert "generation 1, a copy, last commit" in session.tool("search", query="agent")
        for generation in range(2, 6):
            add_change(index, generation)
            os.replace(make_copy(index, tmp_path / "copies" / "new.db").db, copy.db)
            assert f"generation {generation}, a copy" in session.tool("search", query="agent")
        assert "this is a copy; ask on sample-host" in session.tool("search", query="agent", fresh=True)
        copy.db.write_bytes(copy.db.read_bytes()[:5000])  # half of it is written
        session.refusal("search", query="agent")
        os.replace(make_copy(index, tmp_path / "copies" / "new.db").db, copy.db)
        assert "generation 5" in session.tool("search", query="agent")


def test_a_copy_of_another_wiki_in_its_place_is_answered_from(copy: SampleIndex, tmp_path: Path) -> None:
    with Session("--db", str(copy.db), cwd=tmp_path, environ=environment(tmp_path)) as session:
        assert "paths.md" in session.tool("list", kind="pages")
        os.replace(write_sample(tmp_path / "other", PAGES[:1]).db, copy.db)
        assert "paths.md" not in session.tool("list", kind="pages")
