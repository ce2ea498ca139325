"""`wikiq mcp` as a process: standard input to standard output, until the client has gone.

Started on each conversation of an agent, so it imports what it needs when it needs it.
"""

from __future__ import annotations

import os
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
        server.serve(read_lines(sys.stdin.buffer))
    return 0


def _stop(_number: int, _frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _StoppedError
