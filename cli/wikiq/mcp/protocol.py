"""The Model Context Protocol on one line each way: requests parsed, results and errors rendered. Pure.

Two eras (modelcontextprotocol.io): up to 2025-11-25 a client begins with `initialize`; since 2026-07-28
every request carries its version in `_meta`, and nothing is negotiated. Knows no tool and reads no index.
"""

from __future__ import annotations

import json

from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
MODERN_VERSIONS = ("2026-07-28",)
SUPPORTED = (*MODERN_VERSIONS, *HANDSHAKE_VERSIONS)
CACHED_MS = 3_600_000  # tools and instructions change with the program only

LONGEST_LINE = 1 << 20  # bytes of a request; the longest honest one is a few KiB
DEEPEST = 64  # brackets inside one another; Python's parser fails with RecursionError in the thousands

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, BUSY, UNSUPPORTED_VERSION = -32603, -32000, -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"


class Request(Record):
    """A line that wants an answer; `is_modern` tells in which era's form. `params` is an object."""

    id: str | int
    method: str
    params: Mapping[str, Any]
    is_modern: bool


class Notification(Record):
    """A line that wants none."""

    method: str
    params: Mapping[str, Any]


class RefusedError(Exception):
    """A line that cannot be taken: `code` and message of JSON-RPC, `id` of the request if it has one."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        number: str | int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.id = number
        self.data = data


def parse_message(line: bytes) -> Request | Notification | None:
    """Read one line; None for a response, which nobody asked for. Raises RefusedError."""
    message = _parse_json(line)
    if not isinstance(message, dict):
        raise RefusedError(
            INVALID_REQUEST, "a message is a JSON object (batches are not part of the protocol)"
        )
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, str | int | None):
        raise RefusedError(INVALID_REQUEST, "`id` is a string or a whole number")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params", {})
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RefusedError(INVALID_REQUEST, 'a request has `"jsonrpc": "2.0"` and a `method`', number=number)
    if not isinstance(params, dict):
        if "id" not in message:
            return Notification(method=method, params={})
        raise RefusedError(INVALID_PARAMS, "`params` is an object", number=number)
    if "id" not in message:
        return Notification(method=method, params=params)
    if number is None:
        raise RefusedError(INVALID_REQUEST, "`id` is a string or a whole number")
    return Request(id=number, method=method, params=params, is_modern=_is_modern(number, params))


def _parse_json(line: bytes) -> Any:
    if len(line) > LONGEST_LINE:
        raise RefusedError(INVALID_REQUEST, f"the line is longer than {LONGEST_LINE} bytes")
    if _depth(line) > DEEPEST:
        raise RefusedError(PARSE_ERROR, f"the line is nested deeper than {DEEPEST}")
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RefusedError(PARSE_ERROR, "the line is not JSON in UTF-8") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _depth(line: bytes) -> int:
    """Brackets that are open at once, those in strings among them: a bound, not a count."""
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return 0
    deepest = depth = 0
    for byte in line:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _is_modern(number: str | int, params: Mapping[str, Any]) -> bool:
    """Whether a request states its version itself; one that states another than ours is refused."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or VERSION_KEY not in meta:
        return False
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise RefusedError(INVALID_PARAMS, f"`_meta.{VERSION_KEY}` is a string", number=number)
    if version not in MODERN_VERSIONS:
        data = {"supported": list(SUPPORTED), "requested": version}
        raise RefusedError(UNSUPPORTED_VERSION, "unsupported protocol version", number=number, data=data)
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise RefusedError(INVALID_PARAMS, f"`_meta.{CAPABILITIES_KEY}` is an object", number=number)
    return True


def render_result(
    request: Request, result: Mapping[str, Any], server: Mapping[str, str], *, cached: bool = False
) -> bytes:
    """One line that answers `request`. `cached`: the client may keep it for CACHED_MS (modern era)."""
    form = dict(result)
    if request.is_modern:
        form["resultType"] = "complete"
        form["_meta"] = {SERVER_KEY: server}
        if cached:
            form |= {"ttlMs": CACHED_MS, "cacheScope": "public"}
    return _line({"jsonrpc": "2.0", "id": request.id, "result": form})


def render_error(refused: RefusedError) -> bytes:
    """One line that refuses."""
    error: dict[str, Any] = {"code": refused.code, "message": str(refused)}
    if refused.data is not None:
        error["data"] = refused.data
    form: dict[str, Any] = {"jsonrpc": "2.0"}
    if refused.id is not None:
        form["id"] = refused.id
    return _line({**form, "error": error})


def _line(message: Mapping[str, Any]) -> bytes:
    """JSON in ASCII: whatever a page holds, a line stays a line, and lone surrogates stay text."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
