"""What the daemon says of itself: what is written is read back, and what is not of its kind is refused."""

from __future__ import annotations

import json

import pytest

from indexerd.contract.live_state import (
    LastScan,
    LiveState,
    Mode,
    UnknownStateError,
    parse_state,
    render_state,
)

SCAN = LastScan(
    started_at="2026-11-29T10:00:00.000Z",
    finished_at="2026-11-29T10:00:00.016Z",
    reason="periodic",
    pages_seen=3112,
    pages_changed=2,
    missed_by_events=1,
)
STATES = (
    LiveState(),
    LiveState(
        mode=Mode.SCANNING,
        reason="no events here",
        remedy="use a local disk",
        pending=3,
        open=("a.md is being written",),
        last_scan=SCAN,
        counters={"scans": 4},
        problems=2,
        control="/run/s",
        index=(66306, 918),
    ),
)


@pytest.mark.parametrize("state", STATES)
def test_what_is_written_is_read_back(state: LiveState) -> None:
    assert parse_state(render_state(state, pid=7, updated_at="now").encode()) == state


def test_blanks_at_the_end_and_fields_of_a_later_version_change_nothing() -> None:
    told = json.loads(render_state(STATES[1], pid=7, updated_at="now")) | {"more": {"x": 1}}
    assert parse_state(json.dumps(told).encode() + b" " * 99) == STATES[1]


@pytest.mark.parametrize(
    "more, problem",
    [
        ({"format": 2, "pending": {"paths": 3}}, "has format 2, where 1 is known here"),
        ({"format": True}, "has format True, where 1 is known here"),
        ({"format": None}, "has format none, where 1 is known here"),
        ({"mode": "dreaming"}, "has 'dreaming' as mode"),
        ({"mode": None}, "has none as mode"),
        ({"reason": 7}, "has 7 as reason"),
        ({"pending": {"paths": 3}}, "has {'paths': 3} as pending"),
        ({"pending": -1}, "has -1 as pending"),
        ({"open": ["a", 1]}, r"has \['a', 1\] as open"),
        ({"counters": {"scans": "4"}}, "as counters"),
        ({"index": [1, "2"]}, "as index"),
        ({"index": [1]}, "not enough values"),
        ({"last_scan": 3}, "has 3 as last_scan"),
        ({"last_scan": {"finished_at": "now"}}, "has none as started_at"),
        ({"mode": "\u001b[31m" * 99}, r"^has '\\x1b\[31m.{0,40} as mode$"),
    ],
)
def test_another_format_or_a_value_it_cannot_have_is_refused_and_named(
    more: dict[str, object], problem: str
) -> None:
    told = json.loads(render_state(STATES[1], pid=7, updated_at="now")) | more
    with pytest.raises(UnknownStateError, match=problem):
        parse_state(json.dumps(told).encode())


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_what_was_torn_is_no_state_of_another_format(data: bytes) -> None:
    with pytest.raises(ValueError) as raised:
        parse_state(data)
    assert not isinstance(raised.value, UnknownStateError)
