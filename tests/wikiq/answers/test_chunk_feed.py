"""Chunks as a listing and as a feed: what replaces what, and that a follower's copy never drifts."""

from __future__ import annotations

import json
import os
import random
import runpy
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from indexerd.contract.file import COLUMNS
from tests.imports import REPOSITORY
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import environment, run_wikiq
from wikiq.answers.chunk_feed import Cursor, FeedRow, feed_chunks, list_chunks, parse_cursor
from wikiq.errors import UsageError
from wikiq.index import sql
from wikiq.index.database import open_database
from wikiq.model.request import Filters
from wikiq.output.hits import row_json

EMBEDDER = REPOSITORY / "docs" / "embedder.py"

PAGES = {
    "a.md": "---\ntags: [x]\n---\n# A\n\nalpha\n\n## Two\n\nsecond\n",
    "b.md": "# B\n\nbeta\n",
    "empty.md": "# Empty\n",
    "sub/c.md": "---\ntags: [x, y]\n---\ngamma\n",
}


@pytest.fixture
def memory() -> Iterator[Callable[[], sqlite3.Connection]]:
    """Opens databases in memory; all are closed in the end."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(sqlite3.connect(":memory:")))


@pytest.fixture
def wiki(tmp_path: Path) -> BuiltWiki:
    return build_wiki(tmp_path, PAGES)


def feed(wiki: BuiltWiki, since: str = "0", *, topics: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
        return [
            json.loads(row_json(row))
            for row in feed_chunks(snapshot, parse_cursor(since), Filters(topics=topics))
        ]


def said(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["op"], row["slug"]) for row in rows if "slug" in row]


def test_a_listing_has_every_column_of_the_view(wiki: BuiltWiki) -> None:
    done = run_wikiq("chunks", index=wiki.index)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["slug"] for row in rows] == ["a", "a", "b", "sub/c"]
    assert set(rows[0]) == set(COLUMNS["v1_chunks"])
    assert rows[1]["embed_text"] == "A > Two\n\nsecond"
    assert (rows[1]["section_path"], rows[3]["heading_path"]) == (["Two"], ["lines 4–4"])


@pytest.mark.parametrize(
    "words, slugs",
    [
        (["--topic", "x"], ["a", "a", "sub/c"]),
        (["--topic", "x", "--topic", "y"], ["sub/c"]),
        (["--path", "sub"], ["sub/c"]),
        (["--path", "?.md", "--ndjson"], ["a", "a", "b"]),
        (["--path", "nowhere/*"], []),
    ],
)
def test_a_listing_is_filtered_like_a_search(wiki: BuiltWiki, words: list[str], slugs: list[str]) -> None:
    done = run_wikiq("chunks", *words, index=wiki.index)
    assert [json.loads(line)["slug"] for line in done.out.splitlines()] == slugs
    assert done.status == (0 if slugs else 1)


def test_a_feed_from_nothing_is_complete_and_names_pages_without_chunks(wiki: BuiltWiki) -> None:
    rows = feed(wiki)
    assert (rows[0]["op"], rows[0]["complete"], rows[0]["format"]) == ("start", True, 1)
    assert said(rows) == [
        ("replace", "a"),
        ("chunk", "a"),
        ("chunk", "a"),
        ("replace", "b"),
        ("chunk", "b"),
        ("replace", "empty"),
        ("replace", "sub/c"),
        ("chunk", "sub/c"),
    ]
    assert rows[1]["chunk_keys"] == [rows[2]["chunk_key"], rows[3]["chunk_key"]]
    assert rows[-1] == {"op": "end", "generation": 1, "cursor": f"{rows[0]['index_id']}:1"}


def test_a_feed_goes_on_with_changed_pages_and_tombstones(wiki: BuiltWiki) -> None:
    cursor = feed(wiki)[-1]["cursor"]
    assert said(feed(wiki, cursor)) == []
    wiki.bring(PAGES | {"b.md": "# B\n\nbeta, changed\n", "d.md": "delta\n"})
    wiki.bring({path: text for path, text in PAGES.items() if path != "a.md"} | {"d.md": "delta\n"})
    rows = feed(wiki, cursor)
    assert rows[0]["complete"] is False
    assert said(rows) == [
        ("delete", "a"),
        ("replace", "b"),
        ("chunk", "b"),
        ("replace", "d"),
        ("chunk", "d"),
    ]
    assert said(feed(wiki, rows[-1]["cursor"])) == []


def test_a_page_that_no_longer_passes_the_filters_is_taken_back(wiki: BuiltWiki) -> None:
    rows = feed(wiki, topics=("x",))
    assert said(rows) == [
        ("replace", "a"),
        ("chunk", "a"),
        ("chunk", "a"),
        ("replace", "sub/c"),
        ("chunk", "sub/c"),
    ]
    wiki.bring(PAGES | {"a.md": "# A\n\nalpha\n"})
    assert said(feed(wiki, rows[-1]["cursor"], topics=("x",))) == [("delete", "a")]


def test_a_cursor_of_another_index_starts_over_and_a_bare_generation_cannot(wiki: BuiltWiki) -> None:
    for unknown in ("0123456789abcdef:1", f"{feed(wiki)[0]['index_id']}:99"):
        rows = feed(wiki, unknown)
        assert (rows[0]["since"], rows[0]["complete"]) == (0, True)
    with pytest.raises(UsageError, match="start over with 0"):
        feed(wiki, "99")
    wiki.index.alter("UPDATE meta SET value = 1 WHERE key = 'changes_floor'")
    wiki.bring(PAGES | {"d.md": "delta\n"})
    wiki.index.alter("UPDATE meta SET value = 2 WHERE key = 'changes_floor'")
    with pytest.raises(UsageError, match="from generation 2 to 2"):
        feed(wiki, "1")
    assert feed(wiki, f"{feed(wiki)[0]['index_id']}:1")[0]["complete"] is True


@pytest.mark.parametrize(
    "text, cursor",
    [
        ("0", Cursor(generation=0)),
        ("12", Cursor(generation=12)),
        ("ab:3", Cursor(generation=3, index_id="ab")),
    ],
)
def test_a_cursor_is_a_generation_with_or_without_its_index(text: str, cursor: Cursor) -> None:
    assert parse_cursor(text) == cursor


@pytest.mark.parametrize(
    "text", ["", "-1", "x", ":3", "ab:", "1.5", "²", "9" * 20, "9" * 5000], ids=lambda text: text[:30]
)
def test_what_is_no_cursor_is_refused(wiki: BuiltWiki, text: str) -> None:
    with pytest.raises(UsageError):
        parse_cursor(text)
    assert run_wikiq("chunks", f"--since={text}", index=wiki.index).status == 2


def test_all_of_a_feed_is_of_one_state_whatever_is_committed_meanwhile(wiki: BuiltWiki) -> None:
    with closing(open_database(str(wiki.index.db))) as database:
        with database.snapshot() as snapshot:
            rows: Iterator[FeedRow] = feed_chunks(snapshot, Cursor(generation=0))
            next(rows)
            wiki.index.alter("DELETE FROM chunk")  # two SQLites in one process share no locks
            assert len([row for row in rows if row.op == "chunk"]) == len(list(list_chunks(snapshot)))
        with database.snapshot() as snapshot:
            assert list(list_chunks(snapshot)) == []


def test_pages_are_looked_up_a_few_at_a_time(wiki: BuiltWiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikiq.answers.chunk_feed.PAGES_AT_ONCE", 1)
    assert said(feed(wiki)) == said(feed(wiki))
    assert len(said(feed(wiki))) == 8
    assert "LIMIT ?" in sql.SELECT_PAGES_TO_EMBED


def _edited(pages: dict[str, str], source: random.Random) -> dict[str, str]:
    """One random edit: a page comes, goes, moves, or one of its paragraphs changes."""
    edited = dict(pages)
    path = source.choice(sorted(edited)) if edited else ""
    kind = source.choice(["add", "change", "change", "change", "remove", "move"]) if edited else "add"
    if kind == "add":
        new = f"p{source.randrange(40)}.md"
        paragraphs = [f"word{source.randrange(9)} " * source.randrange(150) for _ in range(8)]
        edited[new] = f"# {new}\n\n" + "\n\n".join(paragraphs) + "\n"
    elif kind == "change":
        paragraphs = edited[path].split("\n\n")
        paragraphs[source.randrange(len(paragraphs))] = f"edit {source.randrange(1000)}"
        edited[path] = "\n\n".join(paragraphs)
    else:
        text = edited.pop(path)
        if kind == "move":
            edited[f"moved/{path}" if "/" not in path else path.rpartition("/")[2]] = text
    return edited


@pytest.mark.slow
def test_after_200_random_edits_the_embedder_has_what_one_made_from_nothing_has(
    wiki: BuiltWiki, memory: Callable[[], sqlite3.Connection]
) -> None:
    embedder = runpy.run_path(str(EMBEDDER))

    def chunks_since(cursor: str) -> Iterator[str]:
        with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
            for row in feed_chunks(snapshot, parse_cursor(cursor)):
                yield row_json(row)

    def tables(db: sqlite3.Connection) -> list[list[Any]]:
        return [
            db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall() for table in ("chunk", "both")
        ]

    def opened() -> sqlite3.Connection:
        db = memory()
        embedder["follow"](db, chunks_since)
        db.execute("CREATE TEMP VIEW both AS SELECT * FROM vector JOIN chunk USING (chunk_key)")
        return db

    source = random.Random(6)
    follower, pages, embedded = opened(), dict(PAGES), 0
    for step in range(200):
        pages = _edited(pages, source)
        wiki.bring(pages)
        if step % 5 == 4:
            embedded += embedder["follow"](follower, chunks_since)
    anew = opened()
    assert tables(follower) == tables(anew)
    assert 0 < embedded < 200 * 3
    assert embedder["follow"](follower, chunks_since) == 0


def test_the_embedder_does_not_pay_again_for_pages_that_went_and_came_back(
    wiki: BuiltWiki, memory: Callable[[], sqlite3.Connection]
) -> None:
    embedder = runpy.run_path(str(EMBEDDER))
    db = memory()

    def chunks_since(cursor: str) -> Iterator[str]:
        with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
            for row in feed_chunks(snapshot, parse_cursor(cursor)):
                yield row_json(row)

    def count(table: str) -> int:
        (rows,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(rows)

    assert embedder["follow"](db, chunks_since) > 0
    vectors = count("vector")
    wiki.bring({})
    assert embedder["follow"](db, chunks_since) == 0
    assert (count("chunk"), count("vector"), count("unused")) == (0, vectors, vectors)
    wiki.bring(PAGES)
    assert embedder["follow"](db, chunks_since) == 0
    assert (count("vector"), count("unused")) == (vectors, 0)
    wiki.bring({})
    embedder["follow"](db, chunks_since)
    db.execute("UPDATE unused SET since = since - ?", (embedder["KEEP_DAYS"] + 1,))
    embedder["follow"](db, chunks_since)
    assert (count("vector"), count("unused")) == (0, 0)


def test_the_embedder_tells_how_it_is_called_and_hands_options_on(wiki: BuiltWiki, tmp_path: Path) -> None:
    folder = Path(sys.executable).parent
    variables = environment(tmp_path, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, str(EMBEDDER), *arguments]
        return subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)

    told = run("--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert "VECTORS.db" in told.stdout
    assert list(tmp_path.glob("-*")) == []
    assert run().returncode == 2
    done = run("vectors.db", "--db", str(wiki.index.db))
    assert done.returncode == 0
    assert done.stdout.endswith(" embedded\n")
    assert not done.stdout.startswith("0 ")
