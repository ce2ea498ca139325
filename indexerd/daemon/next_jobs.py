"""What a look makes the agenda do next: paths and scans it asks for, and pages that rest.

Only asks; what is believed was decided by the look, and when a job comes is the agenda's business.
"""

from __future__ import annotations

from indexerd.core.sync.scheduler import Agenda, Job, Reason
from indexerd.daemon.sync_pass import Looked


def ask_next_jobs(agenda: Agenda, job: Job, looked: Looked, now: float) -> None:
    """Put on the agenda what follows from `looked`, which is what `job` came to."""
    for path, delay in looked.again:
        agenda.report(path, now, delay=delay)
    for path, rest_s in looked.costly:
        agenda.rest(path, now + rest_s)
    if looked.second_look_at is not None:
        agenda.ask_scan(Reason.SECOND_LOOK, looked.second_look_at)
    if looked.astray:
        agenda.ask_scan(Reason.STORM, now)
    if looked.folders and not job.is_scan:
        agenda.scan_when_quiet(now)
