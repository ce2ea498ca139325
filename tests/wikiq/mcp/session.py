"""A conversation with `wikiq mcp` over pipes, line by line, as a client without a library has it."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from wikiq.mcp.protocol import CAPABILITIES_KEY, VERSION_KEY

MODERN: Final = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}
PATIENCE_S: Final = 30.0  # for an answer on a busy machine


class Session:
    """A server process; closed at the end of the `with` block."""

    def __init__(self, *arguments: str, cwd: Path, environ: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wikiq.main", "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(environ),
            bufsize=0,
        )
        self._number = 0
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def ask(self, method: str, *, modern: bool = False, **params: Any) -> int:
        """Send a request without waiting; gives its id."""
        self._number += 1
        params = {**params, "_meta": MODERN} if modern else params
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode() + b"\n")
        return self._number

    def answer(self) -> Mapping[str, Any]:
        """The next line of the server."""
        assert self.process.stdout is not None
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
            assert ready, "no answer"
            more = self.process.stdout.read(1 << 16)
            assert more, "the server has gone"
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def request(self, method: str, *, modern: bool = False, **params: Any) -> Mapping[str, Any]:
        """Send a request and wait for the answer to it."""
        number = self.ask(method, modern=modern, **params)
        message = self.answer()
        assert message.get("id") == number, message
        return message

    def tool(self, name: str, **arguments: Any) -> str:
        """The text of a tool's answer, which must be no error."""
        result = self.request("tools/call", name=name, arguments=arguments)["result"]
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])

    def refusal(self, name: str, **arguments: Any) -> str:
        """The text of a tool's answer, which must be an error."""
        result = self.request("tools/call", name=name, arguments=arguments)["result"]
        assert result["isError"] is True
        return str(result["content"][0]["text"])

    def end(self) -> int:
        """Close the input and wait; gives the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)
