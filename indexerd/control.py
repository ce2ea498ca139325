"""The socket of the freshness barrier: a request, and the generation that holds all that came before.

One JSON object a line each way, a connection for one request; docs/operations.md has the protocol.
Only the daemon's own user (and root) is answered. What makes an index fresh is the daemon's work.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.abc

PROTOCOL: Final = 1
DEFAULT_TIMEOUT_S: Final = 5.0
LONGEST_TIMEOUT_S: Final = 3_600.0
REQUEST_BYTES: Final = 4_096  # a request is some fifty bytes
REQUEST_PATIENCE_S: Final = 5.0  # a client that connects and says nothing is dropped
PATH_BYTES: Final = 100  # 104 on macOS, 108 on Linux, with the closing NUL
ACCEPT_AGAIN_S: Final = 0.1  # no descriptor was left for a client
MOST_CLIENTS: Final = 64  # at a time; the others wait in the socket's queue


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
Ask = Callable[[float], Awaitable[Answer]]


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


def socket_path(index: str, environ: Mapping[str, str]) -> str | None:
    """Where the socket of the index file `index` is: with the user's sockets, else beside the index.

    None where both are too long for the kernel. Readers find it in `state.json`.
    """
    candidates = [os.path.join(os.path.dirname(index), "control.sock")]
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        identity = hashlib.sha256(os.fsencode(os.path.realpath(index))).hexdigest()[:16]
        candidates.insert(0, os.path.join(runtime, "indexerd", f"{identity}.sock"))
    return next((path for path in candidates if len(os.fsencode(path)) < PATH_BYTES), None)


async def serve_barrier(
    path: str, ask: Ask, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Answers at the socket `path` until cancelled; the socket is removed then.

    `path` lies in a folder of ours that others cannot enter, under the writer's lock: what stands
    there was left by a daemon that was killed. Raises OSError when the socket cannot be made.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = await anyio.create_unix_listener(path, mode=0o600)
    slots = anyio.CapacityLimiter(MOST_CLIENTS)

    async def serve(client: anyio.abc.SocketStream) -> None:
        async with client, slots:
            # A client that goes away before its answer is its own business.
            with contextlib.suppress(
                anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError
            ):
                await _serve_one(client, ask)

    task_status.started()
    try:
        async with listener, anyio.create_task_group() as clients:
            while True:
                with contextlib.suppress(anyio.BrokenResourceError):
                    await listener.serve(serve, clients)
                await anyio.sleep(ACCEPT_AGAIN_S)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


async def _serve_one(client: anyio.abc.SocketStream, ask: Ask) -> None:
    connection = client.extra(anyio.abc.SocketAttribute.raw_socket)  # noqa: S610 - anyio's, not Django's
    if peer_user(connection) not in (os.geteuid(), 0):
        return
    line = b""
    with anyio.move_on_after(REQUEST_PATIENCE_S):
        while b"\n" not in line and len(line) <= REQUEST_BYTES:
            line += await client.receive(REQUEST_BYTES)
    try:
        timeout_s = parse_request(line.partition(b"\n")[0])
    except BadRequestError as error:
        await client.send(render_answer(error))
        return
    await client.send(render_answer(await ask(timeout_s)))


def peer_user(connection: socket.socket) -> int:
    """The user at the other end, as the kernel knows it."""
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[1])
    # struct xucred of macOS: version, uid, and more that is not needed (sys/ucred.h).
    local_peer_credentials = 1
    credentials = connection.getsockopt(0, local_peer_credentials, struct.calcsize("2I"))
    return int(struct.unpack("2I", credentials)[1])
