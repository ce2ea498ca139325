"""A daemon that is held up: by a disk that does not answer, a clock that jumps, a queue nobody empties.

The service manager must learn of a standstill, and what happened meanwhile must be found.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.crash.process import FAKED_WALL_CLOCK, FAKETIME, SCANS_OFTEN, LiveDaemon, wait_until
from tests.crash.storm import USUAL_QUEUE

pytestmark = pytest.mark.slow

EQUAL_S: Final = 30.0
WATCHDOG_S: Final = 2.0


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over a few pages, started by the test."""
    root = tmp_path / "wiki"
    root.mkdir()
    for nth in range(5):
        (root / f"{nth}.md").write_text(f"# {nth}\n")
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db", environ=SCANS_OFTEN)
    yield daemon
    if daemon.process is not None:
        daemon.stop(signal.SIGKILL)


@contextmanager
def held(pid: int) -> Iterator[None]:
    """A process that does nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def watching(live: LiveDaemon) -> None:
    """Until the watcher is open and the scan that follows is done: what it finds was not missed."""
    wait_until(lambda: live.state()["counters"].get("scans_watch"), EQUAL_S, "watching")


def test_an_edit_is_not_lost_among_the_events_of_files_that_are_only_read(live: LiveDaemon) -> None:
    live.start()
    watching(live)
    pages = sorted(live.root.glob("*.md"))
    with held(live.pid):
        for nth in range(2 * USUAL_QUEUE):
            pages[nth % 5].read_bytes()
        (live.root / "lost.md").write_text("# after the queue was full\n")
        pages[0].write_text("# edited after the queue was full\n")
    live.wait_equal(EQUAL_S)
    wait_until(lambda: live.state()["counters"].get("missed_by_events"), EQUAL_S, "it is counted")
    wait_until(lambda: "max_queued_events" in (live.state()["remedy"] or ""), EQUAL_S, "the remedy")
    live.stop()


@pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed here")
@pytest.mark.parametrize("jump", ["+3600", "-3600"])
def test_a_wall_clock_that_jumps_is_followed_by_a_scan(tmp_path: Path, live: LiveDaemon, jump: str) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0")
    live.environ = {
        **FAKED_WALL_CLOCK,
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
    }
    live.start()
    watching(live)
    with held(live.pid):  # as a machine that sleeps: the watcher's queue is not what saves it
        clock.write_text(jump)
    wait_until(lambda: live.state()["counters"].get("gaps"), EQUAL_S, "the gap")
    wait_until(lambda: live.state()["counters"].get("scans_gap"), EQUAL_S, "its scan")
    (live.root / "0.md").write_text("# edited after the jump\n")
    live.wait_equal(EQUAL_S)
    live.verify()
    live.stop()


@pytest.mark.skipif(shutil.which("bindfs") is None, reason="bindfs is not installed here")
@pytest.mark.skipif(not os.access("/dev/fuse", os.W_OK), reason="FUSE is not to be used here")
def test_the_watchdog_is_not_fed_while_a_disk_does_not_answer(tmp_path: Path, live: LiveDaemon) -> None:
    backing = live.root.rename(tmp_path / "backing")
    live.root.mkdir()
    disk = subprocess.Popen(["bindfs", "-f", str(backing), str(live.root)])
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(WATCHDOG_S)
        wait_until((live.root / "0.md").exists, EQUAL_S, "the mount")
        live.environ = {
            "NOTIFY_SOCKET": str(tmp_path / "notify"),
            "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6)),
        }
        live.start()
        assert is_fed(manager), "a healthy daemon feeds it"
        with held(disk.pid):
            wait_until(lambda: not is_fed(manager), EQUAL_S, "silence")
        wait_until(lambda: is_fed(manager), EQUAL_S, "it goes on")
        live.wait_equal(EQUAL_S)
        live.stop(signal.SIGKILL)
    finally:
        disk.terminate()
        disk.wait()
        manager.close()


def is_fed(manager: socket.socket) -> bool:
    """Whether the watchdog is fed within its period."""
    until = time.monotonic() + WATCHDOG_S
    while time.monotonic() < until:
        try:
            if b"WATCHDOG=1" in manager.recv(4096):
                return True
        except TimeoutError:
            return False
    return False


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process are set on Linux")
@pytest.mark.parametrize("descriptors", [12, 13, 14, 15])
def test_too_few_descriptors_are_named_and_waited_out(live: LiveDaemon, descriptors: int) -> None:
    live.prefix = ("sh", "-c", f'ulimit -S -n {descriptors}; exec "$@"', "sh")
    live.start(wait=False)

    # Only the log is certain: with not one descriptor to spare, the status cannot be written either.
    wait_until(lambda: "open files" in live.log.read_text(), EQUAL_S, "the reason")
    resource.prlimit(live.pid, resource.RLIMIT_NOFILE, (256, 256))
    (live.root / "later.md").write_text("# later\n")
    live.wait_equal(EQUAL_S)
    wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
    counters = live.state()["counters"]
    assert counters.get("failures", 0) + counters.get("watch_failed_instance_limit", 0) > 0
    live.stop()
