"""The one place where text of the wiki meets a terminal: cleaned, styled, linked, written.

Titles, headings and excerpts come from files that anybody may have written (spec 5.5). Renderers
give spans of plain text; control characters are replaced here and nowhere else.
"""

from __future__ import annotations

import errno
import os
import time

from indexerd.contract.record import Record
from wikiq.model.printable import printable_line, printable_text
from wikiq.output.wrapping import width_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import IO

PLAIN, BOLD, FAINT, PLACE, MATCH, WARNING = "", "1", "2", "36", "1;33", "31"  # SGR parameters
NARROWEST, WIDEST = 40, 100  # columns of running text
HANGING = 4  # columns by which a line that is too long goes on below
USUAL_ROWS = 24  # of a terminal that was never told its size
# Terminals that are known to follow OSC 8; others may print it.
_LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"})
_LINKING_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_FIRST_LINKING_VTE = 5000  # VTE 0.50
_UNQUOTED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class Span(Record):
    """Text in one style. `target` is the absolute path of the file it leads to."""

    text: str
    style: str = PLAIN
    target: str | None = None


class Screen:
    """An output stream, and what it can show. `columns` are those of running text, `width` all there are."""

    def __init__(
        self,
        stream: IO[str],
        *,
        is_terminal: bool,
        colours: bool,
        links: bool,
        columns: int,
        rows: int = USUAL_ROWS,
        width: int | None = None,
    ) -> None:
        self.stream = stream
        self.is_terminal = is_terminal
        self.columns = columns
        self.width = width or columns
        self.rows = rows
        self._colours = colours
        self._links = links

    def onto(self, stream: IO[str]) -> Screen:
        """Give a screen that shows the same on another stream, such as a pager's."""
        return Screen(
            stream,
            is_terminal=self.is_terminal,
            colours=self._colours,
            links=self._links,
            columns=self.columns,
            rows=self.rows,
            width=self.width,
        )

    def line(self, *spans: Span | str) -> None:
        """Write one line."""
        self.stream.write("".join(map(self._shown, spans)) + "\n")

    def wrapped(self, *spans: Span | str) -> None:
        """Write one line; on a terminal too narrow for it, several that break at blanks, indented below."""
        whole = "".join(span if isinstance(span, str) else span.text for span in spans)
        if not self.is_terminal or width_of(whole) <= self.width:
            self.line(*spans)
            return
        hanging = HANGING + (len(whole) - len(whole.lstrip(" ")))
        for number, (start, end) in enumerate(wrap(whole, self.width - hanging)):
            self.line(" " * hanging if number else "", *_cut(spans, start, end))

    def fields(self, *texts: str) -> None:
        """Write one line of fields with tabs between them."""
        self.stream.write("\t".join(map(printable_line, texts)) + "\n")

    def text(self, text: str) -> None:
        """Write running text; as it is where no terminal is looking, cleaned on one."""
        self.stream.write(printable_text(text) if self.is_terminal else text)

    def pause(self, seconds: float) -> None:
        """Write out what was said and wait; BrokenPipeError as soon as nobody reads any more.

        Whoever only writes learns that with the next thing to say, which may never come.
        """
        from select import POLLERR, POLLHUP, poll

        self.stream.flush()
        reader = poll()
        reader.register(self.stream.fileno(), 0)  # these two are told without being asked for
        events = [event for _, event in reader.poll(seconds * 1000)]
        if any(event & (POLLERR | POLLHUP) for event in events):
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        if events:
            time.sleep(seconds)  # a stream that cannot be polled answers at once

    def _shown(self, span: Span | str) -> str:
        if isinstance(span, str):
            return printable_line(span)
        shown = printable_line(span.text)
        if self._colours and span.style and shown:
            shown = f"\x1b[{span.style}m{shown}\x1b[0m"
        if self._links and span.target is not None:
            shown = f"\x1b]8;;{file_url(span.target)}\x1b\\{shown}\x1b]8;;\x1b\\"
        return shown


def open_screen(stream: IO[str], environ: Mapping[str, str]) -> Screen:
    """Find out what `stream` can show."""
    is_terminal = stream.isatty()
    width, rows = _size(stream) if is_terminal else (WIDEST, USUAL_ROWS)
    is_plain = not is_terminal or environ.get("TERM", "dumb") == "dumb"
    return Screen(
        stream,
        is_terminal=is_terminal,
        colours=not is_plain and not environ.get("NO_COLOR"),
        links=not is_plain and follows_links(environ),
        columns=min(width, WIDEST),
        rows=rows,
        width=width,
    )


def follows_links(environ: Mapping[str, str]) -> bool:
    """Tell whether the terminal is known to understand OSC 8; FORCE_HYPERLINK decides over it."""
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    if environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS:
        return True
    if environ.get("TERM", "").startswith(("xterm-kitty", "alacritty", "foot", "tmux", "screen")):
        return not environ["TERM"].startswith(("tmux", "screen"))  # what is around them is not known
    vte = environ.get("VTE_VERSION", "")
    if vte.isdecimal() and int(vte) >= _FIRST_LINKING_VTE:
        return True
    return any(name in environ for name in _LINKING_VARIABLES)


def file_url(path: str) -> str:
    """Write an absolute path as a URL that a terminal can carry."""
    return "file://" + "".join(chr(b) if b in _UNQUOTED else f"%{b:02X}" for b in os.fsencode(path))


def joined(parts: Iterable[str]) -> str:
    """Join a heading path for people."""
    return " > ".join(parts)


def counted(number: int, noun: str) -> str:
    """Say how many there are of what has a regular plural."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _size(stream: IO[str]) -> tuple[int, int]:
    """Columns and rows; a terminal that was never told its size says 0."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        columns = rows = 0
    return max(columns or WIDEST, NARROWEST), rows or USUAL_ROWS


def _cut(spans: Iterable[Span | str], start: int, end: int) -> Iterator[Span | str]:
    """Give what of a line stands between two places, in its styles."""
    at = 0
    for span in spans:
        text = span if isinstance(span, str) else span.text
        piece = text[max(start - at, 0) : max(end - at, 0)]
        if piece:
            yield piece if isinstance(span, str) else span.replace(text=piece)
        at += len(text)
