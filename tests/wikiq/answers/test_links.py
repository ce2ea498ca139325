"""Links and backlinks: what each leads to, where it stands, and how the commands print it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indexerd.contract.file import COLUMNS
from indexerd.store.file.schema import VIEWS
from tests.wikiq.asking import answer
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import run_on_screen, run_wikiq
from wikiq.answers.links import CONTEXT_CHARACTERS, backlinks, links
from wikiq.index.database import Database, open_database

A = """---
title: A
---
# A

See [b](sub/b.md#part) and [[b|the other]], ![pic](pic.png) and ![[pic.png]].
[out](https://example.org/) [gone](gone.md) ![lost](lost.png) [up](../../above.md)

[here](#a) [site](/dotnet/api/x) [rooted](/sub/b.md) [missing](/sub/gone) [page](/gone.md)
[ref] [made](sub/b.html#part) [of nothing](sub/gone.html)

[ref]: sub/b "B"
"""
PAGES = {
    "a.md": A,
    "sub/b.md": "# B\n\n## Part\n\nBack to [[A]]\r\nand [a](../a.md), [me](b.md).\n",
    "sub/c.md": "# C\n\n" + "word " * 100 + "[to a](/a.md)" + " word" * 100 + "\n",
}


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    built = build_wiki(tmp_path_factory.mktemp("links"), PAGES)
    (built.index.root / "pic.png").write_bytes(b"")
    return built


@pytest.fixture
def database(wiki: BuiltWiki) -> Iterator[Database]:
    opened = open_database(str(wiki.index.db))
    yield opened
    opened.close()


def test_every_link_says_what_it_leads_to(database: Database) -> None:
    found = {(row.line, row.target): (row.status, row.target_slug) for row in answer(database, links, "a")}
    assert found == {
        (6, "sub/b.md#part"): ("page", "sub/b"),
        (6, "b"): ("page", "sub/b"),
        (6, "pic.png"): ("file", None),
        (7, "https://example.org/"): ("external", None),
        (7, "gone.md"): ("broken", None),
        (7, "lost.png"): ("broken", None),
        (7, "../../above.md"): ("broken", None),
        (9, "#a"): ("page", "a"),
        (9, "/dotnet/api/x"): ("site", None),
        (9, "/sub/b.md"): ("page", "sub/b"),
        (9, "/sub/gone"): ("broken", None),
        (9, "/gone.md"): ("broken", None),
        (10, "sub/b"): ("page", "sub/b"),
        (10, "sub/b.html#part"): ("page", "sub/b"),
        (10, "sub/gone.html"): ("broken", None),
    }


def test_a_link_to_a_file_says_where_it_lies_as_the_disk_spells_it(tmp_path: Path) -> None:
    text = "# A\n\n![[Cat.png]] ![](../IMG/cat.png) ![](cat.png) [[a]]\n"
    wiki = build_wiki(tmp_path, {"notes/a.md": text})
    (wiki.index.root / "img").mkdir()
    (wiki.index.root / "img" / "cat.png").write_bytes(b"")
    with closing(open_database(str(wiki.index.db))) as database:
        found = [(row.status, row.file) for row in answer(database, links, "a")]
    assert found == [("file", "img/cat.png"), ("file", "img/cat.png"), ("broken", None), ("page", None)]


def test_backlinks_are_those_of_other_pages_with_their_lines(database: Database) -> None:
    found = answer(database, backlinks, "a")
    assert [(row.path, row.line, row.kind) for row in found] == [
        ("sub/b.md", 5, "wikilink"),
        ("sub/b.md", 6, "inline"),
        ("sub/c.md", 3, "inline"),
    ]
    assert [row.context for row in found[:2]] == ["Back to [[A]]", "and [a](../a.md), [me](b.md)."]


def test_of_a_long_line_the_part_around_the_link_is_shown(database: Database) -> None:
    (context,) = (row.context for row in answer(database, links, "sub/c"))
    assert len(context) == CONTEXT_CHARACTERS
    assert "[to a](/a.md)" in context


def test_links_of_a_line_come_as_they_stand_on_it(database: Database) -> None:
    targets = [row.target for row in answer(database, links, "a")]
    assert targets == [
        *("sub/b.md#part", "b", "pic.png", "pic.png"),
        *("https://example.org/", "gone.md", "lost.png", "../../above.md"),
        *("#a", "/dotnet/api/x", "/sub/b.md", "/sub/gone", "/gone.md"),
        *("sub/b", "sub/b.html#part", "sub/gone.html"),
    ]


def test_on_a_terminal_a_line_is_shown_once_below_its_links(wiki: BuiltWiki) -> None:
    _, shown = run_on_screen("links", "sub/b", index=wiki.index, NO_COLOR="1")
    lines = shown.decode().splitlines()
    assert lines[-5:] == [
        "sub/b.md:5  a",
        "    Back to [[A]]",
        "sub/b.md:6  a",
        "sub/b.md:6  sub/b",
        "    and [a](../a.md), [me](b.md).",
    ]


def test_the_commands_print_rows_and_documents(wiki: BuiltWiki) -> None:
    plain = run_wikiq("backlinks", "sub/b.md", index=wiki.index)
    assert plain.status == 0
    assert plain.out.splitlines()[:2] == ["a.md:6\tpage\tsub/b#part\tb", "a.md:6\tpage\tsub/b\tthe other"]
    rows = run_wikiq("links", "a", "--json", index=wiki.index).json["links"]
    assert len(rows) == len(links_of(wiki))
    (wiki.index.root / "sub").mkdir(exist_ok=True)
    inside = run_wikiq("backlinks", "b", index=wiki.index, cwd=wiki.index.root / "sub")
    assert inside.out.splitlines()[0] == "../a.md:6\tpage\tsub/b#part\tb"
    nothing = run_wikiq("backlinks", "sub/c", index=wiki.index)
    assert (nothing.status, nothing.out) == (1, "")


def links_of(wiki: BuiltWiki) -> list[str]:
    return run_wikiq("links", "a", "--format", "{status}", index=wiki.index).out.splitlines()


def test_of_an_index_of_an_older_contract_a_column_that_it_lacks_is_told_with_the_remedy(
    tmp_path: Path,
) -> None:
    wiki = build_wiki(tmp_path, {"a.md": "# A\n\n[[b]]\n", "b.md": "# B\n"})
    columns = ", ".join(column for column in COLUMNS["v1_links"] if column not in ("how", "ambiguous"))
    wiki.index.alter("DROP VIEW v1_links")
    wiki.index.alter(VIEWS["v1_links"].replace("v1_links", "newer_links", 1))
    wiki.index.alter(f"CREATE VIEW v1_links AS SELECT {columns} FROM newer_links")
    wiki.index.alter("UPDATE meta SET value = '1.0' WHERE key = 'contract'")
    done = run_wikiq("links", "a", index=wiki.index)
    assert (done.status, done.out) == (2, "")
    assert "has contract 1.0, which lacks what is asked for; start `indexerd run`" in done.err
    assert done.err.count("\n") == 1
    assert run_wikiq("search", "B", index=wiki.index).status == 0
