"""What SQLite and the operating system can refuse, turned into one line that says what to do.

Only what a user can mend is turned; a constraint that breaks or a misuse is a bug and keeps its
traceback. Nothing is retried here.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from indexerd.errors import DamagedIndexError, IndexerdError, NotPermittedError, StorageError

_FREE_SPACE: Final = "free some space; what was not written is tried again"
_CHECK_DISK: Final = "check the disk; what was not written is tried again"
_OWNER: Final = "run as the owner of the index, or name another place with --db"
_ANEW: Final = "run `indexerd build`, which moves it aside and builds a new one"

# The primary result code of SQLite (https://sqlite.org/rescode.html), the kind, problem and remedy.
FAILURES: Final[dict[int, tuple[type[IndexerdError], str, str]]] = {
    apsw.SQLITE_FULL: (StorageError, "the disk is full", _FREE_SPACE),
    apsw.SQLITE_IOERR: (StorageError, "the disk fails to read or write", _CHECK_DISK),
    apsw.SQLITE_NOMEM: (StorageError, "there is not enough memory", "give the process more memory"),
    apsw.SQLITE_READONLY: (NotPermittedError, "the index may not be written", _OWNER),
    apsw.SQLITE_PERM: (NotPermittedError, "the access is refused", _OWNER),
    apsw.SQLITE_AUTH: (NotPermittedError, "the access is refused", _OWNER),
    apsw.SQLITE_CANTOPEN: (StorageError, "the index cannot be opened", "check the folder and its owner"),
    apsw.SQLITE_BUSY: (
        StorageError,
        "another program holds the index locked",
        "close the program that opened it for writing; readers open it with mode=ro",
    ),
    apsw.SQLITE_LOCKED: (StorageError, "a table is locked", "close the program that opened it for writing"),
    apsw.SQLITE_PROTOCOL: (StorageError, "the index cannot be locked", "put it on a local disk with --db"),
    apsw.SQLITE_NOLFS: (StorageError, "the file is too large for this file system", "use another disk"),
    apsw.SQLITE_TOOBIG: (StorageError, "a text is too large for a row", "set a smaller max_page_bytes"),
    apsw.SQLITE_CORRUPT: (DamagedIndexError, "the index is damaged", _ANEW),
    apsw.SQLITE_NOTADB: (DamagedIndexError, "the index is damaged", _ANEW),
    apsw.SQLITE_FORMAT: (DamagedIndexError, "the index is damaged", _ANEW),
}

_OS_FAILURES: Final[dict[int, tuple[type[IndexerdError], str, str]]] = {
    errno.EACCES: (NotPermittedError, "the access is refused", _OWNER),
    errno.EPERM: (NotPermittedError, "the access is refused", _OWNER),
    errno.EROFS: (NotPermittedError, "the file system is read-only", "name another place with --db"),
    errno.ENOSPC: (StorageError, "the disk is full", _FREE_SPACE),
    errno.EDQUOT: (StorageError, "the disk quota is used up", _FREE_SPACE),
    errno.EMFILE: (StorageError, "too many files are open", "raise the limit of open files (ulimit -n)"),
    errno.ENFILE: (StorageError, "too many files are open", "raise the limit of open files (fs.file-max)"),
}


def explained(error: apsw.Error | OSError | UnicodeDecodeError, path: str) -> IndexerdError | None:
    """The error a user can mend, or None where this is a bug."""
    if isinstance(error, UnicodeDecodeError):
        # Only text is ever written, so bytes that are none were changed on the disk.
        return DamagedIndexError(path, f"the index is damaged ({error.reason} in a text)", _ANEW)
    if isinstance(error, OSError):
        kind, problem, remedy = _OS_FAILURES.get(
            error.errno or 0, (StorageError, str(error.strerror or error), _CHECK_DISK)
        )
        return kind(path, problem, remedy)
    result = getattr(error, "result", -1)
    if result == apsw.SQLITE_CONSTRAINT and str(error) == "constraint failed":
        # One of our tables is named in the message, and then it is a bug. This is FTS5's own, which
        # trips over what it had written before.
        result = apsw.SQLITE_CORRUPT
    if result == apsw.SQLITE_ERROR and "fts5 file format" in str(error):
        result = apsw.SQLITE_CORRUPT
    found = FAILURES.get(result)
    if found is None:
        return None
    kind, problem, remedy = found
    return kind(path, f"{problem} ({error})", remedy)


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn what SQLite or the operating system refuses inside the block into an IndexerdError."""
    try:
        yield
    except (apsw.Error, OSError, UnicodeDecodeError) as error:
        turned = explained(error, str(path))
        if turned is None:
            raise
        raise turned from error
