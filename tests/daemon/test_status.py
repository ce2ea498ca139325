"""What the daemon says of itself, as its loop tells it the facts."""

from __future__ import annotations

from indexerd.contract.live_state import LastScan
from indexerd.core.sync.scheduler import Reason
from indexerd.daemon.status import MISSED_SHOWN_S, Report


def scan(report: Report, now: float, reason: Reason) -> None:
    told = LastScan(
        started_at="then", finished_at="now", reason=reason, pages_seen=1, pages_changed=0, missed_by_events=0
    )
    report.count_scan(told, now, building=False, generation=1, problems=0)


def test_changes_that_were_not_reported_are_told_of_long_enough_to_be_read() -> None:
    report = Report(started=True, watching=True)
    scan(report, 0.0, Reason.PERIODIC)
    report.count_missed(3, 1.0)
    scan(report, 2.0, Reason.PERIODIC)
    reason, remedy = report.why() or ("", None)
    assert reason.startswith("3 changes were not reported")
    assert "max_queued_events" in (remedy or "")
    scan(report, MISSED_SHOWN_S + 2.0, Reason.BARRIER)
    assert report.why() is not None, "a barrier's scan says nothing of the watcher"
    scan(report, MISSED_SHOWN_S + 3.0, Reason.PERIODIC)
    assert report.why() is None
    assert report.counters["missed_by_events"] == 3
