"""The stream of events, and how the server ends."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Final

import pytest

from tests.web.served import PAGES, PATIENCE_S, Served, serving, write_wiki
from tests.wikiq.running import environment, running_daemon
from wikiq.errors import CancelledError
from wikiq.index.database import Snapshot, open_database
from wikiq.web.live import MOST_SLUGS, MOST_STREAMS, Seen, Stream
from wikiq.web.questions import MOST_AT_ONCE, Questions

ENDS_WITHIN_S: Final = 10.0  # on a busy machine; a stream that held the server would hold it for ever


@contextmanager
def stream(server: Served) -> Iterator[IO[bytes]]:
    """An open stream, past its head."""
    head = f"GET /events HTTP/1.1\r\nHost: localhost:{server.port}\r\n"
    head += f"Cookie: wikiq-{server.port}={server.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as client:
        client.sendall(head.encode())
        with client.makefile("rb") as lines:
            assert lines.readline().startswith(b"HTTP/1.1 200")
            while lines.readline().strip():
                pass
            yield lines


def next_event(lines: IO[bytes]) -> tuple[str, Any]:
    """The name and the data of the next event."""
    name = ""
    while True:
        line = lines.readline().decode().strip()
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            return name, json.loads(line.removeprefix("data: "))


def shown_at(server: Served) -> dict[str, Any]:
    """What a page that is asked for now says of the index it shows."""
    found = re.search(r'data-at="([^:"]*):([0-9]+):([^"]*)"', server.get("/").text)
    assert found is not None
    return {"index_id": found[1], "generation": int(found[2]), "state": found[3]}


def test_a_stream_says_where_the_index_is_and_then_what_was_committed(tmp_path: Path) -> None:
    with serving(write_wiki(tmp_path)) as server, stream(server) as lines:
        name, first = next_event(lines)
        assert (name, first["slugs"]) == ("generation", None)
        server.wiki.bring({**PAGES, "new.md": "# New\n"})
        name, told = next_event(lines)
        assert (name, told["index_id"], told["slugs"]) == ("generation", first["index_id"], ["new"])
        assert told["generation"] > first["generation"]


def test_a_daemon_that_starts_and_stops_is_told(tmp_path: Path) -> None:
    with serving(write_wiki(tmp_path)) as server, stream(server) as lines:
        _, at_first = next_event(lines)
        with running_daemon(server.wiki.index):
            _, beside = next_event(lines)
        _, at_last = next_event(lines)
        assert beside["state"] not in {at_first["state"], at_last["state"]}
        assert beside["slugs"] == at_last["slugs"] == []


def test_a_page_and_the_first_event_name_the_same_state(tmp_path: Path) -> None:
    """What went on between the page and the stream that it opens is seen by comparing the two."""
    with serving(write_wiki(tmp_path)) as server:
        with stream(server) as lines:
            assert next_event(lines)[1] == {**shown_at(server), "slugs": None}
        with running_daemon(server.wiki.index):
            with_daemon = shown_at(server)
        with stream(server) as lines:
            assert next_event(lines)[1]["state"] != with_daemon["state"]


def test_a_stream_too_many_is_refused(tmp_path: Path) -> None:
    with serving(write_wiki(tmp_path)) as server, ExitStack() as streams:
        for _ in range(MOST_STREAMS):
            streams.enter_context(stream(server))
        assert server.head("GET /events HTTP/1.1") == 503
        assert server.head("GET / HTTP/1.1") == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_with_streams_open(tmp_path: Path, number: int) -> None:
    with serving(write_wiki(tmp_path)) as server, stream(server) as lines, stream(server):
        next_event(lines)
        started = time.monotonic()
        assert server.stop(number) == 0
        assert time.monotonic() - started < ENDS_WITHIN_S
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""


def test_events_that_nobody_took_become_one() -> None:
    async def lines_of() -> list[bytes]:
        stream = Stream()
        stream.offer(Seen(index_id="i", generation=1, slugs=("a", "b")))
        stream.offer(Seen(index_id="i", generation=2, slugs=("b", "c")))
        lines = stream.lines()
        first = await anext(lines)
        many = tuple(map(str, range(MOST_SLUGS)))
        stream.offer(Seen(index_id="i", generation=3, slugs=many))
        second = await anext(lines)
        stream.offer(Seen(index_id="i", generation=4, slugs=many))
        stream.offer(Seen(index_id="i", generation=5, slugs=("x",)))
        return [first, second, await anext(lines)]

    told = [json.loads(line.split(b"data: ")[1]) for line in asyncio.run(lines_of())]
    assert told[0] == {"index_id": "i", "generation": 2, "state": "", "slugs": ["a", "b", "c"]}
    assert len(told[1]["slugs"]) == MOST_SLUGS
    assert told[2]["slugs"] is None


def test_a_question_whose_asker_has_gone_is_interrupted(tmp_path: Path) -> None:
    db = str(write_wiki(tmp_path).index.db)
    started = threading.Event()

    def endless(snapshot: Snapshot) -> Any:
        started.set()
        forever = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        return snapshot.rows(forever)

    async def run() -> int:
        questions = Questions(lambda: open_database(db))
        task = asyncio.create_task(questions.ask(endless))
        await asyncio.to_thread(started.wait, PATIENCE_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        generation = await questions.ask(lambda snapshot: lambda: snapshot.generation)
        questions.close()
        return generation

    assert asyncio.run(run()) > 0


def test_a_ninth_question_waits_for_its_turn(tmp_path: Path) -> None:
    db = str(write_wiki(tmp_path).index.db)
    together = threading.Barrier(MOST_AT_ONCE)  # passed only by as many at once
    running: set[int] = set()
    counts: list[int] = []

    def held(_: Snapshot) -> Any:
        running.add(threading.get_ident())
        counts.append(len(running))
        together.wait(PATIENCE_S)
        running.discard(threading.get_ident())
        return lambda: None

    async def run() -> None:
        questions = Questions(lambda: open_database(db))
        await asyncio.gather(*(questions.ask(held) for _ in range(2 * MOST_AT_ONCE)))
        questions.close()

    asyncio.run(run())
    assert (len(counts), max(counts)) == (2 * MOST_AT_ONCE, MOST_AT_ONCE)


def test_questions_that_run_at_the_end_are_interrupted(tmp_path: Path) -> None:
    db = str(write_wiki(tmp_path).index.db)

    def endless(snapshot: Snapshot) -> Any:
        questions.cancel()
        return snapshot.rows(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
        )

    async def run() -> None:
        with pytest.raises(CancelledError):
            await questions.ask(endless)
        questions.close()

    questions = Questions(lambda: open_database(db))
    asyncio.run(run())


def test_a_missing_extra_is_named_with_what_installs_it(tmp_path: Path) -> None:
    hidden = (
        "import importlib.util as util\nfound = util.find_spec\n"
        "util.find_spec = lambda name: None if name == 'nh3' else found(name)\n"
        "import sys\nfrom wikiq.main import main\nsys.argv = ['wikiq', 'serve']\nmain()\n"
    )
    wiki = write_wiki(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", hidden],
        cwd=wiki.index.root,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout) == (2, "")
    told = "wikiq: wikiq serve: needs what is not installed (nh3); pip install 'indexerd[web]'\n"
    assert done.stderr == told
