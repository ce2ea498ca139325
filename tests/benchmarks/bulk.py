"""The measures of a daemon whose tree changes as a whole: CPU until the index is equal, against a build.

The wiki that is followed is small, what comes is the corpus. CPU is that of the daemon and its workers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from tests.benchmarks.live import bare_bytes, copied, resident_bytes
from tests.benchmarks.ratio import CannotMeasureError, Ratio, Timing, clocked
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import CORES, update
from tests.crash.bulk import _IDENTITY
from tests.crash.process import LiveDaemon, hash_tree, wait_until

EQUAL_S: Final = 900.0
WATCHING_S: Final = 60.0
IDLE_S: Final = 30.0
QUIET_S: Final = 10.0  # after a change, until the scans that confirm it are over
IDLE_SHARE: Final = 0.001
TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    """Seconds of CPU of a process, its children that have ended and those that run (proc(5))."""
    total = 0.0
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total = sum(map(int, fields[11:15])) / TICKS
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                total += cpu_of(int(child))
    return total


@contextmanager
def following(folder: Path) -> Iterator[LiveDaemon]:
    """A daemon over a wiki of one page."""
    if not Path("/proc/self/stat").exists():
        raise CannotMeasureError("/proc is Linux's")
    if folder.exists():
        shutil.rmtree(folder)
    (folder / "wiki").mkdir(parents=True)
    (folder / "wiki" / "first.md").write_text("# First\n")
    daemon = LiveDaemon(folder / "wiki", folder / "state" / "index.db")
    daemon.start()
    try:
        wait_until(lambda: daemon.state()["mode"] == "watching", WATCHING_S, "watching")
        yield daemon
    finally:
        daemon.stop()


def _taken_in(daemon: LiveDaemon, change: Callable[[], object]) -> Timing:
    """What it takes from the end of a change until the index is equal, and the scans that confirm it."""
    before = cpu_of(daemon.pid)
    change()
    began = time.monotonic()
    daemon.wait_equal(EQUAL_S, hash_tree(daemon.root))
    took = time.monotonic() - began
    time.sleep(QUIET_S)
    return Timing(took, cpu_of(daemon.pid) - before)


def bulk_changes(setting: Setting) -> Iterator[Ratio]:
    """A copy, an archive, a checkout and a renamed folder, each against a build of the same pages."""
    build = clocked(partial(update, setting.root, setting.fresh_db(), CORES))

    def compared(name: str, took: Timing, goal: float) -> Ratio:
        return Ratio.by_cpu(
            f"{name} / build", setting.corpus, ((took,), (build,)), goal, f"{took.wall:.1f} s"
        )

    with following(setting.work / "bulk") as daemon:
        archive = setting.work / "bulk.tar"
        subprocess.run(["tar", "-C", str(setting.root), "-cf", str(archive), "."], check=True)
        came, went, unpacked = (daemon.root / name for name in ("came", "went", "unpacked"))
        copy = ["cp", "-r", str(setting.root), str(came)]
        yield compared("cp", _taken_in(daemon, partial(subprocess.run, copy, check=True)), 1.1)
        yield compared("mv", _taken_in(daemon, partial(came.rename, went)), 0.15)
        unpacked.mkdir()
        unpack = ["tar", "-C", str(unpacked), "-xf", str(archive)]
        yield compared("tar", _taken_in(daemon, partial(subprocess.run, unpack, check=True)), 1.1)
        _commit_two_versions(daemon, unpacked)
        checkout = ["git", "-C", str(unpacked), "checkout", "-q", "HEAD~1"]
        yield compared("checkout", _taken_in(daemon, partial(subprocess.run, checkout, check=True)), 1.1)


def _commit_two_versions(daemon: LiveDaemon, root: Path) -> None:
    """A repository whose last two commits differ in every page."""
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in range(2):
        if number:
            for path in hash_tree(root):
                with (root / path).open("a") as page:
                    page.write("\nThe later version.\n")
        subprocess.run([*git, "add", "-A"], check=True, capture_output=True)
        subprocess.run([*git, *_IDENTITY, "commit", "-qm", "version"], check=True)
    daemon.wait_equal(EQUAL_S)
    time.sleep(QUIET_S)


def idle_daemon(setting: Setting) -> Iterator[Ratio]:
    """Memory after a bulk change, and CPU time while nothing happens; the goals are shares and ratios."""
    bare = bare_bytes()
    with following(setting.work / "idle-bulk") as daemon:
        shutil.copytree(setting.root, daemon.root / "came", symlinks=True)
        daemon.wait_equal(EQUAL_S)
        time.sleep(QUIET_S)
        held = (float(resident_bytes(daemon.pid)),)
        yield Ratio("memory after a bulk change / imports", setting.corpus, "B", held, (bare,), 1.8)
    root, db = copied(setting, "idle-cpu")
    daemon = LiveDaemon(root, db)
    daemon.start()
    try:
        wait_until(lambda: daemon.state()["mode"] == "watching", WATCHING_S, "watching")
        time.sleep(QUIET_S)
        before, generation = cpu_of(daemon.pid), daemon.state()["counters"].get("commits", 0)
        time.sleep(IDLE_S)
        share = (cpu_of(daemon.pid) - before) / IDLE_S
        commits = daemon.state()["counters"].get("commits", 0) - generation
    finally:
        daemon.stop()
    remark = f"{100 * share:.2f} % of a core over {IDLE_S:.0f} s, {commits} commits"
    yield Ratio("idle CPU / .1 %", setting.corpus, "core", (share,), (IDLE_SHARE,), 1.0, remark=remark)
