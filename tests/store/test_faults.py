"""What goes wrong while writing: no space, no right, a kill at any moment, files of somebody else."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from indexerd.errors import DamagedIndexError, NotPermittedError, StorageError
from indexerd.store.store import UNCLEAN_JUMP
from tests.imports import REPOSITORY
from tests.store.wiki import NOON, bring, build, open_store, plan_for, rows_of

LONG = {f"{number}.md": f"# Page {number}\n\n{'many words ' * 300}\n" for number in range(40)}


def test_a_full_disk_takes_nothing_away_and_the_same_plan_goes_through_later(tmp_path: Path) -> None:
    with open_store(tmp_path / "one") as store:
        bring(store, {"a.md": "# A\n"})
        pages = store._connection.pragma("page_count")
        store._connection.pragma("max_page_count", pages + 20)
        plan = plan_for(store, LONG)
        with pytest.raises(StorageError, match="the disk is full"):
            store.apply(plan, committed_at=NOON)
        assert set(store.fetch_indexed()) == {"a.md"}
        assert store.generation == 1
        store._connection.pragma("max_page_count", 1_000_000)
        store.apply(plan, committed_at=NOON)
        assert store.check_integrity() == ()
    assert rows_of(tmp_path / "one") == build(tmp_path / "two", LONG)


def test_a_full_disk_in_a_rebuild_leaves_the_old_rows(tmp_path: Path) -> None:
    wanted = build(tmp_path, {"a.md": "# A\n"})
    with open_store(tmp_path) as store:
        store._connection.pragma("max_page_count", store._connection.pragma("page_count") + 2)
        with pytest.raises(StorageError, match="the disk is full"), store.rebuilding():
            bring(store, LONG)
    assert rows_of(tmp_path) == wanted


def test_another_programs_write_lock_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path) as store:
        bring(store, {"a.md": "# A\n"})
        store._connection.set_busy_timeout(10)
        intruder = apsw.Connection(str(tmp_path / "index.db"))
        intruder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="opened it for writing"):
            bring(store, {})
        intruder.execute("ROLLBACK")
        intruder.close()
        bring(store, {})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_companion_file_of_another_user_is_named(tmp_path: Path) -> None:
    build(tmp_path, {"a.md": "# A\n"})
    os.chown(tmp_path / "index.db-shm", 1234, -1)
    with pytest.raises(StorageError, match=r"index\.db-shm: belongs to user 1234"):
        open_store(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_an_index_one_may_not_write_is_not_permitted(tmp_path: Path) -> None:
    build(tmp_path, {"a.md": "# A\n"})
    (tmp_path / "index.db").chmod(0o400)
    tmp_path.chmod(0o500)
    with pytest.raises(NotPermittedError):
        open_store(tmp_path)
    tmp_path.chmod(0o700)


def test_a_place_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError) as caught:
        open_store(tmp_path / "file")
    assert "\n" not in str(caught.value)


WRITER = """
import itertools, sys
from pathlib import Path
from tests.store.wiki import bring, open_store
with open_store(Path(sys.argv[1])) as store:
    for number in itertools.count():
        text = f"# Page\\n\\nround {number // 3} {'words ' * 40}\\n"
        wiki = {f"{page}.md": text for page in range(20)}
        for page in range(number % 7):
            del wiki[f"{(number + page) % 20}.md"]
        bring(store, wiki)
        if number == 0:
            print("writing", flush=True)
        if number % 5 == 0:
            store.checkpoint()
            store.merge()
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_kill_at_any_moment_leaves_a_whole_index(tmp_path: Path, seed: int) -> None:
    """A few of the thousand kills that `make bench` and the crash tests do; each must be whole."""
    generation = 0
    for _ in range(2):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(random.Random(seed).uniform(0, 0.15))
            writer.send_signal(signal.SIGKILL)
        with open_store(tmp_path) as store:
            assert store.was_unclean
            assert store.moved_aside is None
            assert store.generation > generation
            assert store.check_integrity() == ()
            bring(store, LONG)
            generation = store.generation
    assert rows_of(tmp_path) == build(tmp_path / "fresh", LONG)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_flipped_bytes_end_in_the_right_rows_or_in_one_line(tmp_path: Path, seed: int) -> None:
    """Rows that no check covers may stay wrong until `verify` looks; nothing may raise anything else."""
    wiki = {
        f"{n}.md": f"# Page {n}\n\n[x]({n + 1}.md) {'words ' * 40}\n\n## 日本語\n\ntext\n" for n in range(20)
    }
    build(tmp_path / "whole", wiki)
    whole = (tmp_path / "whole" / "index.db").read_bytes()
    chance = random.Random(seed)
    for attempt in range(8):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 5, 50))):
            damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
        folder = tmp_path / str(attempt)
        folder.mkdir()
        (folder / "index.lock").touch()
        (folder / "index.db").write_bytes(damaged)
        try:
            with open_store(folder) as store:
                if store.check_integrity():
                    with store.rebuilding():
                        bring(store, wiki)
                bring(store, wiki)
        except DamagedIndexError:
            with open_store(folder, anew=True) as store:
                bring(store, wiki)
                assert store.check_integrity() == ()


def test_a_power_failure_takes_back_whole_commits_and_no_generation_comes_twice(tmp_path: Path) -> None:
    """The log is cut anywhere after the session's first commit, which alone waits for the disk."""
    folder = tmp_path / "wiki"
    build(folder, {"a.md": "# 1\n"})
    with open_store(folder) as store:
        bring(store, {"a.md": "# 2\n"})
        durable = store.wal_bytes
        for number in range(3, 9):
            bring(store, {"a.md": f"# {number}\n", f"{number}.md": "# More\n"})
        # By another process: opening the file in this one would drop the store's locks.
        subprocess.run(["cp", "-r", str(folder), str(tmp_path / "cut")], check=True)
    log = (tmp_path / "cut" / "index.db-wal").read_bytes()
    (tmp_path / "cut" / "index.db-shm").unlink()
    chance = random.Random(7)
    seen = set()
    for attempt in range(12):
        copy = tmp_path / str(attempt)
        shutil.copytree(tmp_path / "cut", copy)
        (copy / "index.db-wal").write_bytes(log[: chance.randrange(durable, len(log))])
        with open_store(copy) as store:
            assert store.moved_aside is None
            assert store.was_unclean
            assert store.check_integrity() == ()
            generation = store.generation
            assert store._connection.execute("SELECT title FROM v1_pages WHERE slug = 'a'").fetchall() == [
                (str(generation),)
            ]
            bring(store, {"a.md": "# after\n"})
            assert store.generation == generation + UNCLEAN_JUMP
        seen.add(generation)
    assert len(seen) > 2


def test_damage_that_a_write_ran_into_is_known_at_the_next_opening(tmp_path: Path) -> None:
    """No check at opening sees it: the pages of the file are sound, what FTS5 keeps in them is not."""
    build(tmp_path, LONG)
    connection = apsw.Connection(str(tmp_path / "index.db"))
    connection.execute("UPDATE sections_fts_data SET block = zeroblob(3) WHERE id = 10")  # its structure
    connection.close()
    with open_store(tmp_path) as store:
        assert store.moved_aside is None
        with pytest.raises(DamagedIndexError, match="moves it aside"):
            bring(store, {})
    with open_store(tmp_path) as store:
        assert store.moved_aside is not None
        bring(store, LONG)
        assert store.check_integrity() == ()


def test_an_index_that_could_not_be_closed_is_not_closed_again(tmp_path: Path) -> None:
    """Whoever cleans up after an error meets a store that is closed, not a second error."""
    store = open_store(tmp_path)
    bring(store, {"a.md": "# A\n"})
    store.close()
    store.close()
    open_store(tmp_path).close()


def test_a_full_text_of_no_known_format_is_damage_and_no_bug(tmp_path: Path) -> None:
    build(tmp_path, {"a.md": "# A\n"})
    connection = apsw.Connection(str(tmp_path / "index.db"))
    connection.execute("UPDATE sections_fts_config SET v = 0 WHERE k = 'version'")
    connection.close()
    with open_store(tmp_path) as store, pytest.raises(DamagedIndexError, match="moves it aside"):
        bring(store, {"a.md": "# B\n"})
