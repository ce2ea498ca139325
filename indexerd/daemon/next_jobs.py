"""Asks the scheduler for what follows from a sync pass: paths, scans, and pages that rest.

Only asks; the pass decided what is believed, the scheduler decides when a job comes.
"""

from __future__ import annotations

from indexerd.core.sync.scheduler import Job, Reason, Scheduler
from indexerd.daemon.sync_pass import SyncResult


def ask_next_jobs(scheduler: Scheduler, job: Job, result: SyncResult, now: float) -> None:
    """Ask for what follows from `result`, which is that of `job`."""
    for path, delay in result.again:
        scheduler.report(path, now, delay=delay)
    for path, rest_s in result.costly:
        scheduler.rest(path, now + rest_s)
    if result.confirm_at is not None:
        scheduler.ask_scan(Reason.SECOND_LOOK, result.confirm_at)
    if result.astray:
        scheduler.ask_scan(Reason.STORM, now)
    if result.folders and not job.is_scan:
        scheduler.scan_when_quiet(now)
