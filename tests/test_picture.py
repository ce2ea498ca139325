"""The picture in README shows what the commands print now, in both themes."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.tools.picture import COMMANDS, PICTURES, THEMES, drawn, pieces, session


def words(svg: str) -> list[str]:
    """The text of a picture, a line each, whatever its ages are."""
    rows = re.findall(r"<text[^>]*>(.*?)</text>", svg)
    lines = [unescape(re.sub(r"<[^>]*>", "", row)).replace("\N{NO-BREAK SPACE}", " ") for row in rows]
    return [re.sub(r"\b\d+ (s|min) old", "0 s old", line) for line in lines]


@pytest.mark.slow
def test_the_pictures_show_what_the_commands_print() -> None:
    lines = session()
    for name, theme in THEMES.items():
        kept = (PICTURES / f"terminal-{name}.svg").read_text("utf-8")
        assert words(kept) == words(drawn(lines, theme)), "run `python -m tests.tools.picture`"
        assert words(kept)[0] == f"$ {COMMANDS[0]}"


def test_a_line_is_drawn_in_its_styles_at_its_columns() -> None:
    line = "\x1b[2m 1  \x1b[0m\x1b[1ma<b\x1b[0m"
    assert list(pieces(line)) == [("2", " 1  "), ("1", "a<b")]
    svg = drawn([line], THEMES["dark"])
    assert words(svg) == [" 1  a<b"]
    assert 'x="51.6"' in svg
    assert ">a&lt;b</tspan>" in svg
