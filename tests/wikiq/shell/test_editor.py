"""How editors are told the line."""

from __future__ import annotations

import pytest

from tests.wikiq.running import run_on_screen, run_wikiq
from tests.wikiq.sample_index import SampleIndex
from wikiq.shell.editor import editor_words


@pytest.mark.parametrize(
    "environ, words",
    [
        ({}, ["vi", "+7", "--", "/w/a.md"]),
        ({"EDITOR": ""}, ["vi", "+7", "--", "/w/a.md"]),
        ({"EDITOR": "  "}, ["vi", "+7", "--", "/w/a.md"]),
        ({"EDITOR": "nano"}, ["nano", "+7", "--", "/w/a.md"]),
        ({"EDITOR": "nano", "VISUAL": "emacsclient -t"}, ["emacsclient", "-t", "+7", "--", "/w/a.md"]),
        ({"VISUAL": "code --wait"}, ["code", "--wait", "--goto", "/w/a.md:7"]),
        ({"VISUAL": "/usr/bin/hx"}, ["/usr/bin/hx", "/w/a.md:7"]),
        ({"VISUAL": "'/my editors/kate'"}, ["/my editors/kate", "--line", "7", "/w/a.md"]),
    ],
)
def test_an_editor_is_told_the_line_in_its_own_way(environ: dict[str, str], words: list[str]) -> None:
    assert editor_words(environ, "/w/a.md", 7) == words


def test_an_editor_that_is_no_command_line_is_one_line(index: SampleIndex) -> None:
    done = run_wikiq("open", "guide", index=index, EDITOR="nonexist '")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "wikiq: nonexist ': is no command line (No closing quotation); set VISUAL or EDITOR to your editor\n"
    )


@pytest.mark.parametrize("pager", ["x '", "nonexist-pager", ""])
def test_without_a_pager_that_can_be_run_a_page_is_shown_all_the_same(index: SampleIndex, pager: str) -> None:
    status, shown = run_on_screen("show", "guide", index=index, PAGER=pager)
    assert status == 0
    assert b"How to install the agent." in shown
    assert b"Traceback" not in shown
