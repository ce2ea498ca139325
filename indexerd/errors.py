"""The errors a user can cause or mend, each one line long: what, where, what to do.

A bug is not one of these: it keeps its traceback. Every kind knows its exit status, so that the
command needs no table of its own (sysexits.h numbers, spec "The daemon", commands).
"""

from __future__ import annotations

import os
import sys


class IndexerdError(Exception):
    """Something a user can mend. `path` is where, `problem` what, `remedy` what to do about it."""

    exit_status = 74

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(path, problem, remedy)
        self.path = path
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.problem}; {self.remedy}"


class UsageError(IndexerdError):
    """The words of the command do not fit."""

    exit_status = 64


class RootError(IndexerdError):
    """The folder to index is missing, or is not a folder."""

    exit_status = 66


class StorageError(IndexerdError):
    """The index could not be read or written."""

    exit_status = 74


class ForeignFileError(StorageError):
    """The file at the index's place belongs to another application; it is left alone."""


class DamagedIndexError(StorageError):
    """The index is corrupt. Opening it anew moves it aside and starts from nothing."""


class AnotherWriterError(IndexerdError):
    """Another process holds the writer's lock of this index."""

    exit_status = 75


class NotPermittedError(IndexerdError):
    """The operating system refuses the access."""

    exit_status = 77


class ConfigurationError(IndexerdError):
    """A setting is unknown, misplaced or has a value it cannot have."""

    exit_status = 78


class ReplacedProgramError(IndexerdError):
    """Other code than that of this process lies at its place: an upgrade. It must be started again."""

    exit_status = 74


def missing_program() -> IndexerdError | None:
    """What to say where this program was removed while it runs: then whatever else fails is only that."""
    if not sys.executable or os.path.exists(sys.executable):
        return None
    remedy = "install it again, then run `indexerd service install`"
    return StorageError(sys.executable, "the program that runs here has been removed", remedy)
