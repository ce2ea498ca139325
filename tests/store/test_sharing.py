"""Who can read an index: its owner, the share group, and nobody else, whether or not a writer runs."""

from __future__ import annotations

import grp
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexerd.errors import IndexerdError
from tests.another_user import NOBODY
from tests.store.wiki import bring, open_store

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

WIKI = {"a.md": "# A\n\ntext\n"}


@pytest.fixture
def group() -> grp.struct_group:
    return next(found for found in grp.getgrall() if found.gr_gid not in (0, NOBODY))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place that everybody may pass through, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as above:
        os.chmod(above, 0o755)
        yield Path(above, "wiki")


def as_nobody(groups: list[int], action: Callable[[], str]) -> str:
    """What `action` gives when an unprivileged user does it, or the words of its failure."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        words = "neither an answer nor a failure that was expected"
        try:
            os.setgroups(groups)
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            words = action()
        except (OSError, sqlite3.Error) as error:
            words = f"{type(error).__name__}: {error}"
        finally:
            os.write(writing, words.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        words = answer.read()
    os.waitpid(child, 0)
    return words


def title(folder: Path) -> Callable[[], str]:
    def read() -> str:
        connection = sqlite3.connect(f"file:{folder / 'index.db'}?mode=ro", uri=True)
        try:
            return str(connection.execute("SELECT title FROM v1_pages").fetchone()[0])
        finally:
            connection.close()

    return read


def test_a_private_index_is_read_by_nobody_else(folder: Path, group: grp.struct_group) -> None:
    with open_store(folder) as store:
        bring(store, WIKI)
        assert "unable to open" in as_nobody([group.gr_gid], title(folder))
    assert "unable to open" in as_nobody([group.gr_gid], title(folder))


def test_a_member_of_the_group_reads_it_and_a_stranger_does_not(
    folder: Path, group: grp.struct_group
) -> None:
    with open_store(folder, share_group=group.gr_name) as store:
        bring(store, WIKI)
        assert as_nobody([group.gr_gid], title(folder)) == "A"
        assert "unable to open" in as_nobody([], title(folder))
    assert as_nobody([group.gr_gid], title(folder)) == "A"
    assert "unable to open" in as_nobody([], title(folder))


def test_a_member_of_the_group_leaves_nothing_and_changes_nothing(
    folder: Path, group: grp.struct_group
) -> None:
    with open_store(folder, share_group=group.gr_name) as store:
        bring(store, WIKI)
    before = {name: (folder / name).stat() for name in os.listdir(folder)}

    def write() -> str:
        connection = sqlite3.connect(folder / "index.db")
        connection.execute("DELETE FROM page")
        return "written"

    assert "readonly" in as_nobody([group.gr_gid], write)
    assert as_nobody([group.gr_gid], lambda: str(os.open(folder / "new", os.O_CREAT))).startswith(
        "Permission"
    )
    after = {name: (folder / name).stat() for name in os.listdir(folder)}
    assert before.keys() == after.keys()
    assert all(before[name].st_uid == after[name].st_uid == 0 for name in before)
    with open_store(folder, share_group=group.gr_name) as store:
        assert bring(store, WIKI).committed is False


def test_a_user_who_may_not_write_is_told_so_and_nothing_is_touched(
    folder: Path, group: grp.struct_group
) -> None:
    with open_store(folder, share_group=group.gr_name) as store:
        bring(store, WIKI)

    def write() -> str:
        try:
            open_store(folder).close()
        except IndexerdError as error:
            return f"{type(error).__name__}: {error}"
        return "opened"

    for groups in ([], [group.gr_gid]):
        said = as_nobody(groups, write)
        assert said.startswith("NotPermittedError: ")
        assert "run as the owner of the index" in said
        assert "\n" not in said
    with open_store(folder, share_group=group.gr_name) as store:
        assert bring(store, WIKI).committed is False
