"""A copy that litestream restored elsewhere: what it says of itself, and readers that stay open on it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from tests.another_user import AS_NOBODY, needs_open_installation
from tests.crash.process import LiveDaemon, hash_index, hash_tree, wait_until
from tests.readers.replicating import EQUAL_S, following, replica_of, replicating, restore, small_wiki, write
from tests.wikiq.mcp.session import Session
from tests.wikiq.running import Done, command
from tests.wikiq.running import environment as reader_environment
from wikiq.index.database import open_database

pytestmark = pytest.mark.slow

EDITS: Final = 12


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over a small wiki that runs, with its index replicated."""
    with small_wiki(tmp_path) as daemon:
        daemon.start()
        with replicating(daemon):
            daemon.wait_equal(EQUAL_S)
            yield daemon


def restored(live: LiveDaemon, place: Path) -> Path:
    """A copy of the tree as it is, in a folder of its own."""
    attempt = 0

    def is_equal() -> bool:
        nonlocal attempt
        attempt += 1
        shutil.rmtree(place.parent, ignore_errors=True)
        done = restore(live, place)
        return done.returncode == 0 and hash_index(place) == hash_tree(live.root)

    wait_until(is_equal, EQUAL_S, "restored")
    return place


def ask(copy: Path, *words: str, prefix: tuple[str, ...] = ()) -> Done:
    done = subprocess.run(
        [*prefix, *command(*words), "--db", str(copy)],
        env=reader_environment(copy.parent), cwd="/", capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_copy_without_the_tree_says_what_it_is_and_where_to_ask(live: LiveDaemon, tmp_path: Path) -> None:
    copy = restored(live, tmp_path / "elsewhere" / "index.db")
    live.stop()
    live.root.rename(tmp_path / "gone")
    told: Any = json.loads(ask(copy, "status", "--json", "--max-age", "3600").out)
    assert (told["mode"], told["daemon"], told["stale"]) == ("copy", "unknown", False)
    assert told["age_s"] is not None
    late = ask(copy, "status", "--json", "--max-age", "0")
    assert late.status == 3
    assert json.loads(late.out)["remedy"].startswith("ask on ")
    hits = json.loads(ask(copy, "search", "cancel", "--json").out)["hits"]
    assert {hit["status"] for hit in hits} == {"unknown"}
    fresh = ask(copy, "search", "cancel", "--fresh", "--timeout", "300")
    assert fresh.status == 3
    assert "this is a copy; ask on " in fresh.err
    assert "indexerd run" not in fresh.err


@needs_open_installation
def test_another_user_reads_a_copy_it_may_not_write(live: LiveDaemon, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    copy = restored(live, tmp_path / "elsewhere" / "index.db")
    copy.chmod(0o644)
    copy.parent.chmod(0o755)
    done = ask(copy, "search", "cancel", prefix=AS_NOBODY)
    assert done.status == 0, done.err
    assert "Cancel" in done.out


def test_a_state_of_an_earlier_moment_is_restored_and_answers_as_it_was(
    live: LiveDaemon, tmp_path: Path
) -> None:
    first = restored(live, tmp_path / "first" / "index.db")
    with closing(open_database(str(first))) as database:
        before = database.generation()
    time.sleep(1.1)  # litestream tells moments by the second
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    time.sleep(1.1)
    write(live, "second")
    live.wait_equal(EQUAL_S)
    restored(live, tmp_path / "second" / "index.db")
    then = tmp_path / "then" / "index.db"
    done = restore(live, then, ["-timestamp", moment])
    assert done.returncode == 0, done.stderr
    with closing(open_database(str(then))) as database:
        assert database.generation() == before
    assert ask(then, "search", "first").status == 0
    assert ask(then, "search", "--exact", "second").status == 1


def test_a_replica_that_is_damaged_gives_no_copy_and_half_a_copy_says_so(
    live: LiveDaemon, tmp_path: Path
) -> None:
    copy = restored(live, tmp_path / "elsewhere" / "index.db")
    for part in replica_of(live).rglob("*.ltx"):
        part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
    bad = tmp_path / "bad" / "index.db"
    assert restore(live, bad).returncode != 0
    assert ask(bad, "search", "cancel").status == 2
    copy.write_bytes(copy.read_bytes()[:20_000])
    done = ask(copy, "search", "cancel")
    assert done.status == 2
    assert "is damaged" in done.err
    assert done.err.count("\n") == 1


def holds(copy: Path, word: str) -> bool:
    """Whether an edit is in the copy, read as any program reads it."""
    try:
        with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as index:
            found = index.execute("SELECT 1 FROM sections_fts WHERE sections_fts MATCH ?", (word,)).fetchone()
            return found is not None
    except sqlite3.OperationalError:
        return False  # litestream writes it at this moment


def test_an_agent_and_a_follower_stay_open_while_litestream_applies_edits(
    live: LiveDaemon, tmp_path: Path
) -> None:
    copy, seen = tmp_path / "elsewhere" / "index.db", tmp_path / "seen"
    restored(live, tmp_path / "first" / "index.db")  # there is nothing to follow before
    with following(live, copy):
        wait_until(lambda: copy.exists() and holds(copy, "first"), EQUAL_S, "the copy")
        environ = reader_environment(tmp_path)
        words = command("changes", "--since", "0", "--follow", "--ndjson", "--db", str(copy))
        with seen.open("wb") as out, Session("--db", str(copy), cwd=tmp_path, environ=environ) as session:
            follower = subprocess.Popen(words, stdout=out, stderr=subprocess.PIPE, env=environ)
            try:
                for number in range(EDITS):
                    word = f"edit{number:03d}z"
                    (live.root / f"e{number}.md").write_text(f"# {word}\n\nSome {word} words.\n")
                    wait_until(lambda: holds(copy, word), EQUAL_S, word)  # noqa: B023 - ends in its round
                    wait_until(lambda: word in session.tool("search", query=word), EQUAL_S, "seen")  # noqa: B023
                    path = f"e{number}.md"
                    wait_until(lambda: path in seen.read_text(), EQUAL_S, "followed")  # noqa: B023
                assert follower.poll() is None
            finally:
                follower.terminate()
                _, complaints = follower.communicate()
    assert b"Traceback" not in complaints
