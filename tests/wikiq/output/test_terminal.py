"""Nothing that a page holds can steer the terminal; styles and links only where they are understood."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.model.printable import printable_line, printable_text
from wikiq.output.terminal import (
    BOLD,
    PLAIN,
    Screen,
    Span,
    file_url,
    follows_links,
    open_screen,
)

HOSTILE = (
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]8;;https://evil.example\x1b\\x",
    "\x1b[2J",
    "\x9b31m",
    "a\rb",
    "a\x08b",
    "\u202egpj.exe",
    "\u2066x\u2069",
    "\x7f",
    "\u200f",
    "\u2028",
    "\x00",
)


def screen(*, is_terminal: bool = True, styled: bool = True) -> tuple[Screen, io.StringIO]:
    stream = io.StringIO()
    return Screen(stream, is_terminal=is_terminal, colours=styled, links=styled, columns=80), stream


def steers(text: str) -> bool:
    """Whether a character of `text` is a control or reorders its neighbours, by Unicode's own word."""
    reordering = {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI"}
    return any(
        unicodedata.category(sign) in ("Cc", "Zl", "Zp")
        or unicodedata.bidirectional(sign) in reordering
        or sign in "\u200e\u200f\u061c"
        for sign in text
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_what_steers_a_terminal_is_replaced(text: str) -> None:
    out, stream = screen(styled=False)
    out.line(text, Span(text=text, style=BOLD, target="/x"))
    out.fields(text, text)
    out.text(text)
    assert not steers(stream.getvalue().replace("\n", "").replace("\t", ""))


@given(st.text())
def test_no_text_steers_a_terminal_and_letters_stay_as_they_are(text: str) -> None:
    line, running = printable_line(text), printable_text(text)
    assert not steers(line)
    assert not steers(running.replace("\n", "").replace("\t", ""))
    seen = "".join(sign for sign in text if not 0xE0000 <= ord(sign) < 0xE0080)  # tag characters are dropped
    assert len(line) == len(seen)
    if not steers(seen):
        assert line == running == seen


def test_a_field_cannot_end_its_line_or_its_neighbour() -> None:
    out, stream = screen(is_terminal=False)
    out.fields("a\tb", "c\nd\r")
    assert stream.getvalue() == "a b\tc d \n"


def test_running_text_is_exact_where_no_terminal_looks() -> None:
    out, stream = screen(is_terminal=False)
    out.text("a\r\n\x1b[1mb")
    assert stream.getvalue() == "a\r\n\x1b[1mb"


def test_styles_and_links_surround_the_cleaned_text() -> None:
    out, stream = screen()
    out.line(Span(text="x\x1b", style=BOLD, target="/a b/ü.md"), Span(text="y", style=PLAIN))
    assert stream.getvalue() == (
        "\x1b]8;;file:///a%20b/%C3%BC.md\x1b\\\x1b[1mx\N{REPLACEMENT CHARACTER}\x1b[0m\x1b]8;;\x1b\\y\n"
    )


def test_a_path_with_undecodable_bytes_still_makes_a_url() -> None:
    assert file_url("/a\udcff;\x07b") == "file:///a%FF%3B%07b"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "environ, coloured",
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),  # no-color.org: when not an empty string
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_colours_follow_term_and_no_color(environ: dict[str, str], coloured: bool) -> None:
    stream = Terminal()
    open_screen(stream, environ).line(Span(text="x", style=BOLD))
    assert ("\x1b[" in stream.getvalue()) is coloured


def test_a_pipe_gets_neither_colours_nor_links() -> None:
    stream = io.StringIO()
    open_screen(stream, {"TERM": "xterm", "FORCE_HYPERLINK": "1"}).line(
        Span(text="x", style=BOLD, target="/x")
    )
    assert stream.getvalue() == "x\n"


@pytest.mark.parametrize(
    "environ, follows",
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4800"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "foot"}, True),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7200"}, False),
        ({"TERM": "xterm", "WT_SESSION": "x"}, True),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_links_go_to_terminals_that_are_known_to_follow_them(environ: dict[str, str], follows: bool) -> None:
    assert follows_links(environ) is follows


def test_a_line_that_is_too_long_for_a_terminal_breaks_at_blanks_and_goes_on_indented() -> None:
    out, stream = screen(styled=False)
    words = "word " * 30
    out.wrapped("  ", Span(text="place.md:3", style=BOLD), f"  {words.strip()}")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("  place.md:3  word")
    assert all(line.startswith("      word") and line.endswith("word") for line in lines[1:])


def test_a_line_that_breaks_keeps_its_styles_and_a_pipe_gets_it_whole() -> None:
    out, stream = screen()
    out.wrapped(Span(text="bold " * 20, style=BOLD))
    assert stream.getvalue().count("\x1b[1m") == 2
    pipe, piped = screen(is_terminal=False, styled=False)
    pipe.wrapped("word " * 30)
    assert piped.getvalue() == "word " * 30 + "\n"
