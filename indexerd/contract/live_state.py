"""state.json: the state of the running daemon, beside the index, since an idle daemon commits nothing.

`service.status_file` writes it, wikiq reads it. One format is known here; another one is said so and
never read as truth. The time of the file is its heartbeat. Nothing here opens a file.
"""

from __future__ import annotations

import json

from indexerd.contract.record import Record

# The name is what type checkers go by: importing typing costs a search as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

STATE_FORMAT: Final = 1
LARGEST_STATE: Final = 1 << 20  # bytes; a daemon writes under 10 KiB
TOUCH_INTERVAL_S: Final = 30.0  # between two touches of the file while the daemon makes progress
HUNG_AFTER_S: Final = 90.0  # without a touch, three of which were due, the daemon is taken for hung


class Mode:
    """What the daemon does about changes now."""

    BUILDING: Final = "building"
    WATCHING: Final = "watching"
    SCANNING: Final = "scanning"
    ROOT_UNAVAILABLE: Final = "root_unavailable"


_MODES: Final = frozenset({Mode.BUILDING, Mode.WATCHING, Mode.SCANNING, Mode.ROOT_UNAVAILABLE})


class LastScan(Record):
    """The last scan of the whole tree. Times are ISO 8601 UTC; the counts are pages.

    `missed_by_events`: changes that only the scan found.
    """

    started_at: str
    finished_at: str
    reason: str
    pages_seen: int
    pages_changed: int
    missed_by_events: int


class LiveState(Record):
    """All but the time of writing. `reason` and `remedy` say why `mode` is not `watching`.

    `pending`: paths and folders that changed and are not in the index yet. `open`: what keeps the
    index from being equal to the tree, for people. `problems`: diagnostics. `control`: the socket.
    `index`: device and inode of the file that is written; a copy of it has all else in common with it.
    """

    mode: str = Mode.BUILDING
    reason: str | None = None
    remedy: str | None = None
    pending: int = 0
    open: tuple[str, ...] = ()
    last_scan: LastScan | None = None
    counters: Mapping[str, int] = {}
    problems: int = 0
    control: str | None = None
    index: tuple[int, int] | None = None


class UnknownStateError(ValueError):
    """A state of another format, or with values that this one cannot have; the message says which."""


def render_state(state: LiveState, *, pid: int, updated_at: str) -> str:
    """Give the file's text: one JSON object."""
    told: dict[str, Any] = {name: getattr(state, name) for name in LiveState.fields}
    if state.last_scan is not None:
        told["last_scan"] = {name: getattr(state.last_scan, name) for name in LastScan.fields}
    return json.dumps({"format": STATE_FORMAT, "pid": pid, **told, "updated_at": updated_at}) + "\n"


def parse_state(data: bytes) -> LiveState:
    """Read the file's text. Fields beyond those known are left out: a format may gain some.

    Raises UnknownStateError, and ValueError for what is no JSON object: a file that was torn.
    """
    try:
        told = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(told, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - its text is wrong, not its type
    if (found := told.get("format")) != STATE_FORMAT or isinstance(found, bool):
        raise UnknownStateError(f"has format {_shown(found)}, where {STATE_FORMAT} is known here")
    try:
        return _state_of(told)
    except (TypeError, ValueError) as error:
        raise UnknownStateError(str(error)) from error


def _state_of(told: Mapping[str, Any]) -> LiveState:
    scan = told.get("last_scan")
    if scan is not None and not isinstance(scan, dict):
        raise _misfit("last_scan", scan)
    mode = _text(told, "mode")
    if mode not in _MODES:
        raise _misfit("mode", mode)
    return LiveState(
        mode=mode,
        reason=_text_or_none(told, "reason"),
        remedy=_text_or_none(told, "remedy"),
        pending=_count(told, "pending"),
        open=_texts(told.get("open", [])),
        last_scan=None if scan is None else _scan_of(scan),
        counters=_counts(told.get("counters", {})),
        problems=_count(told, "problems"),
        control=_text_or_none(told, "control"),
        index=_place(told.get("index")),
    )


def _scan_of(told: Mapping[str, Any]) -> LastScan:
    return LastScan(
        started_at=_text(told, "started_at"),
        finished_at=_text(told, "finished_at"),
        reason=_text(told, "reason"),
        pages_seen=_count(told, "pages_seen"),
        pages_changed=_count(told, "pages_changed"),
        missed_by_events=_count(told, "missed_by_events"),
    )


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    if not isinstance(value, str) or not value:
        raise _misfit(name, value)
    return value


def _text_or_none(told: Mapping[str, Any], name: str) -> str | None:
    return None if told.get(name) in (None, "") else _text(told, name)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _misfit("open", value)
    return tuple(value)


def _count(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name, 0)
    if not _is_count(value):
        raise _misfit(name, value)
    return int(value)


def _counts(value: object) -> dict[str, int]:
    if not isinstance(value, dict) or not all(map(_is_count, value.values())):
        raise _misfit("counters", value)
    return value


def _place(value: object) -> tuple[int, int] | None:
    """Read device and inode, which JSON has as a list."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(map(_is_count, value)):
        raise _misfit("index", value)
    device, inode = value
    return device, inode


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _misfit(name: str, value: object) -> ValueError:
    return ValueError(f"has {_shown(value)} as {name}")


def _shown(value: object) -> str:
    """Quote a value of an untrusted file: short, without control characters."""
    return "none" if value is None else ascii(value)[:40]
