"""Asks the daemon to bring the index up to what is on the disk now, and waits for it (spec 3.6).

The daemon tells in its state where its socket is. Its answer is believed only of the file that is read:
the index may have been replaced meanwhile, and a copy beside it has the same state. Starts nothing.
"""

from __future__ import annotations

import json
import time
from socket import AF_UNIX, socket
from time import sleep

from indexerd.contract.record import Record
from wikiq.errors import WikiqError
from wikiq.index.daemon_state import read_state, writer_is_running
from wikiq.index.database import open_database
from wikiq.index.freshness import WRITES_ANOTHER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wikiq.index.database import Database

PROTOCOL = 1  # of the socket
PAUSE_S = 0.02  # between two looks for the socket of a daemon that is starting
GRACE_S = 1.0  # beyond the daemon's own time-out, for its answer to arrive
LARGEST_ANSWER = 64 * 1024  # bytes; an answer is some two hundred

NOT_LISTENING = "a build is at work, or the daemon is still starting"
NO_SOCKET = "the daemon has no socket; set XDG_RUNTIME_DIR to a folder of yours"


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


def make_fresh(database: Database, timeout_s: float) -> tuple[Database, Barrier]:
    """Wait until the index holds what was on the disk before this call, or `timeout_s` have passed.

    Gives the database to ask from now on: where the file was replaced, that is another one, and the
    one given is closed.
    """
    started = time.perf_counter()
    try:
        answer = _exchange(database, timeout_s)
        database, problem = _hold_against(database, answer)
    except _NoAnswerError as error:
        answer, problem = {}, str(error)
    fresh = database.made_fresh = problem is None
    return database, Barrier(
        fresh=fresh,
        index_id=str(answer.get("index_id")) if fresh else None,
        generation=answer.get("generation") if fresh else None,
        guarantee=str(answer.get("guarantee")) if fresh else None,
        problem=problem,
        took_ms=round((time.perf_counter() - started) * 1000, 3),
    )


def _hold_against(database: Database, answer: Mapping[str, Any]) -> tuple[Database, str | None]:
    """Find the file that the daemon has made fresh; gives why it is not there, None when it is."""
    if answer.get("fresh") is not True:
        return database, _why_not(database, answer)
    if _holds(database, answer):
        return database, None
    try:
        anew = open_database(database.path)
    except WikiqError as error:
        return database, str(error)  # what is open can still be asked
    database.close()
    if _holds(anew, answer):
        return anew, None
    if "index" not in answer:
        return anew, "the daemon does not say which file it writes; restart it"
    return anew, WRITES_ANOTHER if _writes_another(anew, answer) else "the index was replaced meanwhile"


def _holds(database: Database, answer: Mapping[str, Any]) -> bool:
    """Tell whether the daemon's answer is about the file that is open, and is in it."""
    if database.immutable or database.is_replaced() or _writes_another(database, answer):
        return False
    try:
        with database.snapshot() as snapshot:
            return snapshot.index_id == answer.get("index_id") and snapshot.generation >= answer["generation"]
    except WikiqError:
        return False  # damaged: the question itself will say so


def _writes_another(database: Database, told: Mapping[str, Any]) -> bool:
    return database.identity is None or told.get("index") != [*database.identity]


def _why_not(database: Database, answer: Mapping[str, Any]) -> str:
    """Say what keeps the index from being fresh; what is open in another one does not matter here."""
    state = read_state(database.folder)
    if "index" in state and not database.is_replaced() and _writes_another(database, state):
        return WRITES_ANOTHER
    is_open = answer.get("open")
    problem = ", ".join(map(str, is_open)) if isinstance(is_open, list) else str(answer.get("error", ""))
    return problem or "the daemon did not say why"


class _NoAnswerError(Exception):
    """Nobody answered; the message says who and why."""


def _exchange(database: Database, timeout_s: float) -> dict[str, Any]:
    give_up_at = time.monotonic() + timeout_s
    line = b""
    try:
        with _connected(database.folder, give_up_at) as connection:
            left_s = max(0.0, give_up_at - time.monotonic())
            request = {"protocol": PROTOCOL, "ask": "fresh", "timeout_s": left_s}
            connection.settimeout(left_s + GRACE_S)
            connection.sendall(json.dumps(request).encode() + b"\n")
            while not line.endswith(b"\n") and len(line) < LARGEST_ANSWER:
                received = connection.recv(LARGEST_ANSWER)
                if not received:
                    break
                line += received
    except TimeoutError:
        raise _NoAnswerError("the daemon does not answer") from None
    except OSError as error:
        raise _NoAnswerError(f"the daemon cannot be asked ({error.strerror})") from None
    try:
        answer = json.loads(line)
    except ValueError:
        raise _NoAnswerError("the daemon answers only its own user" if not line else "no answer") from None
    if not isinstance(answer, dict) or (answer.get("fresh") is True and not _is_whole(answer)):
        raise _NoAnswerError("the daemon answers something else")
    return answer


def _is_whole(answer: Mapping[str, Any]) -> bool:
    return isinstance(answer.get("generation"), int)


def _connected(folder: str, give_up_at: float) -> socket:
    """Reach the daemon of an index folder; one that holds the lock and does not listen yet is waited for."""
    while True:
        state = read_state(folder)
        path = state.get("control")
        if isinstance(path, str):
            connection = socket(AF_UNIX)
            try:
                connection.settimeout(max(0.0, give_up_at - time.monotonic()) + GRACE_S)
                connection.connect(path)
                return connection
            except OSError as error:
                connection.close()
                if not isinstance(error, FileNotFoundError | ConnectionRefusedError):
                    raise
        if not writer_is_running(folder):
            raise _NoAnswerError("the daemon is not running")
        if time.monotonic() >= give_up_at:
            has_none = "control" in state and path is None
            raise _NoAnswerError(NO_SOCKET if has_none else NOT_LISTENING)
        sleep(PAUSE_S)
