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
from tests.crash import moves
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


# The page that links and what it writes, the other pages, the slug that is meant and by which step.
CASES = {
    # Wikilinks, step by step.
    "a path that is written out": ("a/from.md", "[[./b]]", ("a/b.md", "b.md"), "a/b", "relative"),
    "a path that goes up": ("a/c/from.md", "[[../b]]", ("a/b.md", "b.md"), "a/b", "relative"),
    "a written path and nothing else": ("a/from.md", "[[./b]]", ("b.md", "c/b.md"), None, None),
    "a slash means the root": ("a/from.md", "[[/b]]", ("a/b.md", "b.md"), "b", "root"),
    "a slash and nothing else": ("a/from.md", "[[/b]]", ("a/b.md",), None, None),
    "the root before the own folder": ("a/from.md", "[[b]]", ("a/b.md", "b.md"), "b", "root"),
    "a path from the root": ("a/from.md", "[[d/b]]", ("d/b.md", "a/d/b.md"), "d/b", "root"),
    "the own folder before others": ("zz/from.md", "[[b]]", ("a/b.md", "zz/b.md"), "zz/b", "own"),
    "a path from the own folder": ("z/from.md", "[[d/b]]", ("a/d/b.md", "z/d/b.md"), "z/d/b", "own"),
    "with its ending": ("from.md", "[[b.md]]", ("d/b.md",), "d/b", "suffix"),
    "the end of a path": ("from.md", "[[d/b]]", ("c/d/b.md", "d2/b.md"), "c/d/b", "suffix"),
    "whole names only": ("from.md", "[[d/b]]", ("cd/b.md",), None, None),
    "the nearest": ("x/y/from.md", "[[b]]", ("a/b.md", "x/long name/b.md"), "x/long name/b", "suffix"),
    "nearer by two folders": ("x/y/from.md", "[[b]]", ("x/a/b.md", "x/y/long/b.md"), "x/y/long/b", "suffix"),
    "of equals the shortest": ("from.md", "[[b]]", ("aa/b.md", "z/b.md"), "z/b", "suffix"),
    "of those byte order": ("from.md", "[[b]]", ("z/b.md", "y/b.md"), "y/b", "suffix"),
    "the exact case before the nearest": ("x/y/from.md", "[[B]]", ("a/B.md", "x/z/b.md"), "a/B", "suffix"),
    "composed and decomposed": ("from.md", "[[\u00e9]]", ("d/e\u0301.md",), "d/\u00e9", "suffix"),
    "the page of a folder": ("from.md", "[[d]]", ("c/d/README.md",), "c/d", "folder"),
    "an index": ("from.md", "[[d]]", ("c/d/_index.md",), "c/d", "folder"),
    "a README before an index": ("from.md", "[[c/d]]", ("c/d/README.md", "c/d/index.md"), "c/d", "folder"),
    "a page before a folder of its name": ("from.md", "[[d]]", ("d.md", "d/index.md"), "d.md", "root"),
    "a page named like its folder": ("from.md", "[[c/d]]", ("c/d/d.md",), "c/d/d", "folder"),
    "the nearest folder": ("x/y/from.md", "[[d]]", ("a/d/README.md", "x/z/d/index.md"), "x/z/d", "folder"),
    "the label first": ("from.md", "[[Set it up|b]]", ("d/b.md",), "d/b", "label"),
    "the label second": ("from.md", "[[b|c]]", ("b.md", "c.md"), "b", "root"),
    "no label of an embed": ("from.md", "![[None|b]]", ("b.md",), None, None),
    "no label of another file": ("from.md", "[[None.png|b]]", ("b.md",), None, None),
    "Dendron": ("from.md", "[[dendron://vault/dev.b]]", ("v/dev.b.md",), "v/dev.b", "suffix"),
    "Logseq": ("from.md", "[[a/b]]", ("pages/a___b.md",), "pages/a___b", "suffix"),
    "separators are one": ("from.md", "[[my page-now]]", ("d/My_page now.md",), "d/My_page now", "separator"),
    "a name with a number sign": ("from.md", "[[C#]]", ("d/C#.md",), "d/C#", "suffix"),
    "a heading before a number sign": ("from.md", "[[C#x]]", ("C.md", "C#x.md"), "C", "root"),
    "a bracket in a name": ("from.md", "[[a]b]]", ("a]b.md",), "a]b", "root"),
    "nothing of that name": ("from.md", "[[none]]", ("b.md",), None, None),
    # Markdown links.
    "the path itself": ("d/from.md", "[x](b.md)", ("d/b.md", "b.md"), "d/b", "relative"),
    "without its ending": ("from.md", "[x](d/b)", ("d/b.md",), "d/b", "relative"),
    "another case": ("from.md", "[x](B.MD)", ("b.md",), "b", "relative"),
    "the exact case first": ("from.md", "[x](B.md)", ("b.md", "B.md"), "B", "relative"),
    "a backslash": ("from.md", "[x](d\\b.md)", ("d/b.md",), "d/b", "relative"),
    "a folder": ("from.md", "[x](d/)", ("d/README.md", "x.md"), "d", "folder"),
    "a folder by its file": ("from.md", "[x](d/README.md)", ("d/README.md",), "d", "relative"),
    "the root": ("d/from.md", "[x](/)", ("README.md", "index.md"), "README", "folder"),
    "the root without a README": ("d/from.md", "[x](/)", ("index.md",), "index", "folder"),
    "a page before its folder": ("from.md", "[x](d)", ("d/README.md", "d.md"), "d.md", "relative"),
    "with a slash the folder": ("from.md", "[x](d/)", ("d/README.md", "d.md"), "d", "folder"),
    "percent-encoded": ("from.md", "[x](%C3%A9.md)", ("e\u0301.md",), "\u00e9", "relative"),
    "from the root after all": ("c/from.md", "[x](d/b.md)", ("d/b.md",), "d/b", "root"),
    "but not where it says dot": ("c/from.md", "[x](./d/b.md)", ("d/b.md",), None, None),
    "a slash for the ending": ("from.md", "[x](d/b/)", ("d/b.md",), "d/b", "published"),
    "html for the ending": ("d/from.md", "[x](../e/b.html)", ("e/b.md",), "e/b", "published"),
    "the index of a folder": ("from.md", "[x](d/index.html)", ("d/README.md",), "d", "published"),
    "the end of an address": ("from.md", "[x](/d/b/)", ("content/en/d/b.md",), "content/en/d/b", "site"),
    "an address with two ends": ("from.md", "[x](/d/b/)", ("x/d/b.md", "y/d/b.md"), None, None),
    "a lone word is no address": ("from.md", "[x](/b)", ("d/b.md",), None, None),
    "by name at last": ("x/y/from.md", "[x](b.md)", ("a/b.md", "x/z/b.md"), "x/z/b", "name"),
    "by the end of a path": ("x/from.md", "[x](d/b.md)", ("c/d/b.md",), "c/d/b", "name"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_link_means_a_page(
    store: Store, case: tuple[str, str, tuple[str, ...], str | None, str | None]
) -> None:
    page, target, others, slug, how = case
    bring(store, {page: target, **dict.fromkeys(others, "text")})
    statement = "SELECT target_slug, how FROM v1_links WHERE slug = ?"
    assert select(store, statement, page.removesuffix(".md")) == [(slug, how)]


@pytest.mark.parametrize(
    "field", ["permalink: /docs/old/", "url: docs/old.html", "slug: /docs/old", "aliases: [/docs/old/]"]
)
@pytest.mark.parametrize("target", ["/docs/old/", "/Docs/old/index.html", "docs/old.html"])
def test_an_address_of_the_front_matter_means_its_page(store: Store, field: str, target: str) -> None:
    bring(store, {"from.md": links(target), "a/b.md": f"---\n{field}\n---\n", "c/old.md": ""})
    assert select(store, "SELECT target_slug, how FROM v1_links") == [("a/b", "address")]


def test_a_slug_of_the_front_matter_is_the_last_part_of_an_address(store: Store) -> None:
    bring(store, {"from.md": links("/posts/brief/"), "posts/2024-long.md": "---\nslug: brief\n---\n"})
    assert select(store, "SELECT target_slug, how FROM v1_links") == [("posts/2024-long", "address")]


def test_a_wikilink_goes_by_path_file_name_label_alias_and_title(store: Store) -> None:
    wiki = {"from.md": "[[Name|other]]"}
    for path, text, slug, how in (
        ("titled.md", "# Name\n", "titled", "title"),
        ("x/aliased.md", "---\naliases: [name]\n---\n", "x/aliased", "alias"),
        ("y/other.md", "", "y/other", "label"),
        ("deep/down/Name.md", "", "deep/down/Name", "suffix"),
        ("name.md", "", "name", "root"),
    ):
        wiki[path] = text
        bring(store, wiki)
        assert select(store, "SELECT target_slug, how FROM v1_links") == [(slug, how)]
    for path, next_best in (
        ("name.md", "deep/down/Name"),
        ("deep/down/Name.md", "y/other"),
        ("y/other.md", "x/aliased"),
        ("x/aliased.md", "titled"),
        ("titled.md", None),
    ):
        del wiki[path]
        bring(store, wiki)
        assert meant(store, "Name") == next_best


def test_the_nearest_of_several_aliases_and_titles_is_meant(store: Store) -> None:
    alias, title = "---\naliases: [One]\n---\n", "# Two\n"
    wiki = {"a/b/from.md": "[[one]] [[two]]"}
    wiki |= {
        f"{folder}/{name}.md": text for folder in ("x", "a/z") for name, text in (("o", alias), ("t", title))
    }
    bring(store, wiki)
    found = select(store, "SELECT target_slug, how FROM v1_links ORDER BY target")
    assert found == [("a/z/o", "alias"), ("a/z/t", "title")]


def test_a_link_is_ambiguous_where_several_pages_are_as_near(store: Store) -> None:
    bring(
        store,
        {"from.md": "[[b]]", "x/from.md": "[[b]]", "x/y/b.md": "", "z/b.md": "", "c/from.md": "[[z/b]]"},
    )
    found = select(store, "SELECT slug, target_slug, ambiguous FROM v1_links ORDER BY slug")
    assert found == [("c/from", "z/b", 0), ("from", "z/b", 1), ("x/from", "x/y/b", 0)]


def test_what_a_name_holds_after_its_number_sign_is_no_fragment(store: Store) -> None:
    bring(store, {"from.md": "[[Issue #12]] [[b#c]] [[^d]]", "Issue #12.md": "", "b.md": ""})
    found = select(store, "SELECT target, target_slug, fragment FROM v1_links ORDER BY target")
    assert found == [("Issue #12", "Issue #12", None), ("^d", "from", "^d"), ("b#c", "b", "c")]


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
    assert select(store, "SELECT count(*) FROM target UNION ALL SELECT count(*) FROM target_key") == [
        (0,),
        (0,),
    ]


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


def test_after_any_moves_links_mean_what_an_index_made_from_nothing_says(tmp_path: Path) -> None:
    """`python -m tests.crash.moves` is the long form."""
    assert list(moves.differences(tmp_path, operations=300, seed=60)) == []


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
