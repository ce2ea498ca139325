"""How far an index may be behind its tree: the writer's lock, the daemon's state, the last commit.

What the daemon says of itself lies beside the index as `state.json`, since an idle daemon commits
nothing. That file is a hint: missing or unreadable, it only makes the answer more careful.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from indexerd.contract.file import LONGEST_SCAN_INTERVAL_S
from wikiq.errors import shell_word
from wikiq.index.daemon_state import read_state, writer_is_running
from wikiq.index.sql import SELECT_LAST_SCAN
from wikiq.model.results import Freshness, ScanRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wikiq.index.database import Database, Snapshot

RUNNING, STOPPED = "running", "stopped"  # the daemon
BUILDING, ROOT_UNAVAILABLE = "building", "root_unavailable"  # modes
HANGING = "hanging"  # a mode that no daemon can tell of itself
ROOT_REMEDY = "put the folder back; its index is kept meanwhile"
SCAN_GRACE_S = 60.0  # for a look to be due, to be made and to be told of; of 100,000 pages it takes seconds
WRITES_ANOTHER = "the daemon in its folder writes another index"
SEPARATE = "give each index a folder of its own"


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
    last_scan = _later(_scan_row(state.get("last_scan")), _indexed_scan(snapshot))
    times = (snapshot.meta.get("committed_at"), last_scan.finished_at if last_scan else None)
    ages = [age for age in (_age_s(text, now) for text in times) if age is not None]
    # The state is written at most once a second: just after a barrier it still counts what that
    # brought in, and what came later was not asked for.
    pending = 0 if database.made_fresh or not running else _whole(state.get("pending"))
    silent_s = 0.0 if database.made_fresh or not running else _silent_s(state, now)
    mode, reason, remedy = _told(state, snapshot.root, running=running, silent_s=silent_s)
    if is_another and mode == STOPPED:
        reason, remedy = WRITES_ANOTHER, SEPARATE
    return Freshness(
        age_s=min(ages, default=None),
        stale=not (running and is_written) or pending > 0 or mode in (ROOT_UNAVAILABLE, HANGING),
        daemon=RUNNING if running else STOPPED,
        mode=mode,
        reason=reason,
        remedy=remedy,
        pending=pending,
        last_scan=last_scan,
        counters=_counters(state.get("counters")),
    )


def _told(
    state: Mapping[str, Any], root: str, *, running: bool, silent_s: float
) -> tuple[str, str | None, str | None]:
    """Mode, reason and remedy: what the daemon says of itself, unless there is something worse to be seen."""
    # A writer without a state is `indexerd build`.
    mode = (_text(state.get("mode")) or BUILDING) if running else STOPPED
    reason = _text(state.get("reason")) if running else None
    remedy = _text(state.get("remedy")) if running else None
    if mode == ROOT_UNAVAILABLE or is_gone(root):
        why = reason if mode == ROOT_UNAVAILABLE else None
        # The daemon knows its root and may leave it out; whoever asks it may be anywhere.
        about = why if why and root in why else f"{root}: {why}" if why else f"{root} is not there"
        return ROOT_UNAVAILABLE, about, (remedy if why else None) or ROOT_REMEDY
    if not running:
        return mode, "the daemon is not running", start_remedy(root)
    if silent_s > LONGEST_SCAN_INTERVAL_S + SCAN_GRACE_S:
        reason = f"the daemon has not looked at the tree for {render_age(silent_s)}"
        return HANGING, reason, "if it goes on, restart it"
    return mode, reason, remedy


def _silent_s(state: Mapping[str, Any], now: datetime) -> float:
    """Seconds since the daemon looked at the whole tree; 0 before its first look, which may take long.

    An idle daemon looks again within LONGEST_SCAN_INTERVAL_S; one that was stopped, or hangs, holds its
    lock and leaves a state that says that all is well.
    """
    scan = _scan_row(state.get("last_scan"))
    return (_age_s(scan.finished_at, now) or 0.0) if scan is not None else 0.0


def staleness(freshness: Freshness, root: str) -> str | None:
    """Say in one line why an answer may be behind the tree at `root`, None when it is not."""
    if freshness.mode == ROOT_UNAVAILABLE:
        return f"{freshness.reason or root}; this is what was last indexed"
    since = "the tree has not been looked at" if freshness.age_s is None else _ago(freshness.age_s)
    if freshness.daemon == STOPPED:
        return f"{freshness.reason}; {since}; {freshness.remedy}"
    if freshness.mode == HANGING:
        return f"{freshness.reason}; {freshness.remedy}"
    if freshness.pending:
        changes = "1 change is" if freshness.pending == 1 else f"{freshness.pending} changes are"
        return f"{changes} not indexed yet"
    return f"a build is at work; {since}" if freshness.stale else None


def start_remedy(root: str) -> str:
    """Say how a daemon for `root` is started."""
    return f"start it with `indexerd run {shell_word(root)}`"


def is_gone(path: str) -> bool:
    """Tell whether nothing is at `path`; what may not be looked at is not gone."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


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
