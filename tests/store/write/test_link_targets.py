"""Which page a link means, as pages come, go and change their names."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexerd.core.sync.model import Plan, Upsert
from indexerd.store import Store
from tests.shared_data import shared_folder
from tests.store.wiki import NOON, bring, open_store, project, stamp_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path) as opened:
        yield opened


def select(store: Store, statement: str, *values: str) -> list[tuple[Any, ...]]:
    return store._connection.execute(statement, values).fetchall()


def meant(store: Store, target: str, slug: str = "from") -> str | None:
    statement = "SELECT target_slug FROM v1_links WHERE slug = ? AND target = ?"
    ((found,),) = select(store, statement, slug, target)
    return None if found is None else str(found)


def links(*targets: str) -> str:
    return "".join(f"{target} " if target.startswith("[[") else f"[x]({target}) " for target in targets)


# What a page writes, the other pages, and the slug that is meant.
CASES = {
    "the path itself": ("b.md", ("b.md",), "b"),
    "a path without extension": ("d/b", ("d/b.md",), "d/b"),
    "another case, folded": ("B.MD", ("b.md",), "b"),
    "the exact case before the folded": ("B.md", ("b.md", "B.md"), "B"),
    "the folder page": ("d/", ("d/README.md", "x.md"), "d"),
    "the folder page by its file": ("d/README.md", ("d/README.md",), "d"),
    "an index by its stem": ("d/index", ("d/index.md",), "d"),
    "the root": ("/", ("README.md", "index.md"), "README"),
    "the root without a README": ("/", ("index.md",), "index"),
    "the slug before the stem": ("d", ("d/README.md", "d.md"), "d"),
    "a loser by its path": ("d.md", ("d/README.md", "d.md"), "d.md"),
    "composed and decomposed": ("%C3%A9.md", ("e\u0301.md",), "é"),
    "a name is no path": ("b", ("d/b.md",), None),
    "a name by its file": ("[[b]]", ("d/b.md",), "d/b"),
    "a name with extension": ("[[b.md]]", ("d/b.md",), "d/b"),
    "the shortest path": ("[[b]]", ("aa/b.md", "z/b.md"), "z/b"),
    "byte order between equals": ("[[b]]", ("z/b.md", "y/b.md"), "y/b"),
    "the path before the file name": ("[[d/b]]", ("d/b.md", "c/d/b.md"), "d/b"),
    "a folder page by its folder": ("[[d]]", ("c/d/README.md",), "c/d"),
    "nothing of that name": ("[[none]]", ("b.md",), None),
}


@pytest.mark.parametrize("target, others, slug", CASES.values(), ids=CASES)
def test_a_link_means_a_page(store: Store, target: str, others: tuple[str, ...], slug: str | None) -> None:
    bring(store, {"from.md": links(target), **dict.fromkeys(others, "text")})
    assert meant(store, target.strip("[]")) == slug


def test_a_wikilink_goes_by_path_slug_alias_file_name_and_title(store: Store) -> None:
    wiki = {"from.md": "[[Name]]"}
    for path, text, slug in (
        ("titled.md", "# Name\n", "titled"),
        ("deep/down/Name.md", "", "deep/down/Name"),
        ("aliased.md", "---\naliases: [name]\n---\n", "aliased"),
        ("name.md", "", "name"),
    ):
        wiki[path] = text
        bring(store, wiki)
        assert meant(store, "Name") == slug
    for path, next_best in (
        ("name.md", "aliased"),
        ("aliased.md", "deep/down/Name"),
        ("deep/down/Name.md", "titled"),
        ("titled.md", None),
    ):
        del wiki[path]
        bring(store, wiki)
        assert meant(store, "Name") == next_best


def test_a_page_that_comes_mends_a_broken_link_without_a_look_at_where_it_stands(store: Store) -> None:
    bring(store, {"README.md": "[broken](nope.md)"})
    assert meant(store, "nope.md", "README") is None
    applied = store.apply(
        Plan(upserts=(Upsert(project("nope.md", ""), "nope", stamp_of(""), racy=False),)), committed_at=NOON
    )
    assert applied.upserted == 1
    assert meant(store, "nope.md", "README") == "nope"
    store.apply(Plan(deletes=("nope.md",)), committed_at=NOON)
    assert meant(store, "nope.md", "README") is None


def test_what_no_link_means_any_more_is_not_kept(store: Store) -> None:
    bring(store, {"a.md": links("b.md", "c.md", "[[d]]"), "z.md": links("c.md")})
    bring(store, {"a.md": links("e.md"), "z.md": links("c.md")})
    assert select(store, "SELECT path FROM target ORDER BY path") == [("c.md",), ("e.md",)]
    bring(store, {})
    assert select(store, "SELECT count(*) FROM target") == [(0,)]


def test_the_order_in_which_pages_come_does_not_matter(tmp_path: Path) -> None:
    wiki = {
        f"{folder}{name}.md": links("b.md", "[[b]]", "[[c]]", "/d/")
        for folder in ("", "d/", "e/")
        for name in "abc"
    }
    found = set()
    for seed in range(5):
        paths = sorted(wiki)
        random.Random(seed).shuffle(paths)
        with open_store(tmp_path / str(seed)) as store:
            for end in range(1, len(paths) + 1):
                bring(store, {path: wiki[path] for path in paths[:end]})
            found.add(str(select(store, "SELECT slug, target, target_slug FROM v1_links ORDER BY 1, 2")))
    assert len(found) == 1


def test_the_links_that_several_projects_agreed_on(store: Store) -> None:
    cases = json.loads((shared_folder("conformance") / "links.json").read_text("utf-8"))
    bring(store, cases["pages"])
    for case in cases["expect"]:
        rows = select(
            store,
            "SELECT target_slug, kind, fragment, external FROM v1_links WHERE slug = ? AND target = ?",
            case["from"],
            case["target"],
        )
        assert rows, case
        slug, kind, fragment, external = rows[0]
        assert slug == case.get("slug"), case
        assert kind == case.get("kind", kind), case
        assert fragment == case.get("fragment", fragment), case
        assert bool(external) == case.get("external", False), case
    for case in cases["mentions"]:
        assert select(
            store, "SELECT 1 FROM v1_mentions WHERE slug = ? AND path = ?", case["from"], case["path"]
        )
    bring(store, cases["pages"] | {"nope.md": "# Nope\n"})
    assert meant(store, "nope.md", "README") == "nope"
