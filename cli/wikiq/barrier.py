"""Asks the daemon to bring the index up to what is on the disk now, and waits for it (spec 3.6).

The daemon tells in its state where its socket is. This side only asks; it starts nothing.
"""

from __future__ import annotations

import json
import time

from wikiq.database import writer_is_running
from wikiq.freshness import read_state
from wikiq.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wikiq.database import Database

PROTOCOL = 1  # of the socket
GRACE_S = 1.0  # beyond the daemon's own time-out, for its answer to arrive
LARGEST_ANSWER = 64 * 1024  # bytes; an answer is some two hundred


class Barrier(Record):
    """What came of the wait.

    Fresh: all that was on the disk before is in `generation`, by `guarantee` (`scan` or `events`).
    Not fresh: `problem` says what is open.
    """

    fresh: bool
    index_id: str | None
    generation: int | None
    guarantee: str | None
    problem: str | None
    took_ms: float


def ask_fresh(database: Database, timeout_s: float) -> Barrier:
    """Wait until the index holds what was on the disk before this call, or `timeout_s` have passed."""
    started = time.perf_counter()
    answer: dict[str, Any]
    try:
        answer = _exchange(database, timeout_s)
    except _NoAnswerError as error:
        answer = {"error": str(error)}
    is_open = answer.get("open")
    problem = ", ".join(map(str, is_open)) if isinstance(is_open, list) else str(answer.get("error", ""))
    fresh = answer.get("fresh") is True
    return Barrier(
        fresh=fresh,
        index_id=str(answer["index_id"]) if fresh else None,
        generation=int(answer["generation"]) if fresh else None,
        guarantee=str(answer["guarantee"]) if fresh else None,
        problem=None if fresh else problem or "the daemon did not say why",
        took_ms=round((time.perf_counter() - started) * 1000, 3),
    )


class _NoAnswerError(Exception):
    """Nobody answered; the message says who and why."""


def _exchange(database: Database, timeout_s: float) -> dict[str, Any]:
    import socket

    path = read_state(database.folder).get("control")
    if not isinstance(path, str):
        building = writer_is_running(database.folder)
        raise _NoAnswerError("a build is at work" if building else "the daemon is not running")
    request = {"protocol": PROTOCOL, "ask": "fresh", "timeout_s": timeout_s}
    line = b""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s + GRACE_S)
            connection.connect(path)
            connection.sendall(json.dumps(request).encode() + b"\n")
            while not line.endswith(b"\n") and len(line) < LARGEST_ANSWER:
                received = connection.recv(LARGEST_ANSWER)
                if not received:
                    break
                line += received
    except (FileNotFoundError, ConnectionRefusedError):
        raise _NoAnswerError("the daemon is not running") from None
    except TimeoutError:
        raise _NoAnswerError("the daemon does not answer") from None
    except OSError as error:
        raise _NoAnswerError(f"the daemon cannot be asked ({error.strerror})") from None
    try:
        answer = json.loads(line)
    except ValueError:
        raise _NoAnswerError("the daemon answers only its own user" if not line else "no answer") from None
    if not isinstance(answer, dict):
        raise _NoAnswerError("the daemon answers something else")
    return answer
