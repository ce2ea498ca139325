"""How far an index may be behind its tree: the writer's lock, the daemon's state, the last commit.

What the daemon says of itself lies beside the index as `state.json`, since an idle daemon commits
nothing. That file is a hint: missing or unreadable, it only makes the answer more careful; of another format,
it is said so.
"""

from __future__ import annotations

from indexerd.contract.live_state import HUNG_AFTER_S, LastScan, LiveState, Mode
from indexerd.contract.moments import parse_time
from indexerd.contract.which_index import shell_word
from wikiq.index.page_status import is_gone
from wikiq.index.sql import SELECT_LAST_SCAN
from wikiq.model.results import Freshness, IndexAge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from wikiq.index.daemon_state import Told
    from wikiq.index.database import Snapshot

RUNNING, STOPPED = "running", "stopped"  # the daemon
HANGING, UNKNOWN = "hanging", "unknown"  # modes that no daemon can tell of itself
COPY = "copy"  # nobody writes this file where it lies
UPDATE = "update indexerd and wikiq to one version and restart the daemon"
ROOT_REMEDY = "put the folder back, or tell where it is now: `indexerd move {} NEW`"
WRITES_ANOTHER = "the daemon in its folder writes another index"
SEPARATE = "give each index a folder of its own"


def freshness_of(snapshot: Snapshot) -> Freshness:
    """Tell how old the state was when the snapshot was taken, and why it may be stale; read once."""
    if snapshot.freshness is None:
        snapshot.freshness = read_freshness(snapshot, snapshot.moment)
    return snapshot.freshness


def age_of(snapshot: Snapshot) -> IndexAge:
    """Give what every answer says of its index."""
    freshness = freshness_of(snapshot)
    return IndexAge(
        wiki=snapshot.wiki,
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        age_s=freshness.age_s,
        stale=freshness.stale,
    )


def read_freshness(snapshot: Snapshot, now: datetime) -> Freshness:
    """Tell how old the answer of `snapshot` is at `now` (UTC), and why it may be stale."""
    if is_copy(snapshot):
        return _freshness_of_copy(snapshot, now)
    database, running, told = snapshot.database, snapshot.daemon.running, snapshot.daemon.told
    state = told.state
    # One lock and one state serve all files of the folder, so a copy of the index has them too. After a
    # barrier the state may still name the file before.
    written = state.index if state is not None else None
    is_written = database.made_fresh or (database.identity is not None and written == database.identity)
    is_another = running and written is not None and not is_written
    if not is_written:
        state = None
    running = running and not is_another
    last_scan = _later(state.last_scan if state is not None else None, _indexed_scan(snapshot))
    times = (snapshot.meta.get("committed_at"), last_scan.finished_at if last_scan else None)
    ages = [age for age in (_age_s(text, now) for text in times) if age is not None]
    # The state is written at most once a second: just after a barrier it still counts what that
    # brought in, and what came later was not asked for.
    is_asked = running and not database.made_fresh
    pending = state.pending if state is not None and is_asked else 0
    problem = told.problem if is_asked else None
    silent_s = _silent_s(told, now) if is_asked else 0.0
    mode, reason, remedy = _told(state, snapshot.root, running=running, silent_s=silent_s, problem=problem)
    if is_another and mode == STOPPED:
        reason, remedy = WRITES_ANOTHER, SEPARATE
    return Freshness(
        age_s=min(ages, default=None),
        stale=not (running and is_written) or pending > 0 or mode in (Mode.ROOT_UNAVAILABLE, HANGING),
        daemon=RUNNING if running else STOPPED,
        mode=mode,
        reason=reason,
        remedy=remedy,
        pending=pending,
        last_scan=last_scan,
        counters=dict(state.counters) if state is not None else {},
    )


def is_copy(snapshot: Snapshot) -> bool:
    """Tell whether the file is a copy: it is said to be, or no writer ever left its lock beside it."""
    return snapshot.database.is_copy or not snapshot.daemon.has_lock


def _freshness_of_copy(snapshot: Snapshot, now: datetime) -> Freshness:
    """Tell how old the last commit in a copy is; who writes the index it was made of cannot be seen here."""
    age_s = _age_s(snapshot.meta.get("committed_at"), now)
    stale = age_s is None or age_s > snapshot.database.max_age_s
    return Freshness(
        age_s=age_s,
        stale=stale,
        daemon=UNKNOWN,
        mode=COPY,
        reason=_made_of(snapshot),
        remedy=ask_there(snapshot) if stale else None,
        pending=0,
        last_scan=_indexed_scan(snapshot),
        counters={},
    )


def _made_of(snapshot: Snapshot) -> str:
    host = snapshot.meta.get("host")
    return f"this is a copy of an index on {host}" if host else "this is a copy of an index"


def ask_there(snapshot: Snapshot) -> str:
    """Say where a copy can be had fresher."""
    host = snapshot.meta.get("host")
    return f"ask on {host}" if host else "ask on the machine that writes it"


def _told(
    state: LiveState | None, root: str, *, running: bool, silent_s: float, problem: str | None
) -> tuple[str, str | None, str | None]:
    """Mode, reason and remedy: what the daemon says of itself, unless there is something worse to be seen."""
    if not running or state is None:
        state = LiveState()  # a writer without a state is `indexerd build`
    if state.mode == Mode.ROOT_UNAVAILABLE or is_gone(root):
        why = state.reason if state.mode == Mode.ROOT_UNAVAILABLE else None
        # The daemon knows its root and may leave it out; whoever asks it may be anywhere.
        about = why if why and root in why else f"{root}: {why}" if why else f"{root} is not there"
        return (
            Mode.ROOT_UNAVAILABLE,
            about,
            (state.remedy if why else None) or ROOT_REMEDY.format(shell_word(root)),
        )
    if not running:
        return STOPPED, "the daemon is not running", start_remedy(root)
    if silent_s > HUNG_AFTER_S:
        reason = f"the daemon has made no progress for {render_age(silent_s)}"
        return HANGING, reason, "if it goes on, restart it"
    if problem is not None:
        return UNKNOWN, problem, UPDATE
    return state.mode, state.reason, state.remedy


def _silent_s(told: Told, now: datetime) -> float:
    """Seconds since the daemon last touched its state; a file system's clock may be ahead of ours."""
    return 0.0 if told.touched_at is None else max(0.0, now.timestamp() - told.touched_at)


def staleness(freshness: Freshness, root: str) -> str | None:
    """Say in one line why an answer may be behind the tree at `root`, None when it is not."""
    if freshness.mode == COPY:
        return (
            f"{freshness.reason}; {last_commit(freshness.age_s)}; {freshness.remedy}"
            if freshness.stale
            else None
        )
    if freshness.mode == Mode.ROOT_UNAVAILABLE:
        return f"{freshness.reason or root}; this is what was last indexed; {freshness.remedy}"
    since = "no scan yet" if freshness.age_s is None else _ago(freshness.age_s)
    if freshness.daemon == STOPPED:
        return f"{freshness.reason}; {since}; {freshness.remedy}"
    if freshness.mode in (HANGING, UNKNOWN):
        return f"{freshness.reason}; {freshness.remedy}"
    if freshness.pending:
        changes = "1 change is" if freshness.pending == 1 else f"{freshness.pending} changes are"
        return f"{changes} not indexed yet"
    return f"a build is at work; {since}" if freshness.stale else None


def freshness_words(freshness: Freshness) -> str:
    """Say in a few words how old an answer is and what keeps it from being fresh."""
    age = "no scan yet" if freshness.age_s is None else f"{render_age(freshness.age_s)} old"
    if freshness.mode == COPY:
        return f"a copy, {age}"
    if freshness.mode == Mode.ROOT_UNAVAILABLE:
        return f"folder not there, {age}"
    if freshness.daemon == STOPPED:
        return f"not followed, {age}"
    if freshness.mode in (HANGING, UNKNOWN):
        return f"daemon {freshness.mode}, {age}"
    if freshness.pending:
        return f"{freshness.pending} changes pending" if freshness.pending > 1 else "1 change pending"
    return f"being built, {age}" if freshness.stale else age


def is_usual(freshness: Freshness) -> bool:
    """Tell whether nothing is wrong: what an answer lacks, the next scan or a daemon brings."""
    return freshness.mode not in (Mode.ROOT_UNAVAILABLE, HANGING, UNKNOWN)


def last_commit(age_s: float | None) -> str:
    """Say how old the last commit in a copy is."""
    return "no commit yet" if age_s is None else f"last commit {render_age(age_s)} ago"


def start_remedy(root: str) -> str:
    """Say how a daemon for `root` is started."""
    return f"start it with `indexerd run {shell_word(root)}`"


def _indexed_scan(snapshot: Snapshot) -> LastScan | None:
    row = snapshot.row(SELECT_LAST_SCAN)
    return LastScan.from_row(row) if row else None


def _ago(seconds: float) -> str:
    return f"last scan {render_age(seconds)} ago"


def _later(one: LastScan | None, other: LastScan | None) -> LastScan | None:
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
        then = parse_time(str(text))
    except ValueError:
        return None
    return round(max(0.0, (now - then).total_seconds()), 3)
