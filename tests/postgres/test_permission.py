"""docs/postgresql.md run as it stands: row-level policies on pages reach what is searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.documents import blocks
from tests.imports import REPOSITORY
from tests.postgres.fed import ask, feed
from tests.postgres_server import Server
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import run_wikiq

QUERY, OWN_INDEX, POLICIES = blocks(REPOSITORY / "docs" / "postgresql.md", "sql")
PAGES = {
    "public/a.md": "# A\n\nWorkers are cancelled here, see [b](../secret/b.md).\n\n## Cancellation\n\nS.\n",
    "secret/b.md": "---\naliases: [Payroll]\n---\n# B\n\nWorkers are paid here, zanzibar.\n",
    "secret/c.md": "---\ntopics: [public, runs]\n---\n# C\n\n## Cancellation\n\nWorkers.\n",
}


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    return build_wiki(tmp_path_factory.mktemp("permission"), PAGES)


@pytest.fixture(scope="module")
def ann(server: Server, wiki: BuiltWiki) -> str:
    """The address of a reader who may see some pages; the schema is that of the document."""
    feed(server.url(), wiki.index.db)
    for statement in (POLICIES, OWN_INDEX):
        ask(server.url(), statement)
    return server.url(user="ann")


def found(url: str, wiki: BuiltWiki, *words: str) -> Any:
    done = run_wikiq(*words, "--json", "--db", url, index=wiki.index)
    assert done.status in (0, 1), done.err
    return json.loads(done.out)


def test_the_query_of_the_document_finds_the_section(ann: str, server: Server) -> None:
    assert ask(server.url(), QUERY) == [("secret/c.md", 6)]


def test_a_reader_finds_only_the_pages_that_the_policy_lets_through(
    ann: str, server: Server, wiki: BuiltWiki
) -> None:
    every = found(server.url(), wiki, "search", "workers")
    some = found(ann, wiki, "search", "workers")
    assert {hit["path"] for hit in every["hits"]} == set(PAGES)
    assert {hit["path"] for hit in some["hits"]} == {"public/a.md", "secret/c.md"}
    assert some["total"] == 2


@pytest.mark.parametrize("words", ["zanzibar", "Payroll", "secret/b.md", '"paid here"', "zanzi", "zanzibra"])
def test_a_hidden_page_is_found_by_nothing_that_is_typed(ann: str, wiki: BuiltWiki, words: str) -> None:
    assert "secret/b.md" not in json.dumps(found(ann, wiki, "search", words)["hits"])


@pytest.mark.parametrize("command", ["pages", "chunks", "changes --since 0", "backlinks public/a", "check"])
def test_a_hidden_page_is_in_no_list(ann: str, wiki: BuiltWiki, command: str) -> None:
    done = run_wikiq(*command.split(), "--db", ann, index=wiki.index)
    assert "zanzibar" not in done.out
    assert "secret/b.md" not in done.out.replace("../secret/b.md", "")


def test_a_hidden_page_is_not_there(ann: str, wiki: BuiltWiki) -> None:
    done = run_wikiq("show", "secret/b", "--db", ann, index=wiki.index)
    assert done.status == 1
    assert "there is no such page" in done.err


def test_no_table_gives_rows_of_a_hidden_page_but_those_the_document_names(ann: str) -> None:
    told = ask(
        ann,
        "SELECT table_name FROM information_schema.columns"
        " WHERE table_schema = 'wikiq' AND column_name = 'page_id'",
    )
    assert len(told) == 11
    for (table,) in told:
        rows = ask(
            ann, f"SELECT count(*) FROM wikiq.{table} WHERE page_id NOT IN (SELECT page_id FROM wikiq.page)"
        )
        assert rows == [(0,)], table


def test_the_policy_of_postings_is_asked_once_a_statement(ann: str) -> None:
    plan = ask(ann, "EXPLAIN SELECT count(*) FROM wikiq.posting")
    assert "hashed SubPlan" in "\n".join(line for (line,) in plan)


def test_a_reader_may_not_feed(ann: str, wiki: BuiltWiki, tmp_path: Path) -> None:
    done = run_wikiq("feed", ann, "--db", str(wiki.index.db), "--anew", index=wiki.index)
    assert done.status == 2
    assert "the role may not do this" in done.err
    assert done.err.count("\n") == 1
