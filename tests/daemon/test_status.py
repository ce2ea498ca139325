"""What the daemon says of itself, as its loop tells it the facts."""

from __future__ import annotations

from indexerd.contract.live_state import LastScan
from indexerd.core.sync.scheduler import Reason
from indexerd.daemon.status import MISSED_SHOWN_S, Status


def scan(status: Status, now: float, reason: Reason) -> None:
    told = LastScan(
        started_at="then", finished_at="now", reason=reason, pages_seen=1, pages_changed=0, missed_by_events=0
    )
    status.scan_finished(told, now, building=False, generation=1, problems=0)


def test_changes_that_were_not_reported_are_told_of_long_enough_to_be_read() -> None:
    status = Status(control=None, index=None, building=False)
    status.became_ready()
    status.watch_opened()
    scan(status, 0.0, Reason.PERIODIC)
    status.changes_missed(3, 1.0)
    scan(status, 2.0, Reason.PERIODIC)
    reason, remedy = status.why() or ("", None)
    assert reason.startswith("3 changes were not reported")
    assert "max_queued_events" in (remedy or "")
    scan(status, MISSED_SHOWN_S + 2.0, Reason.BARRIER)
    assert status.why() is not None, "a barrier's scan says nothing of the watcher"
    scan(status, MISSED_SHOWN_S + 3.0, Reason.PERIODIC)
    assert status.why() is None
    assert status.counters["missed_by_events"] == 3
