"""Which file system a path lies on, where the system tells (proc(5)); what it means is told elsewhere."""

from __future__ import annotations

from typing import Final

from indexerd.core.sync.watch_faults import Fault, find_event_free_mount

MOUNT_TABLE: Final = "/proc/self/mountinfo"


def find_event_free(real_path: str, mount_table: str = MOUNT_TABLE) -> Fault | None:
    """The file system at or below `real_path` that other machines may write; None where none is known."""
    try:
        with open(mount_table, encoding="utf-8", errors="surrogateescape") as table:
            return find_event_free_mount(table.read(), real_path)
    except OSError:
        return None  # not Linux: every local file system reports changes
