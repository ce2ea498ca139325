"""Which index is meant, from where one stands and what one names."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from indexerd.contract.places import index_folder
from indexerd.contract.which_index import KnownIndex
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.errors import ForeignIndexError, NoIndexError, UsageError
from wikiq.index.locate import list_indexes, open_index, pick_named


def place(tmp_path: Path, name: str, root: Path | None = None, folder: str | None = None) -> SampleIndex:
    """An index called `name`; `root` and the name of its folder as they would be elsewhere."""
    index = write_sample(tmp_path, [SamplePage("a.md", f"# {name}\n")], name=name)
    if root is not None:
        root.mkdir(parents=True, exist_ok=True)
        index.alter("UPDATE meta SET value = ? WHERE key = 'root'", str(root))
    if folder is not None:
        moved = index.db.parent.rename(index.db.parent.with_name(folder))
        return SampleIndex(root or index.root, moved / "index.db")
    return index


def found(tmp_path: Path, folder: Path | str, **asked: str | None) -> str:
    """The name of the wiki that is opened from `folder`."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    variable = asked.pop("variable", None)
    if variable is not None:
        environ["WIKIQ_DB"] = variable
    named = {"db": None, "wiki": None} | asked
    database = open_index(db=named["db"], wiki=named["wiki"], environ=environ, folder=str(folder))
    try:
        with database.snapshot() as snapshot:
            return snapshot.wiki
    finally:
        database.close()


def test_the_deepest_root_around_the_folder_is_meant(tmp_path: Path) -> None:
    outer = place(tmp_path, "outer")
    inner = outer.root / "deep" / "my wiki"
    place(tmp_path, "inner", root=inner, folder="my_wiki-1")
    place(tmp_path, "other")
    assert found(tmp_path, outer.root) == "outer"
    assert found(tmp_path, outer.root / "deep") == "outer"
    assert found(tmp_path, inner) == "inner"
    assert found(tmp_path, inner / "below") == "inner"


def test_a_root_is_found_whatever_its_index_folder_is_called(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki", folder="moved-1")
    place(tmp_path, "other")
    assert found(tmp_path, index.root / "sub") == "wiki"


def test_a_link_to_the_root_is_the_root(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki")
    place(tmp_path, "other")
    (tmp_path / "link").symlink_to(index.root)
    assert found(tmp_path, tmp_path / "link") == "wiki"


def test_two_wikis_of_one_name_are_told_apart_by_their_roots(tmp_path: Path) -> None:
    one = place(tmp_path, "notes", root=tmp_path / "one" / "notes", folder="notes-a")
    two = place(tmp_path / "second", "notes", root=tmp_path / "two" / "notes", folder="notes-b")
    two.db.parent.rename(one.db.parent.with_name("notes-b"))
    assert {index.root for index in list_indexes({"XDG_STATE_HOME": str(tmp_path / "state")})} == {
        str(one.root),
        str(two.root),
    }
    with pytest.raises(NoIndexError) as raised:
        found(tmp_path, "/", wiki="notes")
    assert str(raised.value) == (
        f"notes: more than one wiki is meant; name one of them: {one.root} or {two.root}"
    )
    one.alter("UPDATE meta SET value = 'first' WHERE key = 'name'")
    assert found(tmp_path, "/", wiki=str(one.root)) == "first"
    assert found(tmp_path, "/", wiki=str(two.root)) == "notes"
    assert found(tmp_path, two.root) == "notes"


def test_a_wiki_goes_by_its_root_as_it_is_reached_from_the_folder(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki")
    place(tmp_path, "other")
    (tmp_path / "link").symlink_to(index.root)
    (index.root / "other").mkdir()  # a name goes before a folder
    for wiki in (f"{index.root}/", "../wiki", ".", "../link"):
        assert found(tmp_path, index.root, wiki=wiki) == "wiki"
    assert found(tmp_path, index.root, wiki="other") == "other"
    with pytest.raises(NoIndexError, match="this name or folder; name one with --wiki or --db: other"):
        found(tmp_path, index.root, wiki="./other")


def test_two_indexes_of_one_root_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    known = [KnownIndex(path=f"/state/{name}/index.db", root="/notes", wiki="notes") for name in ("a b", "c")]
    with pytest.raises(NoIndexError, match=r"name one of them: 'a b' or c$"):
        pick_named(known, "notes", "/")


def test_a_name_that_begins_like_the_root_is_not_the_root(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki")
    place(tmp_path, "other")
    beside = index.root.with_name("wiki2")
    with pytest.raises(NoIndexError, match="is in none of the indexed wikis"):
        found(tmp_path, beside)


def test_a_folder_without_an_index_is_told_to_build_one_and_that_a_wiki_may_have_moved_here(
    tmp_path: Path,
) -> None:
    gone = place(tmp_path, "wiki").root
    place(tmp_path, "other")
    beside = gone.with_name("notes")
    remedy = "index it with `indexerd build`; or name one with --wiki or --db: other "
    with pytest.raises(NoIndexError, match=remedy):
        found(tmp_path, beside)
    gone.rename(beside)
    moved = f"; if it is {gone}, moved: `indexerd move {gone} .`; or name one with"
    with pytest.raises(NoIndexError, match=re.escape(moved)):
        found(tmp_path, beside)


def test_the_only_index_is_meant_from_anywhere(tmp_path: Path) -> None:
    place(tmp_path, "wiki")
    assert found(tmp_path, "/") == "wiki"


def test_without_any_index_the_remedy_is_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError, match="there is no index yet; run `indexerd build`"):
        found(tmp_path, "/")


def test_several_indexes_and_none_here_are_listed(tmp_path: Path) -> None:
    roots = [place(tmp_path, name).root for name in ("one", "two")]
    with pytest.raises(NoIndexError) as raised:
        found(tmp_path, "/")
    assert all(f"{root.name} ({root})" in str(raised.value) for root in roots)


def test_what_is_named_goes_before_what_is_found(tmp_path: Path) -> None:
    one, two, three = (place(tmp_path, name) for name in ("one", "two", "three"))
    assert found(tmp_path, one.root, db=str(two.db)) == "two"
    assert found(tmp_path, one.root, db=str(two.db.parent)) == "two"
    assert found(tmp_path, one.root, wiki="two") == "two"
    assert found(tmp_path, one.root, variable=str(two.db)) == "two"
    assert found(tmp_path, one.root, variable="") == "one"
    assert found(tmp_path, one.root, variable=str(two.db), wiki="three") == "three"
    assert found(tmp_path, one.root, variable=str(two.db), db=str(three.db)) == "three"


def test_a_named_index_that_is_not_there_is_not_replaced_by_another(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki")
    with pytest.raises(NoIndexError, match="there is no index"):
        found(tmp_path, index.root, db=str(tmp_path / "none.db"))
    with pytest.raises(NoIndexError, match="this name or folder; name one with --wiki or --db: wiki"):
        found(tmp_path, index.root, wiki="wikki")
    with pytest.raises(UsageError, match="cannot be combined"):
        found(tmp_path, index.root, db=str(index.db), wiki="wiki")


def test_an_index_that_cannot_be_read_is_not_replaced_by_another_in_its_own_root(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    newer = place(tmp_path, "notes", root=root, folder=index_folder(str(root)))
    place(tmp_path, "other")
    newer.alter("UPDATE meta SET value = '2.0' WHERE key = 'contract'")
    with pytest.raises(ForeignIndexError, match="this wikiq reads 1; update wikiq"):
        found(tmp_path, root / "below")
    assert found(tmp_path, tmp_path / "elsewhere") == "other"


def test_a_damaged_neighbour_and_a_forgotten_index_hide_only_themselves(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki")
    broken = index.db.parent.with_name("broken-1")
    broken.mkdir()
    (broken / "index.db").write_bytes(b"no database at all" * 100)
    foreign = index.db.parent.with_name("foreign-1")
    foreign.mkdir()
    sqlite3.connect(foreign / "index.db").execute("CREATE TABLE moz_places(x)").connection.close()
    place(tmp_path, "gone", folder=".gone-1")
    (index.db.parent.parent / "empty").mkdir()
    (index.db.parent.parent / "file").touch()
    assert found(tmp_path, index.root) == "wiki"
    assert [known.wiki for known in list_indexes({"XDG_STATE_HOME": str(tmp_path / "state")})] == ["wiki"]
    with pytest.raises(ForeignIndexError):
        found(tmp_path, index.root, db=str(foreign / "index.db"))


def test_a_relative_state_home_is_none(tmp_path: Path) -> None:
    index = place(tmp_path, "wiki")
    local = tmp_path / ".local" / "state"
    local.parent.mkdir()
    (tmp_path / "state").rename(local)
    environ = {"XDG_STATE_HOME": "state", "HOME": str(tmp_path)}
    assert [known.path for known in list_indexes(environ)] == [
        str(local / "indexerd" / index.db.parent.name / "index.db")
    ]
