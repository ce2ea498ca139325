"""state.json: what the daemon says of itself beside the index, since an idle daemon commits nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Final

STATE_FORMAT: Final = 1


class Mode(StrEnum):
    """What the daemon does about changes now."""

    BUILDING = "building"
    WATCHING = "watching"
    SCANNING = "scanning"
    ROOT_UNAVAILABLE = "root_unavailable"


@dataclass(frozen=True, slots=True)
class LastScan:
    """The last full look at the tree. Times are ISO 8601 UTC; the counts are pages."""

    started_at: str
    finished_at: str
    reason: str
    pages_seen: int
    pages_changed: int
    missed_by_events: int


@dataclass(frozen=True, slots=True)
class LiveState:
    """All but the time of writing. `reason` and `remedy` say why `mode` is not `watching`.

    `pending`: paths and folders that changed and are not in the index yet. `open`: what keeps the
    index from being equal to the tree, for people. `problems`: diagnostics. `control`: the socket.
    `index`: device and inode of the file that is written; a copy of it has all else in common with it.
    """

    mode: Mode = Mode.BUILDING
    reason: str | None = None
    remedy: str | None = None
    pending: int = 0
    open: tuple[str, ...] = ()
    last_scan: LastScan | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    problems: int = 0
    control: str | None = None
    index: tuple[int, int] | None = None


def render_state(state: LiveState, *, pid: int, updated_at: str) -> str:
    """The file's text: one JSON object."""
    return json.dumps({"format": STATE_FORMAT, "pid": pid, **asdict(state), "updated_at": updated_at}) + "\n"
