"""What can be seen of the daemon from outside: its lock, and the state file it keeps beside the index."""

from __future__ import annotations

import fcntl
import json
import os

from indexerd.contract.places import LOCK_NAME, STATE_NAME
from wikiq.index.page_status import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


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


LARGEST_STATE = 1024 * 1024  # bytes of state.json; the daemon writes under 10 KiB


def read_state(folder: str) -> Mapping[str, Any]:
    """Give what the daemon last wrote of itself; nothing where there is nothing to be read."""
    try:
        state = json.loads(read_regular(os.path.join(folder, STATE_NAME), LARGEST_STATE))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
