"""docs/readers: the programs for other stores run as they stand, against a recorded engine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.crash.process import wait_until
from tests.imports import REPOSITORY
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import environment
from wikiq.answers.chunk_feed import list_chunks
from wikiq.index.database import open_database

READERS = REPOSITORY / "docs" / "readers"
PAGES = {"a.md": "# A\n\nFirst words.\n\n## Sub\n\nMore.\n", "b.md": "# B\n\nOther words.\n"}
SAID_S = 30.0


class Engine:
    """A search engine as far as the example uses one. `refuses`: how many requests it still turns away."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []
        self.refuses = 0

    def answer(self, path: str, kind: str, body: str) -> tuple[int, dict[str, Any]]:
        self.requests.append(path)
        lines = [json.loads(line) for line in body.splitlines()]
        if path == "/_bulk":
            assert kind == "application/x-ndjson"
            if self.refuses:
                self.refuses -= 1
                return 503, {"error": "busy"}
            for told, document in zip(lines[::2], lines[1::2], strict=True):
                assert told["index"]["_index"] == "wiki"
                self.documents[told["index"]["_id"]] = document
            return 200, {"errors": False, "items": []}
        if path == "/wiki/_delete_by_query?refresh=true":
            query = lines[0]["query"]
            every = [one["slug"] for one in self.documents.values()]
            slugs = query["terms"]["slug"] if "terms" in query else every
            kept = {name: one for name, one in self.documents.items() if one["slug"] not in slugs}
            self.documents = kept
            return 200, {"failures": []}
        assert path == "/wiki/_refresh"
        return 200, {}


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    class Requests(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, told = engine.answer(self.path, self.headers["Content-Type"], body)
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def variables(wiki: BuiltWiki) -> dict[str, str]:
    """The variables of a user, with the commands of this environment before any others."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return environment(wiki.index.root.parent) | {"PATH": path}


def feed(url: str, wiki: BuiltWiki, cursor: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(READERS / "opensearch.py")]
    return subprocess.run(
        [*program, url, "wiki", str(cursor), "--db", str(wiki.index.db)],
        env=variables(wiki),
        cwd=wiki.index.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def chunks_of(wiki: BuiltWiki) -> dict[str, str]:
    database = open_database(str(wiki.index.db))
    with database.snapshot() as snapshot:
        found = {f"{one.slug}#{one.section_id}/{one.part}": one.content for one in list_chunks(snapshot)}
    database.close()
    return found


def held(engine: Engine) -> dict[str, str]:
    return {name: document["content"] for name, document in engine.documents.items()}


def test_a_search_engine_has_the_chunks_of_the_wiki_after_every_run(tmp_path: Path) -> None:
    wiki, engine, cursor = build_wiki(tmp_path, PAGES), Engine(), tmp_path / "cursor"
    with serving(engine) as url:
        assert feed(url, wiki, cursor).returncode == 0
        assert held(engine) == chunks_of(wiki)
        wiki.bring({"a.md": "# A\n\nShorter.\n", "c.md": "# C\n\nNew.\n"})
        engine.requests.clear()
        done = feed(url, wiki, cursor)
        assert done.returncode == 0, done.stderr
        assert held(engine) == chunks_of(wiki)
        assert engine.requests.count("/_bulk") == 1
        assert feed(url, wiki, cursor).returncode == 0
        assert engine.requests.count("/_bulk") == 1


def test_a_run_that_the_engine_turns_away_is_repeated_by_the_next(tmp_path: Path) -> None:
    wiki, engine, cursor = build_wiki(tmp_path, PAGES), Engine(), tmp_path / "cursor"
    with serving(engine) as url:
        assert feed(url, wiki, cursor).returncode == 0
        seen = cursor.read_text()
        wiki.bring(PAGES | {"b.md": "# B\n\nEdited.\n"})
        engine.refuses = 1
        done = feed(url, wiki, cursor)
        assert done.returncode == 1
        assert "the next run repeats this one" in done.stderr
        assert cursor.read_text() == seen
        assert feed(url, wiki, cursor).returncode == 0
        assert held(engine) == chunks_of(wiki)


def test_a_follower_in_node_tells_every_change_and_goes_on_where_it_ended(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed: make strangers")
    wiki, said = build_wiki(tmp_path, PAGES), tmp_path / "said"
    words = ["node", str(READERS / "follow.mjs"), str(tmp_path / "cursor"), "--db", str(wiki.index.db)]

    def follow(until: str) -> None:
        with said.open("ab") as out:
            follower = subprocess.Popen(words, env=variables(wiki), stdout=out, cwd=wiki.index.root)
            try:
                wait_until(lambda: until in said.read_text(), SAID_S, until)
            finally:
                follower.terminate()
                follower.wait(SAID_S)

    follow("upsert b.md at 1")
    wiki.bring(PAGES | {"c.md": "# C\n"})
    follow("upsert c.md at 2")
    wiki.bring({"a.md": PAGES["a.md"]})
    follow("delete c.md at 3")
    told = said.read_text().splitlines()
    # A generation is passed once the next begins, so the last one seen is told again: never one less.
    assert told.count("upsert a.md at 1") == 2
    assert told[-2:] == ["delete b.md at 3", "delete c.md at 3"]
