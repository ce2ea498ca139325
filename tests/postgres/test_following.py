"""`wikiq feed --follow`: goes on while servers are restarted, feeders killed and files replaced."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.feeder import run
from tests.crash.process import wait_until
from tests.postgres.fed import ask, differences
from tests.postgres_server import Server, find_programs, running_server
from tests.store.wiki import bring, open_store
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import command, environment

FED_S = 60.0
PAGES = {"a.md": "# A\n\nWorkers are cancelled here.\n"}


@pytest.fixture
def own_server(server: Server) -> Iterator[Server]:
    """A server that the test may stop: `server` has told whether there can be one."""
    programs = find_programs()
    assert programs is not None
    with running_server(programs) as started:
        yield started


@contextmanager
def following(url: str, wiki: BuiltWiki, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as told:
        process = subprocess.Popen(
            command("feed", url, "--follow", "--init", "--db", str(wiki.index.db)),
            env=environment(wiki.index.root.parent), stdout=told, stderr=told,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_equal(url: str, db: Path) -> None:
    def is_equal() -> bool:
        there = ask(url, "SELECT to_regclass('{s}.wiki') IS NOT NULL")[0][0]
        return bool(there and ask(url, "SELECT 1 FROM {s}.wiki")) and differences(url, db) == []

    wait_until(is_equal, FED_S, "fed")


def test_a_feeder_goes_on_after_the_server_was_restarted_and_the_index_rebuilt(
    own_server: Server, tmp_path: Path
) -> None:
    wiki = build_wiki(tmp_path, PAGES)
    url, log = own_server.url(), tmp_path / "log"
    with following(url, wiki, log) as feeder:
        wait_equal(url, wiki.index.db)
        own_server.stop()
        wiki.bring(PAGES | {"b.md": "# B\n"})
        wait_until(lambda: "waiting for it" in log.read_text(), FED_S, "told")
        own_server.start()
        wait_equal(url, wiki.index.db)
        with open_store(wiki.index.db.parent, anew=True) as store:
            bring(store, {"c.md": "# C\n"})
        wait_equal(url, wiki.index.db)
        assert feeder.poll() is None
    told = log.read_text()
    assert told.count("anew") == 2
    assert "caught up, 1 page written" in told
    assert "Traceback" not in told


def test_random_operations_with_a_feeder_that_is_killed_end_equal(own_server: Server, tmp_path: Path) -> None:
    assert run(tmp_path / "played", own_server, operations=20, kill_every=5, seed=1) >= 4
