"""How far an index may be behind its tree: the writer's lock, the daemon's state, the last commit.

What the daemon says of itself lies beside the index as `state.json`, since an idle daemon commits
nothing. That file is a hint: missing or unreadable, it only makes the answer more careful.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

from indexerd.contract import STATE_NAME
from wikiq.database import writer_is_running
from wikiq.disk import read_regular
from wikiq.results import Freshness, ScanRow
from wikiq.sql import SELECT_LAST_SCAN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wikiq.database import Database, Snapshot

RUNNING, STOPPED = "running", "stopped"  # the daemon
BUILDING, ROOT_UNAVAILABLE = "building", "root_unavailable"  # modes
WRITES_ANOTHER = "the daemon in its folder writes another index"
LARGEST_STATE = 1024 * 1024  # bytes of state.json; the daemon writes under 10 KiB


def read_freshness(database: Database, snapshot: Snapshot, now: datetime) -> Freshness:
    """Tell how old the answer of `snapshot` is at `now` (UTC), and why it may be stale."""
    running = writer_is_running(database.folder) is True
    state = read_state(database.folder)
    # One lock and one state serve all files of the folder, so a copy of the index has them too. After a
    # barrier the state may still name the file before.
    written = state.get("index")
    is_written = database.made_fresh or (database.identity is not None and written == [*database.identity])
    is_another = running and written is not None and not is_written
    if not is_written:
        state = {}
    running = running and not is_another
    # A writer without a state is `indexerd build`.
    mode = (_text(state.get("mode")) or BUILDING) if running else STOPPED
    # The state is written at most once a second: just after a barrier it still counts what that
    # brought in, and what came later was not asked for.
    pending = 0 if database.made_fresh else _whole(state.get("pending"))
    last_scan = _later(_scan_row(state.get("last_scan")), _indexed_scan(snapshot))
    times = (snapshot.meta.get("committed_at"), last_scan.finished_at if last_scan else None)
    ages = [age for age in (_age_s(text, now) for text in times) if age is not None]
    root_is_gone = mode == ROOT_UNAVAILABLE or is_gone(snapshot.root)
    reason = _text(state.get("reason")) if running else WRITES_ANOTHER if is_another else None
    return Freshness(
        age_s=min(ages, default=None),
        stale=not (running and is_written) or pending > 0 or root_is_gone,
        daemon=RUNNING if running else STOPPED,
        mode=ROOT_UNAVAILABLE if root_is_gone else mode,
        reason=reason or (f"{snapshot.root} is not there" if root_is_gone else None),
        remedy=_text(state.get("remedy")) if running else None,
        pending=pending,
        last_scan=last_scan,
        counters=_counters(state.get("counters")),
    )


def staleness(freshness: Freshness, root: str) -> str | None:
    """Say in one line why an answer may be behind the tree at `root`, None when it is not."""
    if freshness.mode == ROOT_UNAVAILABLE:
        return f"{freshness.reason or root}; this is what was last indexed"
    if freshness.pending:
        return f"{freshness.pending} changes are not indexed yet"
    if not freshness.stale:
        return None
    problem = freshness.reason or "the daemon is not running"
    if freshness.daemon == RUNNING:
        problem = "a build is at work"
    since = "the tree has not been looked at" if freshness.age_s is None else _ago(freshness.age_s)
    return f"{problem}; {since}"


def is_gone(path: str) -> bool:
    """Tell whether nothing is at `path`; what may not be looked at is not gone."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def read_state(folder: str) -> Mapping[str, Any]:
    """Give what the daemon last wrote of itself; nothing where there is nothing to be read."""
    try:
        state = json.loads(read_regular(os.path.join(folder, STATE_NAME), LARGEST_STATE))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _indexed_scan(snapshot: Snapshot) -> ScanRow | None:
    row = snapshot.row(SELECT_LAST_SCAN)
    return ScanRow(**dict(zip(ScanRow.fields, row, strict=True))) if row else None


def _scan_row(told: object) -> ScanRow | None:
    if not isinstance(told, dict) or not _text(told.get("finished_at")):
        return None
    return ScanRow(
        started_at=str(told.get("started_at", "")),
        finished_at=str(told["finished_at"]),
        reason=str(told.get("reason", "")),
        pages_seen=_whole(told.get("pages_seen")),
        pages_changed=_whole(told.get("pages_changed")),
        missed_by_events=_whole(told.get("missed_by_events")),
    )


def _ago(seconds: float) -> str:
    return f"the tree was last looked at {render_age(seconds)} ago"


def _later(one: ScanRow | None, other: ScanRow | None) -> ScanRow | None:
    if one is None or other is None:
        return one or other
    return one if one.finished_at >= other.finished_at else other


def render_age(seconds: float) -> str:
    """Say an age in its largest unit."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _age_s(text: object, now: datetime) -> float | None:
    try:
        then = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return round(max(0.0, (now - then).total_seconds()), 3)


def _counters(told: object) -> dict[str, int]:
    return {str(name): _whole(count) for name, count in told.items()} if isinstance(told, dict) else {}


def _whole(told: object) -> int:
    return told if isinstance(told, int) and told >= 0 else 0


def _text(told: object) -> str | None:
    return told if isinstance(told, str) and told else None
