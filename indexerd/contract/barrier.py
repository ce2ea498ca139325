"""The freshness barrier on the control socket: request, answer, limits (docs/operations.md).

The daemon serves it, wikiq asks. One JSON object a line each way, one request a connection. Another
protocol is said so by whoever reads it. Nothing here opens a socket.
"""

from __future__ import annotations

import json

from indexerd.contract.record import Record

# The name is what type checkers go by: importing typing costs a search as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

PROTOCOL: Final = 1
DEFAULT_TIMEOUT_S: Final = 5.0
LONGEST_TIMEOUT_S: Final = 3_600.0  # a longer wait that is asked for is this long
LARGEST_NUMBER: Final = 1e300  # what is asked for beyond it is no time-out but an attack
REQUEST_BYTES: Final = 4_096  # a request is some fifty bytes
PATHS_NAMED: Final = 20  # in an answer
ANSWER_BYTES: Final = 1 << 20  # 20 paths of 4,096 bytes, each of which JSON may write as six
GUARANTEE: Final = "scan"  # of the whole tree, begun after the request; there is no other one


class Fresh(Record):
    """All that was on disk before the request is in `generation`.

    `without_text`: pages that took too much time or memory to parse, which are tried again later.
    `index`: device and inode of the file that holds it, since a copy beside it has the same `index_id`.
    """

    index_id: str
    generation: int
    index: tuple[int, int]
    guarantee: str = GUARANTEE
    without_text: tuple[str, ...] = ()


class NotFresh(Record):
    """The index did not become fresh in time. `open`: what is missing, for people."""

    open: tuple[str, ...]


class BadRequestError(ValueError):
    """What came on the socket is not a request, or the daemon refused ours as none."""


class UnknownAnswerError(ValueError):
    """An answer of another protocol, or with values that this one cannot have; the message says which."""


Answer = Fresh | NotFresh


def render_request(timeout_s: float) -> bytes:
    """Give the line that asks for freshness within `timeout_s` seconds."""
    return json.dumps({"protocol": PROTOCOL, "ask": "fresh", "timeout_s": timeout_s}).encode() + b"\n"


def parse_request(line: bytes) -> float:
    """Read the time-out of a request in seconds. Raises BadRequestError."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequestError("the request is not JSON") from error
    if not isinstance(request, dict) or not _is_ours(request):
        raise BadRequestError(f"this is protocol {PROTOCOL}")
    if request.get("ask") != "fresh":
        raise BadRequestError("only `fresh` can be asked")
    told = request.get("timeout_s", DEFAULT_TIMEOUT_S)
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    # JSON has integers of four hundred digits, which no float holds, and Python's reads Infinity and NaN.
    if not is_number or not 0 <= told <= LARGEST_NUMBER:
        raise BadRequestError("timeout_s is a number of seconds")
    return min(float(told), LONGEST_TIMEOUT_S)


def render_answer(answer: Answer | BadRequestError) -> bytes:
    """Give the answer as one line of JSON."""
    fields: dict[str, Any]
    if isinstance(answer, Fresh):
        fields = {"fresh": True, **{name: getattr(answer, name) for name in Fresh.fields}}
    elif isinstance(answer, NotFresh):
        fields = {"fresh": False, "open": answer.open}
    else:
        fields = {"fresh": False, "error": str(answer)}
    return json.dumps({"protocol": PROTOCOL, **fields}).encode() + b"\n"


def parse_answer(line: bytes) -> Answer:
    """Read an answer. Raises BadRequestError with the daemon's message, UnknownAnswerError."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnknownAnswerError("the answer of the daemon is not JSON") from error
    if not isinstance(told, dict) or not _is_ours(told):
        theirs = ascii(told.get("protocol"))[:40] if isinstance(told, dict) else "none"
        raise UnknownAnswerError(f"the daemon speaks protocol {theirs}, where {PROTOCOL} is known here")
    if isinstance(told.get("error"), str):
        raise BadRequestError(told["error"])
    is_open = told.get("open", [])
    if told.get("fresh") is False and isinstance(is_open, list):
        return NotFresh(open=tuple(map(str, is_open)))
    place = told.get("index")
    without_text = told.get("without_text", [])
    names = (told.get("index_id"), told.get("guarantee"))
    numbers = (told.get("generation"), *(place if isinstance(place, list) else ()))
    is_whole = all(isinstance(name, str) for name in names) and all(type(n) is int for n in numbers)
    is_whole = is_whole and isinstance(without_text, list)
    if told.get("fresh") is not True or not is_whole or len(numbers) != len(("generation", "dev", "ino")):
        raise UnknownAnswerError("the daemon answers something else; restart it")
    index_id, guarantee = map(str, names)
    generation, device, inode = numbers
    return Fresh(
        index_id=index_id,
        generation=generation,
        index=(device, inode),
        guarantee=guarantee,
        without_text=tuple(map(str, without_text)),
    )


def _is_ours(told: dict[str, Any]) -> bool:
    return told.get("protocol") == PROTOCOL and type(told["protocol"]) is int
