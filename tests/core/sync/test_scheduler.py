"""What is done next, with the time passed in: no sleep, no disk, no watcher."""

from __future__ import annotations

import pytest

from indexerd.core.sync.debounce import FOLDER_CAP, LONGEST_WAIT_MS, QUIET_DELAY_MS, TRAILING_QUIET_MS
from indexerd.core.sync.intervals import CONFIRMING_SHARE, FIRST_BACK_OFF_S, SCAN_SHARE, SHORTEST_INTERVAL_S
from indexerd.core.sync.paths import ROOT
from indexerd.core.sync.scheduler import EVERYTHING, Job, Reason, Scheduler, find_unreported

QUIET = QUIET_DELAY_MS / 1000
LONGEST = LONGEST_WAIT_MS / 1000
TRAILING = TRAILING_QUIET_MS / 1000


def scanned(scheduler: Scheduler, now: float, took_s: float = 0.001) -> None:
    """Lets one scan of everything pass that ended at `now`."""
    scheduler.ask_scan(Reason.START, now - took_s)
    job = scheduler.next_job(now - took_s)
    assert job is not None
    scheduler.finish(job, now, scan_s=took_s)


def test_nothing_is_to_be_done_before_anything_was_asked() -> None:
    scheduler = Scheduler()
    assert scheduler.next_at() is None
    assert scheduler.next_job(1e9) is None


def test_a_reported_path_is_a_job_once_it_has_settled() -> None:
    scheduler = Scheduler()
    scheduler.report("a.md", 10.0)
    assert scheduler.next_at() == 10.0 + QUIET
    assert scheduler.next_job(10.0) is None
    assert scheduler.next_job(10.0 + QUIET) == Job(("a.md",), Reason.EVENTS, ("a.md",))


def test_a_report_is_a_hint_and_what_was_found_and_not_written_is_pending() -> None:
    scheduler = Scheduler()
    scheduler.report("a.md", 10.0)
    scheduler.scan_when_quiet(10.0)
    assert scheduler.pending == 0
    scheduler.report("sub/b.md", 10.0, delay=1.0)
    assert scheduler.pending == 1
    for nth in range(FOLDER_CAP + 1):
        scheduler.report(f"sub/{nth}.md", 10.0)
    assert scheduler.pending == 1, "it is still pending as a part of its folder"
    assert scheduler.next_job(1e9) is not None
    assert scheduler.pending == 0


def test_a_report_of_the_root_is_a_scan_of_everything() -> None:
    scheduler = Scheduler()
    scheduler.report(ROOT, 10.0)
    job = scheduler.next_job(10.0 + QUIET)
    assert job is not None
    assert job.is_scan


def test_a_scan_takes_what_waits_with_it() -> None:
    scheduler = Scheduler()
    scheduler.report("a.md", 10.0)
    scheduler.ask_scan(Reason.RELOAD, 10.0)
    assert scheduler.next_job(10.0) == Job(EVERYTHING, Reason.RELOAD, ("a.md",))
    assert scheduler.next_at() is None


def test_a_scan_asked_for_later_waits_and_the_earlier_of_two_times_counts() -> None:
    scheduler = Scheduler()
    scheduler.ask_scan(Reason.SECOND_LOOK, 12.0)
    scheduler.ask_scan(Reason.SECOND_LOOK, 14.0)
    assert scheduler.next_job(11.9) is None
    assert scheduler.next_job(12.0) == Job(EVERYTHING, Reason.SECOND_LOOK)


@pytest.mark.parametrize(
    "watching, took_s, interval_s", [(True, 0.016, 16.0), (False, 0.016, SHORTEST_INTERVAL_S)]
)
def test_a_scan_follows_the_last_one_at_an_interval_that_bounds_its_cost(
    watching: bool, took_s: float, interval_s: float
) -> None:
    scheduler = Scheduler()
    if watching:
        scheduler.watch_opened()
    scanned(scheduler, 100.0, took_s)
    assert scheduler.next_at() == pytest.approx(100.0 + interval_s)
    assert scheduler.next_job(100.0 + interval_s + 0.01) == Job(EVERYTHING, Reason.PERIODIC)


def test_changes_are_followed_by_scans_until_two_in_a_row_find_nothing() -> None:
    scheduler, took_s = Scheduler(), 0.1
    scheduler.watch_opened()
    now = 100.0
    scanned(scheduler, now, took_s)
    scheduler.report("a.md", now)
    job = scheduler.next_job(now + QUIET)
    assert job is not None
    scheduler.finish(job, now + QUIET)
    for changed in (False, True, False, False):
        now += took_s / CONFIRMING_SHARE
        assert scheduler.next_at() == pytest.approx(now)
        now += 0.001
        job = scheduler.next_job(now)
        assert job == Job(EVERYTHING, Reason.PERIODIC)
        scheduler.finish(job, now, scan_s=took_s, changed=changed)
    assert scheduler.next_at() == pytest.approx(now + took_s / SCAN_SHARE)


def test_after_a_storm_everything_is_scanned_once_it_is_quiet() -> None:
    scheduler = Scheduler()
    scanned(scheduler, 1.0)
    for nth in range(FOLDER_CAP + 1):
        scheduler.report(f"d/{nth}.md", 1.0)
    assert scheduler.next_job(1.0 + QUIET) == Job(("d",), Reason.EVENTS, ("d",))
    assert scheduler.next_at() == 1.0 + QUIET + TRAILING
    assert scheduler.next_job(1.0 + QUIET + TRAILING) == Job(EVERYTHING, Reason.STORM)


def test_a_failed_batch_waits_longer_each_time_and_comes_back_whole() -> None:
    scheduler = Scheduler()
    scheduler.report("a.md", 0.0)
    now, waits = QUIET, []
    for _ in range(3):
        job = scheduler.next_job(now)
        assert job is not None
        assert "a.md" in job.covers or job.is_scan
        wait = scheduler.fail(job, now)
        assert scheduler.next_job(now + wait - 0.001) is None
        assert scheduler.pending > 0
        waits.append(wait)
        now += max(wait, LONGEST)
    assert waits == [FIRST_BACK_OFF_S, 2 * FIRST_BACK_OFF_S, 4 * FIRST_BACK_OFF_S]
    job = scheduler.next_job(now)
    assert job is not None
    scheduler.finish(job, now)
    assert scheduler.failures == 0


def test_a_failed_scan_is_asked_for_again() -> None:
    scheduler = Scheduler()
    scheduler.ask_scan(Reason.START, 0.0)
    job = scheduler.next_job(0.0)
    assert job is not None
    wait = scheduler.fail(job, 1.0)
    assert scheduler.next_at() == 1.0 + wait
    assert scheduler.next_job(1.0 + wait) == Job(EVERYTHING, Reason.RETRY)


def test_nothing_is_tried_during_a_back_off_whatever_is_reported() -> None:
    scheduler = Scheduler()
    scheduler.fail(Job(("a.md",), Reason.EVENTS), 0.0)
    scheduler.report("b.md", 0.0)
    scheduler.ask_scan(Reason.RELOAD, 0.0)
    assert scheduler.next_job(FIRST_BACK_OFF_S - 0.001) is None
    scheduler.retry_now()
    assert scheduler.next_job(FIRST_BACK_OFF_S - 0.001) is not None


def test_a_change_was_missed_when_neither_it_nor_a_folder_above_was_reported() -> None:
    changed = ("a.md", "d/b.md", "d/e/c.md", "dd/f.md")
    assert find_unreported(changed, ()) == changed
    assert find_unreported(changed, ("a.md", "d")) == ("dd/f.md",)
    assert find_unreported(changed, (ROOT,)) == ()
