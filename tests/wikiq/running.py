"""Runs the command as people and programs do: a process of its own, with a known environment."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.terminal import read_all
from tests.wikiq.sample_index import SampleIndex

WATCHING = {"format": 1, "pid": 1, "mode": "watching", "reason": None, "remedy": None, "pending": 0}


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left: its exit status and all it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Variables of a user whose home is `folder`, and no others but what Python needs to start."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    home = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    return kept | home | {"LANG": "C.UTF-8", "TZ": "UTC"} | more


def command(*arguments: str) -> list[str]:
    """The words that start `wikiq` with this interpreter."""
    return [sys.executable, "-m", "wikiq.main", *arguments]


def run_wikiq(*arguments: str, index: SampleIndex, cwd: Path | None = None, **more: str) -> Done:
    """Run a command with its output piped."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd or index.root,
        env=environment(index.root.parent, **more),
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode())


def run_on_screen(*arguments: str, index: SampleIndex, **more: str) -> tuple[int, bytes]:
    """Run a command on a terminal; gives the exit status and every byte that reached it."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            command(*arguments),
            cwd=index.root,
            env=environment(index.root.parent, **({"TERM": "xterm-256color", "PAGER": "cat"} | more)),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = read_all(ours)
        return process.wait(timeout=60), shown
    finally:
        os.close(ours)


@contextmanager
def running_daemon(index: SampleIndex, state: Mapping[str, object] = WATCHING) -> Iterator[None]:
    """Hold the writer's lock and leave a state that names the index, as a running daemon does."""
    facts = index.db.stat()
    told = {"index": [facts.st_dev, facts.st_ino]} | dict(state)
    (index.db.parent / "state.json").write_text(json.dumps(told), "utf-8")
    with (index.db.parent / "index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
