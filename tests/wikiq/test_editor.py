"""How editors are told the line."""

from __future__ import annotations

import pytest

from wikiq.editor import editor_words


@pytest.mark.parametrize(
    "environ, words",
    [
        ({}, ["vi", "+7", "/w/a.md"]),
        ({"EDITOR": ""}, ["vi", "+7", "/w/a.md"]),
        ({"EDITOR": "  "}, ["vi", "+7", "/w/a.md"]),
        ({"EDITOR": "nano"}, ["nano", "+7", "/w/a.md"]),
        ({"EDITOR": "nano", "VISUAL": "emacsclient -t"}, ["emacsclient", "-t", "+7", "/w/a.md"]),
        ({"VISUAL": "code --wait"}, ["code", "--wait", "--goto", "/w/a.md:7"]),
        ({"VISUAL": "/usr/bin/hx"}, ["/usr/bin/hx", "/w/a.md:7"]),
        ({"VISUAL": "'/my editors/kate'"}, ["/my editors/kate", "--line", "7", "/w/a.md"]),
    ],
)
def test_an_editor_is_told_the_line_in_its_own_way(environ: dict[str, str], words: list[str]) -> None:
    assert editor_words(environ, "/w/a.md", 7) == words
