"""What a server of agents adds: until its first answer, and on top of the library's search."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from tests.benchmarks.ratio import Ratio, alternate, seconds
from tests.benchmarks.reader import PROCESS_ROUNDS, QUESTION, run
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import ensure_built
from tests.wikiq.asking import answer
from wikiq.answers.search import search
from wikiq.index.database import open_database
from wikiq.model.request import SearchRequest

CALL_ROUNDS: Final = 41
HANDSHAKE: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "b", "version": "1"},
}


class Server:
    """`wikiq mcp` on an index, asked a line at a time."""

    def __init__(self, db: Path) -> None:
        command = [str(Path(sys.executable).with_name("wikiq")), "mcp", "--db", str(db)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, method: str, **params: object) -> None:
        """Send a request and wait for the line that answers it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        if b'"result"' not in self._process.stdout.readline():
            raise RuntimeError(f"{method} was refused")

    def close(self) -> None:
        self._process.communicate()


def agents_ready(setting: Setting) -> Ratio:
    """`wikiq mcp` until it has answered its first request, against a Python that imports sqlite3."""
    db = ensure_built(setting)

    def start() -> float:
        began = time.perf_counter()
        with closing(Server(db)) as server:
            server.ask("initialize", **HANDSHAKE)
            return time.perf_counter() - began

    subject, baseline = alternate(
        start,
        partial(seconds, partial(run, [sys.executable, "-c", "import sqlite3"])),
        max(setting.rounds, PROCESS_ROUNDS),
    )
    return Ratio("wikiq mcp ready / import sqlite3", setting.corpus, "s", subject, baseline, 1.3)


def agents_search(setting: Setting) -> Ratio:
    """A search of eight hits over the pipe, against the same in process; the remark has the difference."""
    db = ensure_built(setting)
    request = SearchRequest(query=QUESTION, limit=8)
    with closing(Server(db)) as server, closing(open_database(str(db))) as index:
        subject, baseline = alternate(
            partial(
                seconds,
                partial(server.ask, "tools/call", name="search", arguments={"query": QUESTION, "limit": 8}),
            ),
            partial(seconds, partial(answer, index, search, request)),
            max(setting.rounds, CALL_ROUNDS),
        )
    added = median(call - plain for call, plain in zip(subject, baseline, strict=True))
    remark = f"{1000 * added:.2f} ms more (2 aimed at)"
    return Ratio("agent's search / library search", setting.corpus, "s", subject, baseline, remark=remark)
