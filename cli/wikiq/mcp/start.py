"""`wikiq mcp` as a process: standard input to standard output, until the client has gone.

Started on each conversation of an agent, so it imports what it needs when it needs it.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
from contextlib import suppress

from indexerd.contract.version import VERSION
from wikiq.mcp import texts
from wikiq.mcp.calls import Calls
from wikiq.mcp.server import Server, read_lines
from wikiq.mcp.tools import describe_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wikiq.mcp.calls import Form
    from wikiq.model.request import Source


class _StoppedError(Exception):
    """SIGTERM: as if the input had ended."""


class _Input(io.RawIOBase):
    """Standard input that a signal always interrupts.

    Of one that comes just before a read begins Python would learn when the read ends, which may be never; so
    what is waited for is the input or the pipe that `signal.set_wakeup_fd` writes to.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            ready, _, _ = select.select([self._descriptor, self._woken], [], [])
            if self._descriptor in ready:
                return os.readv(self._descriptor, [buffer])
            os.read(self._woken, 1)  # its handler has run by now, and did not end this


def serve(source: Source, environ: Mapping[str, str], folder: str, *, structured: bool = False) -> int:
    """Answer requests on the standard streams, as JSON where `structured`; gives the exit status."""
    signal.signal(signal.SIGTERM, _stop)
    out = os.fdopen(os.dup(1), "wb")
    # Whatever else is printed in this process must not become a message.
    sys.stdout = sys.stderr
    form: Form = texts
    outputs = None
    if structured:
        from wikiq.mcp import documents

        form, outputs = documents, documents.OUTPUT_SCHEMAS
    calls = Calls(source, environ, folder, form)
    server = Server(out, calls, {"name": "wikiq", "version": VERSION}, describe_tools(outputs))
    with suppress(_StoppedError):
        server.serve(read_lines(io.BufferedReader(_Input(sys.stdin.fileno()))))
    return 0


def _stop(_number: int, _frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _StoppedError
