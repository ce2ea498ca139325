"""The socket of the freshness barrier: a request, and the generation that holds all that came before.

One JSON object a line each way, a connection for one request; docs/operations.md has the protocol.
Only the daemon's own user (and root) is answered. What makes an index fresh is the daemon's work.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio
import anyio.abc

from indexerd.contract.barrier import REQUEST_BYTES, Answer, BadRequestError, parse_request, render_answer

REQUEST_PATIENCE_S: Final = 5.0  # a client that connects and says nothing is dropped
PATH_BYTES: Final = 100  # 104 on macOS, 108 on Linux, with the closing NUL
ACCEPT_AGAIN_S: Final = 0.1  # no descriptor was left for a client
MOST_CLIENTS: Final = 64  # at a time; the others wait in the socket's queue


Ask = Callable[[float], Awaitable[Answer]]


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
    path: str, ask: Ask, log: Any, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Answers at the socket `path` until cancelled; the socket is removed then. Failures go to `log`.

    `path` lies in a folder of ours that others cannot enter, under the writer's lock: what stands
    there was left by a daemon that was killed. Raises OSError when the socket cannot be made.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = await anyio.create_unix_listener(path, mode=0o600)
    slots = anyio.CapacityLimiter(MOST_CLIENTS)

    async def serve(client: anyio.abc.SocketStream) -> None:
        async with client, slots:
            try:
                await _serve_one(client, ask)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError):
                pass  # a client that goes away before its answer is its own business
            except Exception:  # a fault of ours ends this client, never the daemon; the log tells it
                log.warning("request.failed", exc_info=True)

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
