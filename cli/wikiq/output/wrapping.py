"""Breaks text into lines that fit a terminal, at blanks; counts columns, not characters. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDE = frozenset("WF")  # East Asian width: two columns


def wrap(text: str, columns: int) -> Iterator[tuple[int, int]]:
    """Cut a text at blanks into ranges that fit `columns`.

    A longer word is left whole, and the terminal goes on with it; a script without blanks is cut where it
    must be.
    """
    start = blank = width = 0
    for at, character in enumerate(text):
        if character == " ":
            blank = at
        width += _width(character)
        if width > columns and at > start:
            if blank <= start and text[at - 1 : at + 1].isascii():
                continue
            end = blank if blank > start else at
            yield start, end
            start = end + 1 if blank == end else end
            width = sum(map(_width, text[start : at + 1]))
    if start < len(text):
        yield start, len(text)


def width_of(text: str) -> int:
    """Count the columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if character.isascii():
        return 1
    from unicodedata import combining, east_asian_width

    return 0 if combining(character) else 2 if east_asian_width(character) in _WIDE else 1
