"""The daemon as a process among real limits, mounts, permissions and lost events."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.crash.barrier import ask
from tests.crash.process import SCANS_OFTEN, LiveDaemon, hash_index, unmount, wait_until
from tests.crash.storm import USUAL_QUEUE

EQUAL_S: Final = 30.0
FOLDERS: Final = 30

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this to a process")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over some folders with a page each, started by the test."""
    root = tmp_path / "wiki"
    for nth in range(FOLDERS):
        (root / f"d{nth}").mkdir(parents=True)
        (root / f"d{nth}" / "a.md").write_text(f"# A {nth}")
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db", environ=SCANS_OFTEN)
    yield daemon
    if daemon.process is not None:
        daemon.stop(signal.SIGKILL)


def limited(**limits: int) -> tuple[str, ...]:
    """A user namespace of its own, whose inotify limits concern nobody else."""
    words = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    probe = subprocess.run([*words, "test -w /proc/sys/user/max_inotify_watches"], check=False)
    if probe.returncode:
        pytest.skip("a user namespace with limits of its own cannot be made here")
    settings = "; ".join(f"echo {limit} > /proc/sys/user/{name}" for name, limit in limits.items())
    return (*words, f'{settings}; exec "$@"', "sh")


@pytest.mark.parametrize(
    "limits, kind, remedy",
    [
        ({"max_inotify_watches": 5}, "watch_limit", "fs.inotify.max_user_watches"),
        ({"max_inotify_instances": 0}, "instance_limit", "fs.inotify.max_user_instances"),
    ],
)
def test_a_limit_of_the_kernel_leaves_a_daemon_that_scans_and_says_which_to_raise(
    live: LiveDaemon, limits: dict[str, int], kind: str, remedy: str
) -> None:
    live.prefix = limited(**limits)
    live.start()
    wait_until(lambda: remedy in (live.state()["remedy"] or ""), EQUAL_S, remedy)
    assert live.state()["mode"] == "scanning"
    assert live.state()["counters"][f"watch_failed_{kind}"] >= 1
    (live.root / "d1" / "b.md").write_text("# found by a scan")
    live.wait_equal(EQUAL_S)
    live.stop()


def test_a_limit_reached_at_run_time_is_noticed_and_named(live: LiveDaemon) -> None:
    live.prefix = limited(max_inotify_watches=FOLDERS + 5)
    live.start()
    wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
    for nth in range(10):
        (live.root / f"new{nth}").mkdir()
    wait_until(lambda: live.state()["counters"].get("events", 0) >= 10, EQUAL_S, "reported")
    scans = live.state()["counters"].get("scans_periodic", 0)  # the next but one has no report to wait for
    wait_until(lambda: live.state()["counters"].get("scans_periodic", 0) > scans + 1, EQUAL_S, "scanned")
    (live.root / "new9" / "late.md").write_text("# in a folder without a watch")
    live.wait_equal(EQUAL_S)
    wait_until(lambda: live.state()["mode"] == "scanning", EQUAL_S, "scanning")
    assert "max_user_watches" in live.state()["remedy"]
    live.stop()


@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed here")
def test_what_may_not_be_read_keeps_its_rows_and_the_rest_goes_on(live: LiveDaemon) -> None:
    live.prefix = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    live.start()
    closed, page = live.root / "d1", live.root / "d2" / "a.md"
    closed.chmod(0)
    page.write_text("# written, then closed")
    page.chmod(0)
    try:
        (live.root / "d3" / "b.md").write_text("# beside them")
        wait_until(lambda: "d3/b.md" in hash_index(live.db), EQUAL_S, "the page beside them")
        live.stop()
        live.start()
        (live.root / "d3" / "c.md").write_text("# after a restart")
        wait_until(lambda: "d3/c.md" in hash_index(live.db), EQUAL_S, "the page after a restart")
        assert {"d1/a.md", "d2/a.md"} <= hash_index(live.db).keys()
        with closing(sqlite3.connect(f"file:{live.db}?mode=ro", uri=True)) as index:
            kinds = dict(index.execute("SELECT path, kind FROM v1_diagnostics"))
        assert kinds["d1"] == kinds["d2/a.md"] == "unreadable"
    finally:
        closed.chmod(0o755)
        page.chmod(0o644)
    live.wait_equal(EQUAL_S)
    live.stop()


@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed here")
def test_a_page_that_settles_in_a_folder_that_is_closed_keeps_nobody_waiting(live: LiveDaemon) -> None:
    live.prefix = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    live.start()
    page = live.root / "d1" / "a.md"
    page.write_text("")
    page.parent.chmod(0)
    try:
        wait_until(lambda: (ask(live.state()["control"]) or {}).get("fresh"), EQUAL_S, "fresh")
        assert "d1/a.md" in hash_index(live.db)
    finally:
        page.parent.chmod(0o755)
    live.wait_equal(EQUAL_S)
    live.stop()


def test_an_overflow_of_the_queue_is_repaired_by_a_scan(live: LiveDaemon) -> None:
    """Nothing tells of an overflow: no event, no error."""
    live.start()
    wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
    assert live.process is not None
    os.kill(live.process.pid, signal.SIGSTOP)
    try:
        passing = live.root / "d0" / "passing.txt"
        for _ in range(USUAL_QUEUE):  # two events or more each; ext4 flushes files that are overwritten
            passing.touch()
            passing.unlink()
        (live.root / "d29" / "lost.md").write_text("# nobody was told of this page")
    finally:
        os.kill(live.process.pid, signal.SIGCONT)
    live.wait_equal(EQUAL_S)
    live.stop()


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A file system of its own at `folder`."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "none", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


@needs_root
def test_a_disk_that_is_unmounted_loses_no_page_and_is_followed_again(
    tmp_path: Path, live: LiveDaemon
) -> None:
    live.root = tmp_path / "disk"
    live.root.mkdir()
    disk = tmp_path / "real"
    disk.mkdir()
    for nth in range(30):
        (disk / f"{nth}.md").write_text(f"# {nth}")

    def bind() -> None:
        subprocess.run(["mount", "--bind", str(disk), str(live.root)], check=True)

    with mounted(live.root):
        pass  # skips where nothing can be mounted
    bind()
    try:
        live.start()
        wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
        before = hash_index(live.db)
        unmount(live.root)
        wait_until(lambda: live.state()["mode"] == "root_unavailable", EQUAL_S, "unavailable")
        assert "mounted?" in live.state()["reason"]
        assert hash_index(live.db) == before
    finally:
        bind()
    try:
        wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching again")
        (live.root / "new.md").write_text("# new")
        live.wait_equal(EQUAL_S)
        assert live.state()["counters"].get("deleted", 0) == 0
        live.stop()
    finally:
        subprocess.run(["umount", "--lazy", str(live.root)], check=False)


@needs_root
def test_a_disk_mounted_over_a_folder_is_noticed(live: LiveDaemon) -> None:
    live.start()
    wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
    with mounted(live.root / "d7"):
        (live.root / "d7" / "on-the-disk.md").write_text("# of which nothing is reported")
        live.wait_equal(EQUAL_S)
    live.wait_equal(EQUAL_S)
    live.stop()
