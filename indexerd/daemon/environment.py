"""What a daemon has around it: its own files, its clocks, and who it speaks to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from indexerd.contract.places import LOCK_NAME
from indexerd.service.notify import ServiceManager
from indexerd.service.status_file import StateFile
from indexerd.tree.watcher import Notifier


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the daemon's own files are, and who it speaks to. `control`: the socket, None without one."""

    state: StateFile
    control: str | None
    service: ServiceManager
    open_notifier: Callable[[list[str]], Notifier]
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


def own_paths(root: str, index: str, around: Surroundings) -> tuple[str, ...]:
    """The daemon's own files and folders that lie in the wiki, as paths from the root."""
    lock = os.path.join(os.path.dirname(index), LOCK_NAME)
    files = [index, *(f"{index}-{part}" for part in ("wal", "shm", "journal")), lock, *around.state.paths]
    files += [] if around.control is None else [around.control]
    real_root = os.path.realpath(root)
    paths = [os.path.relpath(os.path.realpath(file), real_root) for file in files]
    return tuple(path for path in paths if not path.startswith("../"))
