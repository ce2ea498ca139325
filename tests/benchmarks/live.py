"""The measures of a running daemon: how soon a saved page can be found, and what it takes when idle.

The daemon runs as a process of its own over a copy of the wiki, and is stopped when the measure ends.
"""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from indexerd.contract.places import STATE_NAME
from tests.benchmarks.baselines import inotify_delays
from tests.benchmarks.corpus import find_pages
from tests.benchmarks.ratio import CannotMeasureError, Ratio, percentiles
from tests.benchmarks.setting import Setting

START_S: Final = 300.0  # a first build of 100,000 pages
FOUND_S: Final = 30.0  # a save that takes longer has been lost, and a scan brings it
POLL_S: Final = 0.001  # a hundredth of the goal
SAVES: Final = 10  # a round
LIBRARIES: Final = "anyio, apsw, click, markdown_it, sqlite3, structlog, watchfiles, yaml"


def wait_for(condition: Callable[[], bool], limit_s: float, what: str) -> float:
    """Seconds until `condition` holds, looked at every millisecond."""
    started = time.perf_counter()
    while not condition():
        if time.perf_counter() - started > limit_s:
            raise RuntimeError(f"{what}: not within {limit_s} s")
        time.sleep(POLL_S)
    return time.perf_counter() - started


def resident_bytes(pid: int | str) -> int:
    """Resident memory of a process, from /proc."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise CannotMeasureError(f"/proc/{pid}/status has no VmRSS")


def _is_ready(daemon: subprocess.Popen[bytes], state: Path) -> bool:
    """Whether this daemon, not one before it, has written that it follows the tree."""
    if daemon.poll() is not None:
        raise RuntimeError(f"{daemon.args!r}: exit {daemon.returncode}")
    told = json.loads(state.read_text("utf-8")) if state.exists() else {}
    return told.get("pid") == daemon.pid and told["mode"] in {"watching", "scanning"}


@contextmanager
def running_daemon(root: Path, db: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon over `root` that has finished its first scan."""
    words = [str(Path(sys.executable).with_name("indexerd")), "run", str(root), "--db", str(db)]
    daemon = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        wait_for(partial(_is_ready, daemon, db.with_name(STATE_NAME)), START_S, "start")
        yield daemon
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()


def copied(setting: Setting, name: str) -> tuple[Path, Path]:
    folder = setting.work / name
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(setting.root, folder / "wiki", symlinks=True)
    return folder / "wiki", folder / "index" / "index.db"


def _is_found(index: sqlite3.Connection, word: str) -> bool:
    found = index.execute("SELECT rowid FROM sections_fts WHERE sections_fts MATCH ?", (word,)).fetchone()
    return found is not None


def save_to_searchable(setting: Setting) -> Ratio:
    """A page is saved; until its new word is found, against the time inotify takes to report a save."""
    if sys.platform != "linux":
        raise CannotMeasureError("inotify is Linux's")
    root, db = copied(setting, "saved")
    delays: list[float] = []
    with running_daemon(root, db), closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as index:
        pages = cycle(list(find_pages(root))[: SAVES * setting.rounds])
        for number, path in enumerate(islice(pages, SAVES * setting.rounds)):
            word = f"saved{number}word"
            path.write_text(f"{path.read_text('utf-8', errors='replace')}\n{word}\n", "utf-8")
            delays.append(wait_for(partial(_is_found, index, word), FOUND_S, word))
    samples = tuple(delays)
    remark = percentiles(samples, (0.5, 0.95, 1.0))
    plain = tuple(inotify_delays(setting.work, len(samples)))
    return Ratio("save to searchable / inotify", setting.corpus, "s", samples, plain, remark=remark)


def bare_bytes() -> float:
    """Resident memory of a Python that has imported the daemon's libraries."""
    if not Path("/proc/self/status").exists():
        raise CannotMeasureError("/proc is Linux's")
    script = f"import {LIBRARIES}; from tests.benchmarks.live import resident_bytes as r; print(r('self'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout)


def idle_memory(setting: Setting) -> Iterator[Ratio]:
    """Resident memory of the idle daemon after a first build and a restart, against its imports alone."""
    bare = (bare_bytes(),)
    root, db = copied(setting, "idle")
    with running_daemon(root, db) as first:
        built = resident_bytes(first.pid)
    with running_daemon(root, db) as daemon:
        idle = resident_bytes(daemon.pid)
    yield Ratio("memory after a first build / imports", setting.corpus, "B", (float(built),), bare, 1.8)
    yield Ratio("memory after a restart / imports", setting.corpus, "B", (float(idle),), bare, 1.5)
