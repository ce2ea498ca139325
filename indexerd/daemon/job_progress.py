"""How far the job at hand has come, for those who wait for it. Counts, and decides nothing."""

from __future__ import annotations

from typing import Final

from indexerd.core.sync.scheduler import Job

TELL_EVERY_S: Final = 1.0  # how far a first build has come


class JobProgress:
    """Updated by the worker thread, read by the event loop: each step sets one number."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._folders = 0
        self._folders_before = 0  # of the last scan that came to its end
        self._pages: tuple[int, int] | None = None  # done, in all
        self._told_at = 0.0

    def begin(self, job: Job, now: float) -> None:
        """A job begins."""
        self._job, self._folders, self._pages = job, 0, None
        self._told_at = now

    def scan_folder(self) -> None:
        """One more folder is being listed."""
        if self._pages is None:
            self._folders += 1

    def finish_page(self, done: int, total: int, now: float) -> bool:
        """So many of the pages that changed are read and projected; whether it is time to publish that."""
        self._pages = done, total
        is_due = now - self._told_at >= TELL_EVERY_S
        if is_due:
            self._told_at = now
        return is_due

    def end(self) -> None:
        """The job is over."""
        if self._job is not None and self._job.is_scan:
            self._folders_before = self._folders
        self._job = None

    @property
    def remaining(self) -> int:
        """How many of the pages that changed are not read and projected yet."""
        if self._job is None or self._pages is None:
            return 0
        done, total = self._pages
        return total - done

    def describe(self) -> str:
        """What is not finished, and how far it is."""
        if self._job is None:
            return "the scan has not begun"
        if self._pages is not None:
            done, total = self._pages
            return f"{done} of {total} changed pages are read"
        if not self._job.is_scan:
            return "reported changes are being read, and the scan has not begun"
        before = f"; the last scan saw {self._folders_before}" if self._folders_before else ""
        return f"the scan is not finished: {self._folders} folders so far{before}"
