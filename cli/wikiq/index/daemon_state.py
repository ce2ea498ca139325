"""What can be seen of the daemon from outside: its lock, and the state file it keeps beside the index."""

from __future__ import annotations

import fcntl
import os

from indexerd.contract.live_state import LARGEST_STATE, LiveState, UnknownStateError, parse_state
from indexerd.contract.places import LOCK_NAME, STATE_NAME
from indexerd.contract.record import Record
from wikiq.index.page_status import is_gone, read_regular


def writer_is_running(folder: str) -> bool | None:
    """Tell whether a process holds the writer's lock of the index in `folder`; None: cannot be known.

    The lock is taken shared and given back at once. It is another file than the index, so closing
    it cannot drop a lock of SQLite's.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC  # a pipe would be waited for
    try:
        lock = os.open(os.path.join(folder, LOCK_NAME), flags)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(lock)
    return False


def has_lock(folder: str) -> bool:
    """Tell whether a writer ever left its lock in `folder`; what may not be looked at is taken for there."""
    return not is_gone(os.path.join(folder, LOCK_NAME))


class Told(Record):
    """What the state file says. `problem`: why it is not believed, None where it is or there is none.

    `touched_at`: when the daemon last gave a sign of progress, in seconds since 1970; None without a file.
    """

    state: LiveState | None = None
    problem: str | None = None
    touched_at: float | None = None


def read_state(folder: str) -> Told:
    """Read what the daemon last said of itself; what was torn counts as nothing."""
    path = os.path.join(folder, STATE_NAME)
    try:
        touched_at = os.stat(path).st_mtime
        return Told(state=parse_state(read_regular(path, LARGEST_STATE)), touched_at=touched_at)
    except UnknownStateError as error:
        return Told(problem=f"{STATE_NAME} of the daemon {error}", touched_at=touched_at)
    except (OSError, ValueError):
        return Told()


class DaemonView(Record):
    """What was seen of the daemon at one moment: whether it runs, and what it last said of itself.

    `has_lock`: a writer's lock lies beside the index; where none does, no writer ever was there.
    """

    running: bool
    has_lock: bool
    told: Told


def view_daemon(folder: str) -> DaemonView:
    """Look at the lock and the state of the index in `folder`."""
    running = writer_is_running(folder) is True
    return DaemonView(running=running, has_lock=running or has_lock(folder), told=read_state(folder))
