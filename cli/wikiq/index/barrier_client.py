"""Asks the daemon to bring the index up to what is on the disk now, and waits for it (spec 3.6).

The daemon tells in its state where its socket is. Its answer is believed only of the file that is read:
the index may have been replaced meanwhile, and a copy beside it has the same state. Starts nothing.
"""

from __future__ import annotations

import time
from socket import AF_UNIX, socket
from time import sleep

from indexerd.contract.barrier import (
    ANSWER_BYTES,
    BadRequestError,
    Fresh,
    NotFresh,
    UnknownAnswerError,
    parse_answer,
    render_request,
)
from indexerd.contract.record import Record
from wikiq.errors import WikiqError
from wikiq.index.daemon_state import has_lock, read_state, writer_is_running
from wikiq.index.database import open_database
from wikiq.index.freshness import UPDATE, WRITES_ANOTHER, ask_there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indexerd.contract.barrier import Answer
    from wikiq.index.database import Database

PAUSE_S = 0.02  # between two looks for the socket of a daemon that is starting
GRACE_S = 1.0  # beyond the daemon's own time-out, for its answer to arrive

NOT_LISTENING = "a build is at work, or the daemon is still starting"
NO_SOCKET = "the daemon has no socket; set XDG_RUNTIME_DIR to a folder of yours"


class Barrier(Record):
    """What came of the wait.

    Fresh: all that was on the disk before is in `generation`, by `guarantee` (`scan`).
    Not fresh: `problem` says what is open. `without_text`: pages that took too much time or memory to
    parse and are tried again later, some of them where there are many.
    """

    fresh: bool
    index_id: str | None
    generation: int | None
    guarantee: str | None
    problem: str | None
    without_text: tuple[str, ...]
    took_ms: float


def make_fresh(database: Database, timeout_s: float) -> tuple[Database, Barrier]:
    """Wait until the index holds what was on the disk before this call, or `timeout_s` have passed.

    Gives the database to ask from now on: where the file was replaced, that is another one, and the
    one given is closed.
    """
    started = time.perf_counter()
    held: Fresh | None = None
    problem: str | None
    try:
        _refuse_copy(database)
        answer = _exchange(database, timeout_s)
        if isinstance(answer, NotFresh):
            problem = _why_not(database, answer)
        else:
            database, problem = _hold_against(database, answer)
            held = answer if problem is None else None
    except _NoAnswerError as error:
        problem = str(error)
    database.made_fresh = held is not None
    return database, Barrier(
        fresh=held is not None,
        index_id=held.index_id if held is not None else None,
        generation=held.generation if held is not None else None,
        guarantee=held.guarantee if held is not None else None,
        problem=problem,
        without_text=held.without_text if held is not None else (),
        took_ms=round((time.perf_counter() - started) * 1000, 3),
    )


def _hold_against(database: Database, answer: Fresh) -> tuple[Database, str | None]:
    """Find the file that the daemon has made fresh; gives why it is not there, None when it is."""
    if _holds(database, answer):
        return database, None
    try:
        anew = open_database(database.path)
    except WikiqError as error:
        return database, str(error)  # what is open can still be asked
    database.close()
    if _holds(anew, answer):
        return anew, None
    is_other = anew.identity != answer.index
    return anew, WRITES_ANOTHER if is_other else "the index was replaced meanwhile"


def _holds(database: Database, answer: Fresh) -> bool:
    """Tell whether the daemon's answer is about the file that is open, and is in it."""
    if database.immutable or database.is_replaced() or database.identity != answer.index:
        return False
    try:
        with database.snapshot() as snapshot:
            return snapshot.index_id == answer.index_id and snapshot.generation >= answer.generation
    except WikiqError:
        return False  # damaged: the question itself will say so


def _why_not(database: Database, answer: NotFresh) -> str:
    """Say what keeps the index from being fresh; what is open in another one does not matter here."""
    state = read_state(database.folder).state
    if state is not None and not database.is_replaced() and database.identity != state.index:
        return WRITES_ANOTHER
    return ", ".join(answer.open) or "the daemon did not say why"


class _NoAnswerError(Exception):
    """Nobody answered; the message says who and why."""


def _refuse_copy(database: Database) -> None:
    """Raise _NoAnswerError where nobody near the file could bring it up to date."""
    if database.is_copy or not has_lock(database.folder):
        with database.snapshot() as snapshot:
            raise _NoAnswerError(f"this is a copy; {ask_there(snapshot)}")


def _exchange(database: Database, timeout_s: float) -> Answer:
    """Ask the daemon. Raises _NoAnswerError, also for an answer that is not understood."""
    give_up_at = time.monotonic() + timeout_s
    line = b""
    try:
        with _connected(database.folder, give_up_at) as connection:
            left_s = max(0.0, give_up_at - time.monotonic())
            connection.settimeout(left_s + GRACE_S)
            connection.sendall(render_request(left_s))
            while not line.endswith(b"\n") and len(line) < ANSWER_BYTES:
                received = connection.recv(ANSWER_BYTES)
                if not received:
                    break
                line += received
    except TimeoutError:
        raise _NoAnswerError("the daemon does not answer") from None
    except OSError as error:
        raise _NoAnswerError(f"the daemon cannot be asked ({error.strerror})") from None
    if not line:
        raise _NoAnswerError("the daemon answers only its own user")
    try:
        return parse_answer(line)
    except (BadRequestError, UnknownAnswerError) as error:
        raise _NoAnswerError(str(error)) from None


def _connected(folder: str, give_up_at: float) -> socket:
    """Reach the daemon of an index folder; one that holds the lock and does not listen yet is waited for.

    The lock is looked at first: what lies beside an index of others may name any socket.
    """
    while True:
        told = read_state(folder)
        if not writer_is_running(folder):
            raise _NoAnswerError("the daemon is not running")
        if told.problem is not None:
            raise _NoAnswerError(f"{told.problem}; {UPDATE}")
        path = told.state.control if told.state is not None else None
        if path is not None:
            connection = socket(AF_UNIX)
            try:
                connection.settimeout(max(0.0, give_up_at - time.monotonic()) + GRACE_S)
                connection.connect(path)
                return connection
            except OSError as error:
                connection.close()
                if not isinstance(error, FileNotFoundError | ConnectionRefusedError):
                    raise
        if time.monotonic() >= give_up_at:
            has_none = told.state is not None and path is None
            raise _NoAnswerError(NO_SOCKET if has_none else NOT_LISTENING)
        sleep(PAUSE_S)
