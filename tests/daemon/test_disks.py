"""The daemon's own files on disks that are full, read-only, or shared with readers that never leave."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import anyio
import pytest

from indexerd.daemon import status
from tests.crash.process import SCANS_OFTEN, LiveDaemon, hash_index, open_index, wait_until
from tests.following import Followed, following

PATIENCE_S: Final = 60.0
SMALL_DISK: Final = 8 << 20  # bytes
SCRIPTS: Final = Path(sys.executable).parent

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")

HOLD: Final = """
import sqlite3, sys
index = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
index.execute("BEGIN")
index.execute("SELECT count(*) FROM v1_pages").fetchall()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "none", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def held(db: Path) -> Iterator[None]:
    """A transaction of a reader, in a process of its own: two SQLite libraries in one drop their locks."""
    words = [sys.executable, "-c", HOLD, str(db)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"held\n"
        yield
        reader.communicate()


def remount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


@contextmanager
def running(root: Path, db: Path) -> Iterator[LiveDaemon]:
    daemon = LiveDaemon(root, db, environ=SCANS_OFTEN)
    daemon.start()
    try:
        yield daemon
    finally:
        if daemon.process is not None:
            daemon.stop(signal.SIGKILL)


def write_pages(root: Path, count: int) -> None:
    """Pages of words that compress to nothing, some 20 KB each."""
    chance = random.Random(count)
    for nth in range(count):
        words = " ".join(f"{chance.randrange(16**8):x}" for _ in range(2_000))
        (root / f"{nth}.md").write_text(f"# Page {nth}\n\n{words}\n")


@needs_root
@pytest.mark.slow
def test_a_full_disk_is_said_so_and_everything_is_written_once_it_is_enlarged(tmp_path: Path) -> None:
    root = tmp_path / "wiki"
    root.mkdir()
    (root / "a.md").write_text("# A")
    with small_disk(tmp_path / "disk"), running(root, tmp_path / "disk" / "state" / "index.db") as daemon:
        write_pages(root, 130)
        wait_until(lambda: "the disk is full" in (daemon.state()["reason"] or ""), PATIENCE_S, "a reason")
        assert "free some space" in daemon.state()["remedy"]
        assert daemon.state()["pending"] > 0
        assert "a.md" in hash_index(daemon.db), "reads go on"
        with closing(open_index(daemon.db)) as index:
            assert index.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        remount(tmp_path / "disk", "size=512m")
        daemon.wait_equal(PATIENCE_S)
        wait_until(lambda: daemon.state()["reason"] is None, PATIENCE_S, "no reason any more")
        assert daemon.state()["counters"]["failures"] > 0
        daemon.stop()
        daemon.verify()


@needs_root
def test_a_read_only_disk_is_one_line_for_a_writer_and_nothing_for_a_reader(tmp_path: Path) -> None:
    root = tmp_path / "wiki"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nwords\n")
    db = ("--db", str(tmp_path / "disk" / "state" / "index.db"))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        name, *rest = words
        command = [str(SCRIPTS / name), *rest]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)

    with small_disk(tmp_path / "disk"):
        assert run("indexerd", "build", str(root), *db).returncode == 0
        remount(tmp_path / "disk", "ro")
        for command in ("build", "run"):
            refused = run("indexerd", command, str(root), *db)
            assert refused.returncode == 77
            assert refused.stderr.count("\n") == 1
            assert "Traceback" not in refused.stderr
        found = run("wikiq", *db, "search", "words")
        assert found.returncode == 0
        remount(tmp_path / "disk", "rw")
        assert run("indexerd", "verify", str(root), *db).returncode == 0


def test_a_reader_that_never_lets_go_is_named_and_the_log_shrinks_when_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "WAL_WARNING_BYTES", 2 << 20)

    async def scenario(wiki: Followed) -> None:
        write_pages(wiki.root, 5)
        wiki.say("")
        await wiki.until_equal()
        with held(wiki.db):
            for nth in range(40):
                if not wiki.counter("wal_grown"):
                    write_pages(wiki.root, 5 + nth % 2)
                    wiki.say("")
                    await wiki.until_equal()
            await wiki.until(lambda: "a reader keeps a transaction open" in (wiki.state()["reason"] or ""))
            assert wiki.state()["remedy"]
        wiki.advance(60.0)
        await wiki.until(lambda: wiki.resources.store.wal_bytes == 0)
        await wiki.until(lambda: wiki.state()["reason"] is None)
        assert wiki.counter("wal_grown") == 1

    async def run() -> None:
        async with following(tmp_path) as wiki:
            await scenario(wiki)

    anyio.run(run)


def test_of_two_daemons_that_start_together_one_works_and_the_other_says_who(tmp_path: Path) -> None:
    root = tmp_path / "wiki"
    root.mkdir()
    (root / "a.md").write_text("# A")
    words = [str(SCRIPTS / "indexerd"), "run", str(root), "--db", str(tmp_path / "state" / "index.db")]
    pair = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        wait_until(lambda: any(one.poll() is not None for one in pair), PATIENCE_S, "one of them gives up")
        loser, winner = sorted(pair, key=lambda one: one.poll() is None)
        assert loser.returncode == 75
        assert loser.stderr is not None
        assert f"process {winner.pid}" in loser.stderr.read()
        assert winner.poll() is None
        winner.send_signal(signal.SIGTERM)
        winner.communicate(timeout=PATIENCE_S)
        assert winner.returncode == 0
    finally:
        for one in pair:
            one.kill()
            one.communicate()


@pytest.mark.slow
def test_another_index_put_in_the_place_of_an_open_one_is_moved_aside_whatever_its_log_says(
    tmp_path: Path,
) -> None:
    """The log beside it is that of the old one: together they would be an index of neither."""
    for name in ("wiki", "other"):
        (tmp_path / name).mkdir()
        write_pages(tmp_path / name, 20 if name == "wiki" else 30)
    other = tmp_path / "state of the other" / "index.db"
    build = [str(SCRIPTS / "indexerd"), "build", str(tmp_path / "other"), "--db", str(other)]
    subprocess.run(build, check=True, capture_output=True)
    with running(tmp_path / "wiki", tmp_path / "state" / "index.db") as daemon:
        with closing(open_index(daemon.db)) as reader:  # keeps the log from being emptied
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM v1_pages").fetchall()
            (daemon.root / "0.md").write_text("# Changed\n")
            daemon.wait_equal(PATIENCE_S)
            shutil.copy(other, daemon.db.with_name("copy"))
            os.replace(daemon.db.with_name("copy"), daemon.db)
            wait_until(
                lambda: daemon.state()["counters"].get("index_replaced") == 1, PATIENCE_S, "it is noticed"
            )
        daemon.wait_equal(PATIENCE_S)
        daemon.stop()
        daemon.verify()
        assert daemon.db.with_name("index.db.damaged").exists()
