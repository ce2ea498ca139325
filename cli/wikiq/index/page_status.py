"""Holds what was indexed of a page against the file on the disk; the text shown is the index's.

Only looks: a stamp first, the bytes only where the stamp is another one. Waits for nobody: what a pipe
or a device would give is not read.
"""

from __future__ import annotations

import errno
import os
import stat

from wikiq.model.results import CHANGED, GONE, OK, UNKNOWN

LARGEST_COMPARED = 16 * 2**20  # bytes; larger pages are not read by the indexer either


def page_status(root: str, path: str, *, size: int, mtime_ns: int, content_hash: str | None) -> str:
    """Tell whether the file at `path` below `root` is what was indexed: `ok`, `changed` or `gone`.

    What may not be looked at is not known to have changed: `ok`. Where there is no `root` on this machine
    nothing is known of its pages: `unknown`.
    """
    if path.startswith("/") or ".." in path.split("/"):
        return GONE  # a page is below its root; an index that says otherwise is not believed
    full = os.path.join(root, path)
    try:
        found = os.stat(full)
    except (FileNotFoundError, NotADirectoryError):
        return UNKNOWN if is_gone(root) else GONE
    except (OSError, ValueError):
        return OK
    if not stat.S_ISREG(found.st_mode):
        return GONE
    if found.st_size != size:
        return CHANGED
    if found.st_mtime_ns == mtime_ns:
        return OK
    return OK if _has_hash(full, content_hash) else CHANGED


def is_gone(path: str) -> bool:
    """Tell whether nothing is at `path`; what may not be looked at is not gone."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def read_regular(path: str, limit: int) -> bytes:
    """Read at most `limit` bytes of a regular file; OSError where there is none or it cannot be read."""
    # Without O_NONBLOCK opening a pipe waits for its writer, for ever.
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", path)
        return opened.read(limit)


def _has_hash(path: str, content_hash: str | None) -> bool:
    """Tell whether a touched file still has the bytes that were indexed."""
    from hashlib import sha256

    try:
        return sha256(read_regular(path, LARGEST_COMPARED)).hexdigest() == content_hash
    except OSError:
        return False
