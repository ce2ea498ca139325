"""What is kept from one command to the next: hits by their number, and the advice of the day."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.terminal import run_on_terminal
from tests.wikiq.running import environment, run_on_screen, run_wikiq, running_daemon
from tests.wikiq.sample_index import SampleIndex
from wikiq.shell.remembered import ShownHit, is_advice_due, recall_hits, remember_hits

HITS = (ShownHit(db="/i.db", wiki=None, name="a.md:3"), ShownHit(db=None, wiki="/w", name="b.md"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "ttyname", lambda _: "/dev/pts/7")


@pytest.mark.usefixtures("terminal")
def test_hits_are_kept_for_their_terminal_in_a_private_folder(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    remember_hits(environ, HITS)
    assert recall_hits(environ) == HITS
    folder = tmp_path / ".local" / "state" / "wikiq"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


@pytest.mark.usefixtures("terminal")
def test_hits_of_a_session_that_has_ended_are_not_those_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"HOME": str(tmp_path)}
    remember_hits(environ, HITS)
    monkeypatch.setattr(os, "getsid", lambda _: 1)
    assert recall_hits(environ) == ()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("text", ["", "[]", "{", '{"hits": 3}'])
def test_what_cannot_be_read_was_never_there(tmp_path: Path, text: str) -> None:
    environ = {"HOME": str(tmp_path)}
    remember_hits(environ, HITS)
    (tmp_path / ".local" / "state" / "wikiq" / "hits-pts-7.json").write_text(text)
    assert recall_hits(environ) == ()


@pytest.mark.usefixtures("terminal")
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for environ in ({"HOME": str(tmp_path / "file")}, {"HOME": str(tmp_path), "XDG_STATE_HOME": "/proc"}):
        remember_hits(environ, HITS)
        assert recall_hits(environ) == ()
        assert is_advice_due(environ, "/w")


def test_advice_is_due_once_a_day_for_a_wiki(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert [is_advice_due(environ, root) for root in ("/a", "/a", "/b", "/a")] == [True, False, True, False]


def shown(*arguments: str, index: SampleIndex, **more: str) -> list[str]:
    _, seen = run_on_screen(*arguments, index=index, NO_COLOR="1", **more)
    return seen.decode().replace("\r\n", "\n").splitlines()


def test_how_to_start_a_daemon_is_told_once_and_after_that_in_two_words(index: SampleIndex) -> None:
    first, again = shown("agent", index=index), shown("agent", index=index)
    assert [line for line in first if "start it with" in line]
    assert not [line for line in again if line.startswith("wikiq:")]
    assert " not followed, " in again[-1]
    assert "not followed" in shown("topics", index=index)[0]
    assert "start it with" in run_wikiq("agent", index=index).err


def test_a_screen_shows_as_many_hits_as_fit_and_says_how_many_there_are(index: SampleIndex) -> None:
    with running_daemon(index):
        assert shown("agent", index=index)[-1].startswith("3 pages \N{MIDDLE DOT} ")
        assert shown("agent", "--limit", "1", index=index)[-1].endswith("--limit 3")


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """An editor that writes down what it is told."""
    program = tmp_path / "editor"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    program.chmod(0o755)
    return program


def told(editor: Path) -> list[str]:
    return (editor.parent / "told").read_text().splitlines()


def on_one_terminal(index: SampleIndex, *commands: str, **more: str) -> list[str]:
    """What is seen of several commands, one after the other on the same terminal."""
    wikiq = f"{sys.executable} -m wikiq.main"
    settings = environment(index.root.parent, TERM="xterm", PAGER="cat", NO_COLOR="1", **more)
    with running_daemon(index):
        _, seen = run_on_terminal("; ".join(f"{wikiq} {one}" for one in commands), index.root, settings)
    return seen.splitlines()


def test_a_number_is_a_hit_of_the_last_search_on_this_terminal(index: SampleIndex, editor: Path) -> None:
    seen = on_one_terminal(index, "agent --limit 2", "show 2 --raw", "open 2", EDITOR=str(editor))
    assert seen[-4:-1] == ["# Guide", "", "How to install the agent."]
    assert told(editor) == ["+3", "--", str(index.root / "guide" / "README.md")]
    seen = on_one_terminal(index, "agent --limit 2", "show 3")
    assert seen[-1].startswith(
        "wikiq: 3: there is no such page, and no hit of that number in the last search"
    )


def test_a_page_that_is_called_like_a_number_goes_first(index: SampleIndex) -> None:
    index.alter("UPDATE page SET slug = '2' WHERE slug = 'paths'")
    assert "# Path normalization" in on_one_terminal(index, "agent --limit 2", "show 2 --raw")


def test_search_opens_a_hit_by_its_number(index: SampleIndex, editor: Path) -> None:
    done = run_wikiq("search", "agent", "--open", "2", index=index, EDITOR=str(editor))
    assert (done.status, done.out) == (0, "")
    assert told(editor) == ["+3", "--", str(index.root / "guide" / "README.md")]


def test_a_number_that_no_hit_has_opens_nothing(index: SampleIndex) -> None:
    done = run_wikiq("search", "agent", "--open", "9", index=index, EDITOR="true")
    assert (done.status, done.err.splitlines()[-1]) == (1, "wikiq: the search has 3 hits")
