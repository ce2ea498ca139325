"""The measures of the viewer: until it is ready, a list of hits, and its memory; a page is in `page`."""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

from tests.benchmarks.live import resident_bytes
from tests.benchmarks.ratio import CannotMeasureError, Ratio, alternate, seconds
from tests.benchmarks.reader import QUESTION, QUESTION_ROUNDS, run
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import ensure_built
from tests.wikiq.asking import answer
from wikiq.answers.search import search
from wikiq.index.database import open_database
from wikiq.model.request import SearchRequest

BARE_SERVER: Final = """
import asyncio, uvicorn
async def app(scope, receive, send): pass
server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="none", http="h11"))
async def main():
    serving = asyncio.create_task(server.serve())
    while not server.started: await asyncio.sleep(0.01)
    print("ready", flush=True)
    await serving
asyncio.run(main())
"""


@contextmanager
def started(command: list[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and the line it printed when it was ready."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def serve_command(setting: Setting) -> list[str]:
    return [str(Path(sys.executable).with_name("wikiq")), "serve", "--db", str(ensure_built(setting))]


class Client:
    """One connection to a viewer, as a browser keeps it."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=60)
        token = parts.query.partition("=")[2]
        self._headers = {"Cookie": f"wikiq-{parts.port}={token}", "X-Part": "main"}

    def get(self, path: str) -> None:
        self._connection.request("GET", path, headers=self._headers)
        answered = self._connection.getresponse()
        answered.read()
        if answered.status != 200:
            raise RuntimeError(f"{path}: {answered.status}")

    def close(self) -> None:
        self._connection.close()


def viewer_ready(setting: Setting) -> Ratio:
    """`wikiq serve` until it prints its address, against a Python that imports sqlite3."""

    def start() -> float:
        began = time.perf_counter()
        with started(command):
            return time.perf_counter() - began

    command = serve_command(setting)
    subject, baseline = alternate(
        start,
        partial(seconds, partial(run, [sys.executable, "-c", "import sqlite3"])),
        setting.rounds,
    )
    return Ratio("viewer ready / import sqlite3", setting.corpus, "s", subject, baseline, 12.0)


def viewer_hits(setting: Setting) -> Ratio:
    """A list of hits as HTML over a connection, against the same search in process."""
    request = SearchRequest(query=QUESTION, prefix=True)
    with (
        started(serve_command(setting)) as (_, address),
        closing(Client(address)) as client,
        closing(open_database(str(ensure_built(setting)))) as index,
    ):
        subject, baseline = alternate(
            partial(seconds, partial(client.get, f"/?{urlencode({'q': QUESTION})}")),
            partial(seconds, partial(answer, index, search, request)),
            setting.at_least(QUESTION_ROUNDS),
        )
    return Ratio("viewer hits / library search", setting.corpus, "s", subject, baseline, 1.5)


def viewer_memory(setting: Setting) -> Ratio:
    """Resident memory of a viewer that has answered once, against a bare uvicorn."""
    if not Path("/proc/self/status").exists():
        raise CannotMeasureError("/proc is Linux's")
    with started(serve_command(setting)) as (process, address):
        with closing(Client(address)) as client:
            client.get("/")
        idle = resident_bytes(process.pid)
    with started([sys.executable, "-c", BARE_SERVER]) as (process, _):
        bare = resident_bytes(process.pid)
    return Ratio("viewer memory / uvicorn", setting.corpus, "B", (float(idle),), (float(bare),), 3.0)
