"""The freshness barrier on the control socket: request, answer, limits (docs/operations.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

PROTOCOL: Final = 1
DEFAULT_TIMEOUT_S: Final = 5.0
LONGEST_TIMEOUT_S: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Fresh:
    """All that was on disk before the request is in `generation`. `guarantee`: `scan` or `events`.

    `index`: device and inode of the file that holds it, since a copy beside it has the same `index_id`.
    """

    index_id: str
    generation: int
    guarantee: str
    index: tuple[int, int]


@dataclass(frozen=True, slots=True)
class NotFresh:
    """It could not be had in time. `open`: what is missing, for people."""

    open: tuple[str, ...]


Answer = Fresh | NotFresh


class BadRequestError(ValueError):
    """Bytes on the socket that are no request."""


def parse_request(line: bytes) -> float:
    """The time-out of a request in seconds. Raises BadRequestError."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequestError("the request is not JSON") from error
    if not isinstance(request, dict) or request.get("protocol") != PROTOCOL:
        raise BadRequestError(f"this is protocol {PROTOCOL}")
    if request.get("ask") != "fresh":
        raise BadRequestError("only `fresh` can be asked")
    timeout_s = request.get("timeout_s", DEFAULT_TIMEOUT_S)
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s >= 0:
        raise BadRequestError("timeout_s is a number of seconds")
    return min(float(timeout_s), LONGEST_TIMEOUT_S)


def render_answer(answer: Answer | BadRequestError) -> bytes:
    """One line of JSON."""
    fields: Mapping[str, Any]
    match answer:
        case Fresh():
            fields = {
                "fresh": True,
                "index_id": answer.index_id,
                "generation": answer.generation,
                "guarantee": answer.guarantee,
                "index": answer.index,
            }
        case NotFresh():
            fields = {"fresh": False, "open": list(answer.open)}
        case _:
            fields = {"fresh": False, "error": str(answer)}
    return json.dumps({"protocol": PROTOCOL, **fields}).encode() + b"\n"
