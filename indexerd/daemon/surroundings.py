"""What a daemon has around it: its own files, its clocks, and who it speaks to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from indexerd.service import ServiceManager
from indexerd.state import StateFile
from indexerd.watch import Notifier


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the daemon's own files are, and who it speaks to. `control`: the socket, None without one."""

    state: StateFile
    control: str | None
    cookies: str
    service: ServiceManager
    open_notifier: Callable[[list[str]], Notifier]
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


def folder_within(root: str, folder: str) -> str | None:
    """The folder as a path from the root, None when it lies elsewhere."""
    path = os.path.relpath(os.path.realpath(folder), os.path.realpath(root))
    return None if path == ".." or path.startswith("../") else path
