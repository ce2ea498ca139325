"""Names that lead out of the wiki: no question makes a reader open a file, whoever wrote the index."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wikiq.asking import answer
from tests.wikiq.running import run_wikiq
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.answers.pages import page
from wikiq.errors import WikiqError
from wikiq.index.database import open_database
from wikiq.model.results import json_form

CANARY = "canary-of-a-file-outside"
PARTS = st.sampled_from(
    ("..", ".", "/", "//", "secret", "secret.md", "%2e%2e", "\x00", "~", "a", "#", "$HOME", "\\", "...", "\n")
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    folder = tmp_path_factory.mktemp("paths")
    (folder / "secret.md").write_text(f"# {CANARY}\n")
    made = write_sample(folder, [SamplePage("a.md", "# A\n\n## Secret\n\nwords\n")])
    (made.root / "unindexed.md").write_text(f"# {CANARY}\n")
    return made


@given(st.lists(PARTS, max_size=8).map("/".join) | st.lists(PARTS, max_size=8).map("".join))
def test_a_page_is_looked_up_in_the_index_and_never_opened_by_its_name(index: SampleIndex, name: str) -> None:
    with closing(open_database(str(index.db))) as database:
        try:
            shown = str(json_form(answer(database, page, name, folder=str(index.root))))
        except WikiqError as error:
            shown = str(error)
        assert CANARY not in shown


@pytest.mark.parametrize(
    "name", ["../secret", "../secret.md", "unindexed", "/etc/passwd", "../../../../etc/passwd"]
)
def test_the_command_shows_nothing_that_is_not_indexed(index: SampleIndex, name: str) -> None:
    for words in (("show", name), ("show", name, "--raw"), ("outline", name), ("open", name)):
        done = run_wikiq(*words, index=index, EDITOR="cat")
        assert done.status in (1, 2), words
        assert CANARY not in done.out
        assert "root:" not in done.out


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "b/../../secret.md"])
def test_an_index_that_names_files_outside_its_root_opens_none(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text(f"# {CANARY}\n")
    made = write_sample(tmp_path, [SamplePage("a.md", "# A\n\nwords\n")])
    with closing(sqlite3.connect(made.db)) as writer:
        writer.execute("UPDATE page SET path = ?", (path,))
        writer.commit()
    for words in (("show", "a"), ("words",), ("open", "a"), ("pages",)):
        done = run_wikiq(*words, index=made, EDITOR="cat")
        assert CANARY not in done.out
        assert "root:" not in done.out


@pytest.mark.parametrize("root", ["+!touch pwned", "", "-c", "."])
def test_an_index_whose_root_is_not_absolute_gives_an_editor_nothing(tmp_path: Path, root: str) -> None:
    """`vim '+!touch pwned/a.md'` would run a command."""
    made = write_sample(tmp_path, [SamplePage("a.md", "# A\n\nwords\n")])
    made.alter("UPDATE meta SET value = ? WHERE key = 'root'", root)
    below = made.root / root
    below.mkdir(exist_ok=True)
    page_there = below / "a.md"
    page_there.write_text("# A\n\nwords\n")
    done = run_wikiq("open", "a", "--db", str(made.db), index=made, EDITOR="echo")
    assert (done.status, done.out) == (2, "")
    assert "the root of this index; rebuild the index" in done.err


def test_a_page_that_became_a_link_out_of_the_root_is_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(f"# {CANARY}\n")
    made = write_sample(tmp_path, [SamplePage("a.md", "# A\n\nwords\n")])
    (made.root / "a.md").unlink()
    (made.root / "a.md").symlink_to(secret)
    done = run_wikiq("open", "a", index=made, EDITOR="cat")
    assert done.status == 2
    assert CANARY not in done.out


def test_the_editor_is_given_the_file_itself_behind_the_end_of_options(tmp_path: Path) -> None:
    made = write_sample(tmp_path, [SamplePage("a.md", "# A\n\nwords\n")])
    done = run_wikiq("open", "a", index=made, EDITOR="echo")
    assert (done.status, done.out) == (0, f"+1 -- {os.path.realpath(made.root)}/a.md\n")
