"""`--db postgresql://…`: the command's questions have the same answers as of the file."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.postgres.fed import feed
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.conftest import PAGES as SAMPLES
from tests.wikiq.mcp.session import Session
from tests.wikiq.running import Done, command, environment, run_wikiq
from wikiq.answers.chunk_feed import list_chunks
from wikiq.answers.search import search
from wikiq.errors import CancelledError
from wikiq.index.database import Database, Snapshot, open_database
from wikiq.index.postgres.database import open_postgres
from wikiq.model.request import Filters, SearchRequest
from wikiq.model.results import SearchResult

TEXTS = {page.path: page.text for page in SAMPLES} | {
    "run-lifecycle.md": "---\ntopics: [architecture, runs]\naliases: [How runs live]\n---\n"
    "# Run Lifecycle\n\nHow a run starts and ends, see [[paths]] and [none](gone.md).\n\n"
    "## Cancellation\n\nCancelling a run ends the agent's process group; "
    "`git log -p` shows C++ and src/a.py.\n\n"
    "## Retry\n\nFailed runs are retried with backoff. ABC-123, 10,000 runs.\n",
    "東京.md": "# 東京\n\n日本の首都は東京です。\n\n## ラーメン\n\nラーメンはおいしい。\n",
    "ไทย.md": "# ไทย\n\nประเทศไทยมีเมืองหลวงชื่อกรุงเทพ\n",
    "v1/guide.md": "# Versions\n\nThe same words in both.\n",
    "v2/guide.md": "# Versions\n\nThe same words in both.\n",
}
QUESTIONS = (
    "agent", "install the agent", "cancelation", "cancel", '"process group"', '"agent process"',
    "agent -install", "title:setup", "heading:retry", '"read the log" -agent', "C++", "git log -p",
    "src/a.py", "How runs live", "paths.md", "setup", "日本の首都", "ラーメン", '"首都は東京"', "東",
    "กรุงเทพ",
    "ABC123", "10000 runs", "same words in both", "backoff retried", "nothingofthekind",
    "runs starting", "the", '"the log"', "a'b\\c %s {x}", "-agent runs", "process's",
    'install "with one command"',
)  # fmt: skip


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    return build_wiki(tmp_path_factory.mktemp("asked"), TEXTS)


@pytest.fixture(scope="module")
def fed(server: Any, wiki: BuiltWiki) -> str:
    url: str = server.url(schema="asking")
    feed(url, wiki.index.db)
    return url


@pytest.fixture
def stores(wiki: BuiltWiki, fed: str) -> Iterator[tuple[Snapshot, Snapshot]]:
    """One state of the file and of PostgreSQL."""
    with ExitStack() as opened:
        databases: list[Database] = [open_database(str(wiki.index.db)), open_postgres(fed)]
        for database in databases:
            opened.enter_context(closing(database))
        yield opened.enter_context(databases[0].snapshot()), opened.enter_context(databases[1].snapshot())


def test_sections_are_as_long_in_both_stores(stores: tuple[Snapshot, Snapshot]) -> None:
    ours, theirs = (store.average_lengths() for store in stores)
    assert (ours.headings, ours.body) == pytest.approx((theirs.headings, theirs.body))


def without_time(result: SearchResult) -> SearchResult:
    return result.replace(took_ms=0.0, age_s=None, stale=False)


@pytest.mark.parametrize("sections", [False, True])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_the_same_hits_in_both_stores(
    stores: tuple[Snapshot, Snapshot], question: str, sections: bool
) -> None:
    request = SearchRequest(query=question, limit=20, sections=sections, explain=True)
    file, postgres = (without_time(search(snapshot, request)) for snapshot in stores)
    assert postgres == file


@pytest.mark.parametrize(
    "filters",
    [
        Filters(topics=("runs",)), Filters(under=("architecture",)), Filters(not_topics=("runs",)),
        Filters(paths=("guide",)), Filters(paths=("*/[sg]*.md",)), Filters(paths=("v?/guide.md", "p*")),
        Filters(links_to=("paths",)), Filters(linked_by=("run-lifecycle",)), Filters(mentions=("src/a.py",)),
        Filters(mentions=("src/",)), Filters(mentions=("one.py",)), Filters(since="2020-01-01T00:00:00.000Z"),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("question", ["", "agent run words"])
def test_filters_let_the_same_pages_through(
    stores: tuple[Snapshot, Snapshot], question: str, filters: Filters
) -> None:
    request = SearchRequest(query=question, filters=filters, limit=20)
    file, postgres = (without_time(search(snapshot, request)) for snapshot in stores)
    assert postgres == file


def test_chunks_are_rendered_alike(stores: tuple[Snapshot, Snapshot]) -> None:
    file, postgres = (list(list_chunks(snapshot)) for snapshot in stores)
    assert postgres == file


COMMANDS = (
    "show run-lifecycle", "show run-lifecycle#retry", "show paths.md:3", "outline run-lifecycle",
    "expand paths",
    "links run-lifecycle", "backlinks paths", "topics", "topics architecture", "pages", "pages --topic runs",
    "changes --since 0", "chunks", "check", "show no-such-page", "search agent --vimgrep",
    "search agent --explain",
)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_prints_the_same(words: str, wiki: BuiltWiki, fed: str) -> None:
    told = [run_wikiq(*words.split(), "--db", db, index=wiki.index) for db in (str(wiki.index.db), fed)]
    file, postgres = ((done.status, steady(done), mistakes(done)) for done in told)
    assert postgres == file


def steady(done: Done) -> str:
    """What was printed, without what is another time of day."""
    lines = done.out.splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


def mistakes(done: Done) -> list[str]:
    """What was noted, but how old the index is."""
    return [line for line in done.err.splitlines() if "daemon is not running" not in line]


def test_status_says_that_it_is_a_copy_and_when_it_was_last_seen(wiki: BuiltWiki, fed: str) -> None:
    done = run_wikiq("status", "--json", "--db", fed, "--max-age", "3600", index=wiki.index)
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert (told["mode"], told["daemon"], told["pages"]) == ("copy", "unknown", len(TEXTS))
    assert "PostgreSQL" in told["reason"]
    late = run_wikiq("status", "--json", "--db", fed, "--max-age", "0", index=wiki.index)
    assert late.status == 3
    assert "wikiq feed --follow" in json.loads(late.out)["remedy"]


@pytest.mark.parametrize("words", ["sync", "search agent --fresh"])
def test_freshness_is_refused_at_once(words: str, wiki: BuiltWiki, fed: str) -> None:
    done = run_wikiq(*words.split(), "--db", fed, "--timeout", "300", index=wiki.index)
    assert done.status == 3
    assert "this is a copy; ask on" in done.err


def test_what_only_a_file_answers_says_so_in_one_line(wiki: BuiltWiki, fed: str) -> None:
    done = run_wikiq("sql", "SELECT 1", "--db", fed, index=wiki.index)
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "index file" in done.err


def test_an_agent_asks_a_fed_wiki(wiki: BuiltWiki, fed: str, tmp_path: Path) -> None:
    with Session("--db", fed, cwd=tmp_path, environ=environment(tmp_path)) as session:
        assert "run-lifecycle.md" in session.tool("search", query="retried with backoff")
        assert "Failed runs are retried" in session.tool("read", page="run-lifecycle.md#retry")


def test_a_viewer_shows_a_page_of_a_fed_wiki(wiki: BuiltWiki, fed: str, tmp_path: Path) -> None:
    words = command("serve", "--db", fed, "--no-open")
    with subprocess.Popen(words, env=environment(tmp_path), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().strip()
            # The address gives a cookie and leads on.
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with opener.open(address, timeout=60) as answer:
                assert "Run Lifecycle" in answer.read().decode()
        finally:
            process.terminate()


def test_several_wikis_need_a_name(wiki: BuiltWiki, server: Any) -> None:
    url = server.url(schema="several")
    feed(url, wiki.index.db, wiki="one")
    feed(url, wiki.index.db, wiki="two")
    done = run_wikiq("search", "agent", "--db", url, index=wiki.index)
    assert done.status == 2
    assert "name one with --wiki: one, two" in done.err
    assert run_wikiq("search", "agent", "--db", url, "--wiki", "two", index=wiki.index).status == 0


def test_a_question_can_be_cancelled_from_another_thread(fed: str) -> None:
    with closing(open_postgres(fed)) as database:
        timer = threading.Timer(0.3, database.cancel)
        timer.start()
        with pytest.raises(CancelledError), database.snapshot() as snapshot:
            snapshot.rows("SELECT pg_sleep(30)")
        timer.join()
