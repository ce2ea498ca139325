"""`state.json` beside the index: what readers cannot learn from rows, while the daemon runs.

Replaced whole, at most once a second and only when something in it changed, so that an idle daemon
writes nothing. That nothing is pending any more is written at once, for who was just told "fresh" reads it.
Its time is set anew while the daemon makes progress, which is how readers know one that hangs. It is a
courtesy: a disk that refuses it must not stop the daemon.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from typing import Final

from indexerd.contract.live_state import TOUCH_INTERVAL_S, LiveState, render_state
from indexerd.errors import ForeignFileError

_BEGINNING: Final = re.compile(rb'\{"format": \d+, "pid": \d')  # of the text, whatever its format
_TORN: Final = b'{"format": 1, "pid": '
_FULL: Final = {errno.ENOSPC, errno.EDQUOT}
WRITE_INTERVAL_S: Final = 1.0  # a storm of commits is not worth a file a commit


def refuse_foreign(path: str) -> None:
    """Raises ForeignFileError for what another program wrote at `path`. A torn file is not foreign."""
    try:
        with open(path, "rb", opener=_open_itself) as file:
            start = file.read(64)
    except OSError:
        return  # nothing is there, or it cannot be read: the daemon does without it
    if not (_BEGINNING.match(start) or _TORN.startswith(start.rstrip(b"\0"))):
        raise ForeignFileError(
            path,
            "is a file of another program, it is left alone",
            "give the index a folder of its own, with --db",
        )


def drop_leftover(path: str) -> None:
    """Removes the state of a killed daemon; for a writer that holds the lock and keeps no state file."""
    with contextlib.suppress(ForeignFileError, OSError):
        refuse_foreign(path)
        os.unlink(path)


def _open_itself(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)


class StateFile:
    """Writes the file. `path`: where; `mode` and `group` (an id): as the index has them."""

    def __init__(self, path: str, *, mode: int = 0o600, group: int | None = None) -> None:
        self._path = path
        self._mode = mode
        self._group = group
        self._written: LiveState | None = None
        self._written_at = float("-inf")
        self._touched_at = float("-inf")

    @property
    def paths(self) -> tuple[str, str]:
        """Where the file is, and where its next text is written first."""
        return self._path, f"{self._path}.new"

    def due_at(self, state: LiveState) -> float:
        """When `state` may be written, or the file touched if it stands there; in `write`'s time."""
        if state == self._written:
            return self._touched_at + TOUCH_INTERVAL_S
        if self._written is not None and self._written.pending and not state.pending:
            return self._written_at
        return self._written_at + WRITE_INTERVAL_S

    def write(self, state: LiveState, now: float, updated_at: str) -> bool:
        """Replaces the file, unless it says the same or was written a moment ago; `now` is monotonic."""
        if state == self._written:
            self.touch(now)
            return False
        if now < self.due_at(state):
            return False
        self.write_now(state, now, updated_at)
        return True

    def touch(self, now: float) -> None:
        """Tells readers that work goes on, by the file's time alone; for any thread, at any rate."""
        if now - self._touched_at < TOUCH_INTERVAL_S:
            return
        self._touched_at = now
        with contextlib.suppress(OSError):
            os.utime(self._path, follow_symlinks=False)

    def write_now(self, state: LiveState, now: float, updated_at: str) -> None:
        """Replaces the file whatever is in it: the first and the last word of a daemon."""
        self._written, self._written_at = None, now  # tried again when the disk refuses it
        self._touched_at = now
        with contextlib.suppress(OSError):
            self._replace(render_state(state, pid=os.getpid(), updated_at=updated_at))
            self._written = state

    def _replace(self, text: str) -> None:
        temporary = self.paths[1]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(temporary, flags, self._mode)
            try:
                if self._group is not None:
                    os.fchown(descriptor, -1, self._group)
                os.fchmod(descriptor, self._mode)
                _write_all(descriptor, text.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            self._write_over(text)
        else:
            os.replace(temporary, self._path)

    def _write_over(self, text: str) -> None:
        """Overwrites the file in its own blocks: it must be able to report that the disk is full."""
        with contextlib.suppress(OSError):
            os.unlink(f"{self._path}.new")
        descriptor = os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            _write_all(descriptor, text.encode().ljust(size))  # JSON may end in blanks
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    """Writes all of it: a nearly full disk takes a part without an error."""
    if os.write(descriptor, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
