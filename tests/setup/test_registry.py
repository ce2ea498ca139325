"""Where indexes are, which there are, and how they go, come back and move. The state folder tells."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from indexerd.contract.file import APPLICATION_ID, SCHEMA_VERSION
from indexerd.errors import AnotherWriterError, RootError, UsageError
from indexerd.setup.compose import find_wiki
from indexerd.setup.registry import (
    ListedIndex,
    find_index,
    forget_index,
    index_path,
    list_indexes,
    move_index,
    repository_prefix,
    resolve_root,
    revive_index,
    root_of_name,
)
from indexerd.store import Snapshot, Store
from indexerd.store.file.lock import WriterLock
from tests.another_user import as_nobody, needs_open_installation


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}


def make_index(root: Path, environ: dict[str, str], name: str | None = None) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    path = index_path(str(root), environ)
    Store.open(path, root=str(root), name=name or root.name).close()
    return path


def roots(environ: dict[str, str]) -> list[str]:
    return [index.root for index in list_indexes(environ)]


def test_an_index_has_a_place_by_its_real_root_that_people_can_read(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    root = tmp_path / "my notes (old)"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    place = index_path(str(root), environ)
    assert place == index_path(str(tmp_path / "link"), environ)
    assert place.parent.name.startswith("my_notes_old-")
    assert place.parent.parent == tmp_path / "state" / "indexerd"
    assert index_path("/", environ).parent.name.startswith("root-")
    assert index_path("/x/.hidden", environ).parent.name.startswith("hidden-")


def test_the_state_folder_is_the_register(tmp_path: Path, environ: dict[str, str]) -> None:
    assert list_indexes(environ) == ()
    make_index(tmp_path / "b", environ)
    make_index(tmp_path / "a", environ)
    (tmp_path / "state/indexerd/empty").mkdir()
    assert roots(environ) == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert [index.problem for index in list_indexes(environ)] == [None, None]


def test_an_index_whose_root_is_gone_or_that_is_damaged_is_listed_with_the_remedy(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    make_index(tmp_path / "gone", environ)
    damaged = make_index(tmp_path / "damaged", environ)
    (tmp_path / "gone").rmdir()
    damaged.write_bytes(b"x" * 10_000)
    problems = {index.wiki: index.problem or "" for index in list_indexes(environ)}
    assert "indexerd move" in problems["gone"]
    assert "indexerd forget" in problems["gone"]
    assert "damaged" in problems[damaged.parent.name]


def test_an_index_of_another_version_still_tells_its_root_and_name(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """Else a service that is named after its wiki would find nothing to renew after an upgrade."""
    path = make_index(tmp_path / "notes", environ, name="given")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    (index,) = list_indexes(environ)
    assert (index.wiki, index.root) == ("given", str(tmp_path / "notes"))
    assert index.problem is not None
    assert f"indexerd build {tmp_path / 'notes'}" in index.problem
    assert root_of_name("given", environ) == str(tmp_path / "notes")
    assert find_wiki(str(tmp_path / "notes"), {}, environ).name == "given"


def test_an_index_whose_writer_died_before_it_made_a_table_is_listed(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = make_index(tmp_path / "notes", environ)
    for file in path.parent.glob("index.db*"):
        file.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
    (index,) = list_indexes(environ)
    assert index.problem is not None
    assert "indexerd build" in index.problem


@needs_open_installation
def test_an_index_folder_of_somebody_else_hides_no_other_index() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        environ = {"HOME": name, "XDG_STATE_HOME": name}
        with as_nobody():
            closed = make_index(Path(name) / "closed", environ)
            make_index(Path(name) / "open", environ)
        os.chmod(closed.parent, 0)
        with as_nobody():
            problems = {index.wiki: index.problem for index in list_indexes(environ)}
        os.chmod(closed.parent, 0o700)
    assert problems["open"] is None
    assert "the access is refused" in (problems[closed.parent.name] or "")


def test_an_index_is_found_by_root_link_or_name(tmp_path: Path, environ: dict[str, str]) -> None:
    root = tmp_path / "notes"
    make_index(root, environ, name="personal")
    (tmp_path / "link").symlink_to(root)
    for wanted in (str(root), str(tmp_path / "link"), "personal"):
        assert find_index(wanted, environ).root == str(root)
    with pytest.raises(UsageError, match="there are: personal"):
        find_index("other", environ)


def test_a_name_that_two_indexes_have_is_not_enough(tmp_path: Path, environ: dict[str, str]) -> None:
    make_index(tmp_path / "a/docs", environ)
    make_index(tmp_path / "b/docs", environ)
    with pytest.raises(UsageError, match=r"more than one.*a/docs or .*b/docs"):
        find_index("docs", environ)
    with pytest.raises(UsageError, match=r"more than one.*a/docs or .*b/docs"):
        root_of_name("docs", environ)
    assert find_index(str(tmp_path / "a/docs"), environ).root == str(tmp_path / "a/docs")


def test_a_name_is_not_enough_where_a_folder_is_called_so_too(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--purge` removes what is meant: `./notes` is never taken for the wiki `notes`, nor the other way."""
    make_index(tmp_path / "far/notes", environ)
    make_index(tmp_path / "here/notes", environ, name="journal")
    monkeypatch.chdir(tmp_path / "here")
    for meaning in (find_index, root_of_name):
        with pytest.raises(UsageError, match=r"notes: more than one.*here/notes or .*far/notes"):
            meaning("notes", environ)
    assert find_index("./notes", environ).wiki == "journal"
    assert find_index("journal", environ).root == str(tmp_path / "here/notes")
    monkeypatch.chdir(tmp_path / "far")
    assert find_index("notes", environ).root == str(tmp_path / "far/notes")
    assert root_of_name("notes", environ) == "notes"


def test_a_service_is_not_run_for_a_folder_that_is_called_like_another_wiki(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(tmp_path / "far/notes", environ)
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"name one of them: \./notes or .*far/notes"):
        root_of_name("notes", environ)
    assert root_of_name("./notes", environ) == "./notes"


def test_a_forgotten_index_comes_back_with_the_next_build_and_a_purged_one_does_not(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = make_index(tmp_path / "notes", environ)
    with Snapshot.open(path) as snapshot:
        index_id = snapshot.meta["index_id"]
    forget_index(find_index("notes", environ), purge=False)
    assert list_indexes(environ) == ()
    revive_index(path)
    with Snapshot.open(path) as snapshot:
        assert snapshot.meta["index_id"] == index_id
    forget_index(find_index("notes", environ), purge=True)
    revive_index(path)
    assert os.listdir(tmp_path / "state/indexerd") == []


def test_a_forgotten_index_can_be_purged(tmp_path: Path, environ: dict[str, str]) -> None:
    make_index(tmp_path / "notes", environ)
    forget_index(find_index("notes", environ), purge=False)
    for wanted in ("notes", str(tmp_path / "notes")):
        assert find_index(wanted, environ, forgotten=True).wiki == "notes"
    with pytest.raises(UsageError):
        find_index("notes", environ)
    forget_index(find_index("notes", environ, forgotten=True), purge=True)
    assert os.listdir(tmp_path / "state/indexerd") == []


def test_forgetting_again_leaves_one_forgotten_index(tmp_path: Path, environ: dict[str, str]) -> None:
    for _ in range(2):
        make_index(tmp_path / "notes", environ)
        forget_index(find_index("notes", environ), purge=False)
    assert len(os.listdir(tmp_path / "state/indexerd")) == 1


@pytest.mark.slow
def test_an_index_that_is_being_written_is_not_forgotten(tmp_path: Path, environ: dict[str, str]) -> None:
    path = make_index(tmp_path / "notes", environ)
    lock = WriterLock.acquire(path.with_name("index.lock"))
    try:
        with pytest.raises(AnotherWriterError):
            forget_index(find_index("notes", environ), purge=True)
    finally:
        lock.release()
    assert path.exists()


def moved(index: ListedIndex, new: Path, environ: dict[str, str]) -> ListedIndex:
    move_index(index, str(new), environ)
    (found,) = [known for known in list_indexes(environ) if known.root == str(new)]
    return found


def test_an_index_moves_with_its_wiki_and_keeps_a_name_that_was_given(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    make_index(tmp_path / "old", environ)
    shutil.move(tmp_path / "old", tmp_path / "new")
    found = moved(find_index("old", environ), tmp_path / "new", environ)
    assert (found.wiki, Path(found.path)) == ("new", index_path(str(tmp_path / "new"), environ))
    make_index(tmp_path / "x", environ, name="given")
    (tmp_path / "y").mkdir()
    assert moved(find_index("given", environ), tmp_path / "y", environ).wiki == "given"


def test_an_index_of_another_version_moves_too(tmp_path: Path, environ: dict[str, str]) -> None:
    path = make_index(tmp_path / "old", environ)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    (tmp_path / "old").rename(tmp_path / "new")
    move_index(find_index("old", environ), str(tmp_path / "new"), environ)
    (index,) = list_indexes(environ)
    assert (index.wiki, index.root) == ("new", str(tmp_path / "new"))


def test_an_index_does_not_move_onto_another(tmp_path: Path, environ: dict[str, str]) -> None:
    make_index(tmp_path / "a", environ)
    make_index(tmp_path / "b", environ)
    with pytest.raises(UsageError, match="has an index of its own"):
        move_index(find_index("a", environ), str(tmp_path / "b"), environ)


def test_the_root_is_the_current_folder_unless_that_is_everything(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    monkeypatch.chdir(home / "notes")
    assert resolve_root(None, environ) == str(home / "notes")
    monkeypatch.chdir(home)
    with pytest.raises(UsageError, match="if you mean it"):
        resolve_root(None, environ)
    assert resolve_root(".", environ) == str(home)
    monkeypatch.chdir("/")
    with pytest.raises(UsageError):
        resolve_root(None, environ)


def test_a_root_without_a_name_is_a_mistake_and_not_the_current_folder(environ: dict[str, str]) -> None:
    """What `indexerd build "$WIKI"` comes to where nothing is set."""
    with pytest.raises(UsageError, match="empty"):
        resolve_root("", environ)
    with pytest.raises(UsageError, match="empty"):
        find_index("", environ)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take no such name")
def test_a_root_whose_path_no_row_can_hold_is_refused(tmp_path: Path, environ: dict[str, str]) -> None:
    root = os.path.join(tmp_path, os.fsdecode(b"caf\xe9"))
    os.mkdir(root)
    (tmp_path / "link").symlink_to(root)
    for named in (root, str(tmp_path / "link")):
        with pytest.raises(RootError, match="not valid UTF-8"):
            resolve_root(named, environ)


def test_a_root_that_is_no_folder_is_named(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RootError, match="is not a folder"):
        resolve_root(str(tmp_path / "file"), environ)
    with pytest.raises(RootError, match="does not exist"):
        resolve_root(str(tmp_path / "missing"), environ)


@pytest.mark.parametrize(
    "git, prefix", [(None, ""), (".", "docs/wiki/"), ("docs", "wiki/"), ("docs/wiki", "")]
)
def test_the_repository_is_the_nearest_folder_with_a_git_entry(
    tmp_path: Path, git: str | None, prefix: str
) -> None:
    root = tmp_path / "docs/wiki"
    root.mkdir(parents=True)
    if git is not None:
        (tmp_path / git / ".git").touch()  # a file, as in a worktree or submodule
    assert repository_prefix(str(root)) == prefix
