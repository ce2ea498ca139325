"""The loop of `wikiq mcp`: lines in, lines out, one request answered after the other.

One thread reads, so that a cancellation arrives while a statement runs; one works. Knows the protocol's
methods, no tool: those are a function that it is given.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections import deque

from wikiq.mcp.protocol import (
    BUSY,
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LONGEST_LINE,
    METHOD_NOT_FOUND,
    SUPPORTED,
    Notification,
    RefusedError,
    Request,
    parse_message,
    render_error,
    render_result,
)
from wikiq.mcp.tools import INSTRUCTIONS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO, Any

    from wikiq.mcp.calls import Calls

MOST_WAITING = 64  # requests; a client that sends more is told to wait
_FOR_THE_READER = frozenset({signal.SIGTERM, signal.SIGINT})
LAST_WAIT_S = 5.0  # for what still runs when the client has gone


class Server:
    """Answers requests from `lines` on `out` until the input ends.

    `server`: name and version; `tools`: their definitions.
    """

    def __init__(
        self,
        out: IO[bytes],
        calls: Calls,
        server: Mapping[str, str],
        tools: Sequence[Mapping[str, Any]],
    ) -> None:
        self._tools = tools
        self._out = out
        self._calls = calls
        self._server = server
        self._waiting: deque[Request] = deque()
        self._changed = threading.Condition()
        self._running: Request | None = None
        self._cancelled: Request | None = None
        self._ended = False
        self._is_gone = False  # nobody reads our output any more
        self._writing = threading.Lock()

    def serve(self, lines: Iterator[bytes]) -> None:
        """Take every line; come back when they end and what was asked is answered."""
        worker = threading.Thread(target=self._work, name="answers", daemon=True)
        # A thread inherits its mask: a signal that it took would not wake this one from its read.
        signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_READER)
        worker.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_READER)
        try:
            for line in lines:
                if self._is_gone:
                    break
                self._take(line)
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            worker.join(LAST_WAIT_S)

    def _take(self, line: bytes) -> None:
        try:
            message = parse_message(line)
            if isinstance(message, Notification):
                self._notice(message)
            elif message is not None:
                with self._changed:
                    if len(self._waiting) >= MOST_WAITING:
                        raise RefusedError(BUSY, f"{MOST_WAITING} requests wait already", number=message.id)
                    self._waiting.append(message)
                    self._changed.notify_all()
        except RefusedError as refused:
            self._write(render_error(refused))

    def _notice(self, notification: Notification) -> None:
        """A cancelled request is never answered, whether it waits or runs."""
        if notification.method != "notifications/cancelled":
            return
        number = notification.params.get("requestId")
        with self._changed:
            for request in self._waiting:
                if request.id == number:
                    self._waiting.remove(request)
                    return
            if self._running is not None and self._running.id == number:
                self._cancelled = self._running
                self._calls.cancel()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._ended:
                    self._changed.wait()
                if not self._waiting:
                    return
                request = self._running = self._waiting.popleft()
            line = self._answer(request)
            with self._changed:
                is_wanted = self._cancelled is not request
                self._running = self._cancelled = None
            if is_wanted:
                self._write(line)

    def _answer(self, request: Request) -> bytes:
        try:
            method = _METHODS.get(request.method)
            if method is None or (request.is_modern and request.method in _HANDSHAKE_ONLY):
                raise RefusedError(
                    METHOD_NOT_FOUND, f"there is no method {request.method:.60}", number=request.id
                )
            result = method(self, request)
            return render_result(request, result, self._server, cached=request.method in _CACHED)
        except RefusedError as refused:
            return render_error(refused)
        except Exception as error:  # noqa: BLE001 - one bad request costs one answer, not the conversation
            print(f"wikiq mcp: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return render_error(
                RefusedError(INTERNAL_ERROR, "the request failed; see stderr", number=request.id)
            )

    def _write(self, line: bytes) -> None:
        with self._writing:
            try:
                self._out.write(line)
                self._out.flush()
            except (BrokenPipeError, ValueError):
                self._is_gone = True

    def _initialize(self, request: Request) -> Mapping[str, Any]:
        """The handshake of the earlier era: the client's version where it is ours, else our newest."""
        wanted = request.params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": self._server,
            "instructions": INSTRUCTIONS,
        }

    def _discover(self, _request: Request) -> Mapping[str, Any]:
        capabilities: dict[str, Any] = {"tools": {}}
        return {
            "supportedVersions": list(SUPPORTED),
            "capabilities": capabilities,
            "instructions": INSTRUCTIONS,
        }

    def _ping(self, _request: Request) -> Mapping[str, Any]:
        return {}

    def _list_tools(self, _request: Request) -> Mapping[str, Any]:
        return {"tools": self._tools}

    def _call_tool(self, request: Request) -> Mapping[str, Any]:
        tool = TOOLS.get(str(request.params.get("name")))
        if tool is None:
            known = ", ".join(TOOLS)
            raise RefusedError(
                INVALID_PARAMS, f"there is no such tool; there are: {known}", number=request.id
            )
        answer = self._calls.call(tool, request.params.get("arguments"))
        result: dict[str, Any] = {"content": [{"type": "text", "text": answer.text}]}
        if answer.document is not None:
            result["structuredContent"] = answer.document
        return {**result, "isError": True} if answer.is_error else result


_METHODS: Mapping[str, Callable[[Server, Request], Mapping[str, Any]]] = {
    "initialize": Server._initialize,  # noqa: SLF001 - the table of the class above
    "server/discover": Server._discover,  # noqa: SLF001
    "ping": Server._ping,  # noqa: SLF001
    "tools/list": Server._list_tools,  # noqa: SLF001
    "tools/call": Server._call_tool,  # noqa: SLF001
}
_HANDSHAKE_ONLY = frozenset({"initialize", "ping"})
_CACHED = frozenset({"server/discover", "tools/list"})


def read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines of a stream without blank ones; of one that is too long, its beginning, which is refused."""
    while line := stream.readline(LONGEST_LINE + 2):
        rest = line
        while rest and len(line) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        if line.strip():
            yield line
