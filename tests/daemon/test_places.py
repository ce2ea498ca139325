"""Where a wiki lies: file systems without events or with coarse times, roots that go, come and change.

Each root is removed, moved, retargeted or covered under a running daemon: no page may be lost by it,
and the daemon must be following again by itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.crash.barrier import ask
from tests.crash.process import (
    FAKED_WALL_CLOCK,
    FAKETIME,
    SCANS_OFTEN,
    LiveDaemon,
    hash_index,
    hash_tree,
    unmount,
    wait_until,
)

pytestmark = pytest.mark.slow

EQUAL_S: Final = 30.0
EVENT_ATTEMPTS: Final = 5
PAGES: Final = 30
IMAGE_BYTES: Final = 16 << 20

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over some pages, started by the test."""
    root = tmp_path / "wiki"
    fill(root)
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db", environ=SCANS_OFTEN)
    yield daemon
    if daemon.process is not None:
        daemon.stop(signal.SIGKILL)


def fill(root: Path, word: str = "Page") -> None:
    for nth in range(PAGES):
        (root / f"d{nth % 3}").mkdir(parents=True, exist_ok=True)
        (root / f"d{nth % 3}" / f"{nth}.md").write_text(f"# {word} {nth}\n")


def in_mode(live: LiveDaemon, mode: str) -> None:
    wait_until(lambda: live.state()["mode"] == mode, EQUAL_S, mode)


def follows_by_events(live: LiveDaemon) -> None:
    """A save is found by its event, in a folder that is as old as the root and in a new one.

    On a busy machine a periodic scan may come before the event, so one of several saves has to be.
    """
    in_mode(live, "watching")
    for attempt in range(EVENT_ATTEMPTS):
        live.wait_equal(EQUAL_S)
        missed = live.state()["counters"].get("missed_by_events", 0)
        (live.root / "d1" / "again.md").write_text(f"# again {attempt}\n")
        (live.root / f"new{attempt}").mkdir()
        (live.root / f"new{attempt}" / "again.md").write_text("# again\n")
        live.wait_equal(EQUAL_S)
        if live.state()["counters"].get("missed_by_events", 0) == missed:
            return
    pytest.fail(f"none of {EVENT_ATTEMPTS} saves was found by its event")


def run(*words: str | Path) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{words[0]} is not possible here: {done.stderr.strip()}")


@contextmanager
def mounted(folder: Path, *words: str | Path) -> Iterator[None]:
    """What the command mounts at `folder`."""
    run(*words, folder)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


# The root.


def test_a_root_that_is_deleted_and_made_again_loses_nothing_and_is_followed(live: LiveDaemon) -> None:
    live.start()
    in_mode(live, "watching")
    before = hash_index(live.db)
    copy = live.root.with_name("copy")
    shutil.copytree(live.root, copy)
    live.root.rename(live.root.with_name("going"))
    in_mode(live, "root_unavailable")
    shutil.rmtree(live.root.with_name("going"))
    assert hash_index(live.db) == before
    state = live.state()
    assert state["counters"]["root_lost"] == 1
    assert state["reason"]
    assert state["remedy"]
    copy.rename(live.root)  # another inode
    follows_by_events(live)
    assert live.state()["counters"].get("deleted", 0) == 0
    live.stop()


def test_a_root_that_is_renamed_is_not_followed_to_its_new_name(live: LiveDaemon) -> None:
    live.start()
    in_mode(live, "watching")
    away = live.root.rename(live.root.with_name("away"))
    in_mode(live, "root_unavailable")
    (away / "d1" / "elsewhere.md").write_text("# not at the root's place\n")
    fill(live.root, "Another")
    in_mode(live, "watching")
    follows_by_events(live)
    assert "d1/elsewhere.md" not in hash_index(live.db)
    live.stop()


def test_a_root_that_is_deleted_page_by_page_is_unavailable_and_not_empty(live: LiveDaemon) -> None:
    live.start()
    in_mode(live, "watching")
    shutil.rmtree(live.root)
    in_mode(live, "root_unavailable")
    fill(live.root)
    follows_by_events(live)
    live.stop()


def test_a_root_behind_a_link_is_the_new_target_when_the_link_is_turned(live: LiveDaemon) -> None:
    one, other = live.root.rename(live.root.with_name("one")), live.root.with_name("other")
    shutil.copytree(one, other)
    (other / "only-here.md").write_text("# Only here\n")
    live.root.symlink_to(one)
    live.start()
    in_mode(live, "watching")
    turned = live.root.with_name("turned")
    turned.symlink_to(other)
    turned.replace(live.root)  # as `ln -sfn` and releases do
    wait_until(lambda: "only-here.md" in hash_index(live.db), EQUAL_S, "the other target")
    assert hash_index(live.db) == {
        path.relative_to(other).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in other.rglob("*.md")
    }
    (other / "d1" / "later.md").write_text("# later\n")
    wait_until(lambda: "d1/later.md" in hash_index(live.db), EQUAL_S, "an edit in the other target")
    live.stop()


def test_the_last_page_deleted_by_hand_is_gone(live: LiveDaemon) -> None:
    live.start()
    in_mode(live, "watching")
    pages = sorted(hash_tree(live.root))
    for path in pages[1:]:
        (live.root / path).unlink()
    live.wait_equal(EQUAL_S)
    (live.root / pages[0]).unlink()
    wait_until(lambda: hash_index(live.db) == {}, EQUAL_S, "an empty index")
    follows_by_events(live)
    live.stop()


@needs_root
@pytest.mark.parametrize("how", ["unmounted", "covered by an empty disk"])
def test_a_disk_that_goes_loses_no_page_and_is_followed_when_it_is_back(
    tmp_path: Path, live: LiveDaemon, how: str
) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    run("mkfs.ext4", "-q", image)
    live.root = tmp_path / "disk"
    live.root.mkdir()
    loop = ("mount", "-o", "loop", image)
    with mounted(live.root, *loop):
        fill(live.root)
        live.start()
        in_mode(live, "watching")
        before = hash_index(live.db)
        if how == "unmounted":
            unmount(live.root)
            in_mode(live, "root_unavailable")
            assert hash_index(live.db) == before
            run(*loop, live.root)
        else:
            with mounted(live.root, "mount", "-t", "tmpfs", "none"):
                in_mode(live, "root_unavailable")
                assert hash_index(live.db) == before
        follows_by_events(live)
        assert live.state()["counters"].get("deleted", 0) == 0
        live.stop()


# The file system.


@needs_root
@pytest.mark.parametrize("clock", ["+0", "+3600"], ids=["same clock", "the clock of the disk is behind"])
def test_times_of_whole_seconds_hide_no_edit(tmp_path: Path, live: LiveDaemon, clock: str) -> None:
    if clock != "+0":
        if FAKETIME is None:
            pytest.skip("libfaketime is not installed here")
        live.environ = {**FAKED_WALL_CLOCK, "FAKETIME": clock}
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    run("mkfs.ext4", "-q", "-I", "128", image)
    live.root = tmp_path / "disk"
    live.root.mkdir()
    with mounted(live.root, "mount", "-o", "loop", image):
        page = live.root / "a.md"
        page.write_text("# 0000\n")
        assert page.stat().st_mtime_ns % 1_000_000_000 == 0
        live.start()
        for nth in range(1, 100):
            page.write_text(f"# {nth:04}\n")  # the same size, in the same second as the look before
            answer = ask(live.state()["control"])
            assert answer is not None
            assert (answer["fresh"], answer["guarantee"]) == (True, "scan")
            live.wait_equal(0)
        live.stop()


@pytest.mark.skipif(shutil.which("bindfs") is None, reason="bindfs is not installed here")
@pytest.mark.skipif(not os.access("/dev/fuse", os.W_OK), reason="FUSE is not to be used here")
def test_a_file_system_without_events_is_scanned_and_says_so(tmp_path: Path, live: LiveDaemon) -> None:
    backing = live.root.rename(tmp_path / "backing")
    live.root.mkdir()
    with mounted(live.root, "bindfs", backing):
        live.start()
        in_mode(live, "scanning")
        state = live.state()
        assert "reports no changes" in state["reason"]
        assert state["counters"]["watch_failed_no_events"] >= 1
        (backing / "d1" / "by-another-machine.md").write_text("# of which no event tells\n")
        (backing / "d1" / "1.md").unlink()
        live.wait_equal(EQUAL_S)
        (live.root / "d1" / "through-the-mount.md").write_text("# here\n")
        live.wait_equal(EQUAL_S)
        live.stop()


@pytest.mark.skipif(shutil.which("bindfs") is None, reason="bindfs is not installed here")
@pytest.mark.skipif(not os.access("/dev/fuse", os.W_OK), reason="FUSE is not to be used here")
def test_a_file_system_without_events_that_is_mounted_later_below_the_root_is_noticed(
    tmp_path: Path, live: LiveDaemon
) -> None:
    backing = tmp_path / "backing"
    fill(backing, "Backing")
    live.start()
    in_mode(live, "watching")
    (live.root / "far").mkdir()
    with mounted(live.root / "far", "bindfs", backing):
        live.wait_equal(EQUAL_S)
        (backing / "d1" / "by-another-machine.md").write_text("# of which no event tells\n")
        live.wait_equal(EQUAL_S)
        in_mode(live, "scanning")
        assert "reports no changes" in live.state()["reason"]
        live.stop()


@needs_root
def test_an_edit_through_another_mount_of_the_same_folder_is_found(tmp_path: Path, live: LiveDaemon) -> None:
    alias = tmp_path / "alias"
    alias.mkdir()
    live.start()
    in_mode(live, "watching")
    with mounted(alias, "mount", "--bind", live.root):
        (alias / "d1" / "through-the-alias.md").write_text("# alias\n")
        live.wait_equal(EQUAL_S)
    live.stop()
