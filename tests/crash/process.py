"""A daemon as a process of its own, stopped and killed at will, and what its index must be equal to.

Looks at the tree with `os.walk` and sha256, at the index with the standard library's sqlite3: by
none of the daemon's own means.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

START_S: Final = 120.0  # a first build of a real wiki on a busy machine
STOP_S: Final = 30.0
OPEN_PATIENCE_S: Final = 2.0  # what readers wait while a daemon opens or closes the index
POLL_S: Final = 0.02
FAKETIME: Final = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
# Of a daemon whose wall clock is another one than that of its disks.
FAKED_WALL_CLOCK: Final = {
    "LD_PRELOAD": str(FAKETIME),
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    "NO_FAKE_STAT": "1",
}
SCANS_OFTEN: Final = {"INDEXERD_SCAN_INTERVAL": "0.5"}  # for who waits for a periodic scan

Hashes = dict[str, str]


class UnequalError(AssertionError):
    """The index is not what the tree says, and does not become it."""


def hash_tree(root: Path) -> Hashes:
    """Path and sha256 of every page: regular files called *.md that are not hidden, nor below what is."""
    found = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        for name in files:
            path = Path(folder) / name
            is_text = not any("\ud800" <= char <= "\udfff" for char in str(path))  # else no page
            if name.lower().endswith((".md", ".markdown")) and not name.startswith(".") and is_text:
                try:
                    if not path.is_symlink() and path.is_file():
                        with path.open("rb") as file:  # in pieces: a test may have left 10 GB
                            found[path.relative_to(root).as_posix()] = hashlib.file_digest(
                                file, "sha256"
                            ).hexdigest()
                except FileNotFoundError:
                    continue
    return found


def hash_index(db: Path) -> Hashes:
    """Path and content hash of every page in the index."""
    with closing(open_index(db)) as connection:
        return dict(connection.execute("SELECT path, content_hash FROM v1_pages"))


def open_index(db: Path) -> sqlite3.Connection:
    """A read-only connection; what cannot be opened at this instant is tried for two seconds."""
    give_up_at = time.monotonic() + OPEN_PATIENCE_S
    while True:
        try:
            connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
            connection.execute("SELECT count(*) FROM sqlite_schema")
            return connection
        except sqlite3.OperationalError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(POLL_S)


def wait_until(condition: Callable[[], object], limit_s: float, what: str) -> float:
    """Seconds until `condition` holds."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > limit_s:
            raise UnequalError(f"{what}: not within {limit_s} s")
        time.sleep(POLL_S)
    return time.monotonic() - began


def unmount(folder: Path) -> None:
    """Unmounts what is at `folder` as soon as no scan has it open."""
    command = ["umount", str(folder)]
    wait_until(
        lambda: subprocess.run(command, check=False, capture_output=True).returncode == 0, STOP_S, "umount"
    )


def describe_difference(tree: Hashes, index: Hashes) -> str:
    """A few of the paths that differ, for people."""
    missing, extra = sorted(tree.keys() - index.keys()), sorted(index.keys() - tree.keys())
    other = sorted(path for path in tree.keys() & index.keys() if tree[path] != index[path])
    parts = {"missing": missing, "too many": extra, "other text": other}
    return "; ".join(f"{len(paths)} {name}: {paths[:3]}" for name, paths in parts.items() if paths)


@dataclass(slots=True)
class LiveDaemon:
    """`indexerd run` over `root`, with its index at `db`."""

    root: Path
    db: Path
    words: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    _began: float = 0.0

    @property
    def log(self) -> Path:
        """What it says on stderr, of all its starts."""
        return self.root.with_name("daemon.log")

    def start(self, *, wait: bool = True) -> None:
        """Starts it; with `wait`, until its first look at the tree is done."""
        self.db.parent.mkdir(parents=True, exist_ok=True)
        command = [*self.prefix, str(Path(sys.executable).with_name("indexerd")), "run", str(self.root)]
        self._began = time.time()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--db", str(self.db), *self.words],
                stderr=log,
                env={**os.environ, "XDG_RUNTIME_DIR": str(self.db.parent), **self.environ},
            )
        if wait:
            wait_until(self.is_ready, START_S, "start")

    def stop(self, number: int = signal.SIGTERM) -> float:
        """Ends it with this signal; seconds until it was gone."""
        process, self.process = self._running(), None
        began = time.monotonic()
        process.send_signal(number)
        process.wait(STOP_S)
        if number == signal.SIGTERM and process.returncode != 0:
            raise UnequalError(f"exit {process.returncode} after SIGTERM; see {self.log}")
        return time.monotonic() - began

    @property
    def pid(self) -> int:
        """Its process."""
        return self._running().pid

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU that its process has used, without those of its workers (proc(5))."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_ready(self) -> bool:
        """Whether its first look at the tree is done."""
        return self._has_scanned(self._began)

    def state(self) -> dict[str, Any]:
        """The live state it wrote last."""
        loaded: dict[str, Any] = json.loads(self.db.with_name("state.json").read_text())
        return loaded

    def wait_equal(self, limit_s: float, expected: Hashes | None = None) -> float:
        """Seconds until the index holds exactly the pages of the tree. Raises UnequalError.

        `expected`: what is known to be in the tree; without it, the tree is read, which takes time too.
        """
        tree: Hashes = expected or {}
        index: Hashes = {}

        def is_equal() -> bool:
            nonlocal tree, index
            if self.process is not None and self.process.poll() is not None:
                raise UnequalError(f"the daemon ended: exit {self.process.returncode}; see {self.log}")
            index = hash_index(self.db)
            tree = tree or hash_tree(self.root)
            return tree == index

        try:
            return wait_until(is_equal, limit_s, "equal")
        except UnequalError as error:
            raise UnequalError(f"{error}: {describe_difference(tree, index)}") from None

    def verify(self) -> None:
        """`indexerd verify`: raises UnequalError with what it prints."""
        words = [str(Path(sys.executable).with_name("indexerd")), "verify", str(self.root)]
        done = subprocess.run(
            [*words, "--db", str(self.db), *self.words], capture_output=True, text=True, check=False
        )
        if done.returncode or done.stdout:
            raise UnequalError(f"verify: exit {done.returncode}: {(done.stdout + done.stderr)[:2000]}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            raise RuntimeError("the daemon does not run")
        return self.process

    def _has_scanned(self, since: float) -> bool:
        process = self._running()
        if process.poll() is not None:
            raise UnequalError(f"the daemon ended: exit {process.returncode}; see {self.log}")
        path = self.db.with_name("state.json")
        if not path.exists() or path.stat().st_mtime < since - 1:
            return False
        try:
            state = self.state()
        except ValueError:
            return False
        return state["pid"] == self.pid and state["last_scan"] is not None
