"""What a user can cause or mend, each one line: where, what, what to do about it.

Every kind knows its exit status (spec 5.4). A bug is not one of these and keeps its traceback.
"""

from __future__ import annotations

FOUND = 0
NOTHING_FOUND = 1
REFUSED = 2  # usage, no index, an index that cannot be read
NOT_FRESH = 3
INTERRUPTED = 130


class WikiqError(Exception):
    """`subject` is the file, page or word it is about (may be empty), `remedy` what to do."""

    exit_status = REFUSED

    def __init__(self, subject: str, problem: str, remedy: str) -> None:
        super().__init__(subject, problem, remedy)
        self.subject = subject
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        where = f"{self.subject}: " if self.subject else ""
        return f"{where}{self.problem}; {self.remedy}"


class UsageError(WikiqError):
    """A usage error: an unknown option, a bad value, options that exclude each other."""


class NoIndexError(WikiqError):
    """There is no index where one was looked for."""


class ForeignIndexError(WikiqError):
    """The file belongs to something else, or its contract is not this reader's."""


class DamagedIndexError(WikiqError):
    """The file claims to be an index and cannot be read as one."""


class UnreadableIndexError(WikiqError):
    """The operating system or another process keeps the index from being read."""


class TooSlowError(WikiqError):
    """A statement ran into its time limit."""


class CancelledError(WikiqError):
    """The question was cancelled while it was answered: by another thread, or by Ctrl-C."""

    exit_status = INTERRUPTED


class UnknownPageError(WikiqError):
    """No page goes by that name; the remedy names the nearest ones."""

    exit_status = NOTHING_FOUND


class UnknownTopicError(WikiqError):
    """No page carries that topic; the remedy names the nearest ones."""

    exit_status = NOTHING_FOUND


class UnknownSectionError(WikiqError):
    """The page has no section by that name; the remedy names the nearest ones."""

    exit_status = NOTHING_FOUND
