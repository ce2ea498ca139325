"""Headings -> sections: exact slices of the text, their place in the outline, their identity.

lead + the sections' heading sources and bodies are the text again, always (spec 1.5). Structure
comes from the document, identity from its path and front matter; the first never supplies the
second. Links and chunks are put in by `page`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from indexerd.contract.terms import fold_title
from indexerd.core.markdown.document import Heading
from indexerd.core.page.decode import line_offsets

PATH_SEPARATOR: Final = " > "
_BLANK: Final = " \t\r\n"  # what a blank line may hold (CommonMark 2.1); a form feed is content


class Slice(NamedTuple):
    """Where a section lies: offsets into the text in characters, lines of the file counted from 1.

    `heading` is None for the introduction. The heading's source is text[start:body_start].
    """

    heading: Heading | None
    start: int
    body_start: int
    end: int
    start_line: int
    end_line: int


def cut_sections(text: str, start: int, first_line: int, headings: Sequence[Heading]) -> tuple[Slice, ...]:
    """Cut the Markdown that begins at offset `start`, `first_line` lines into the file.

    Lines of `headings` count from there. The lead is text[:slices[0].start].
    """
    offsets = [start + offset for offset in line_offsets(text[start:])]
    lines = first_line + len(offsets) if start < len(text) else max(first_line, 1)
    offsets.append(len(text))
    slices = []
    first_heading = offsets[headings[0].start] if headings else len(text)
    if not headings or text[start:first_heading].strip(_BLANK):
        end_line = first_line + headings[0].start if headings else lines
        slices.append(Slice(None, start, start, first_heading, min(first_line + 1, lines), end_line))
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        slices.append(
            Slice(
                heading=heading,
                start=offsets[heading.start],
                body_start=offsets[heading.end],
                end=offsets[following.start] if following else len(text),
                start_line=first_line + heading.start + 1,
                end_line=first_line + following.start if following else lines,
            )
        )
    return tuple(slices)


class Place(NamedTuple):
    """A section's place in the outline: its heading path, the headings above it, the path's first level."""

    heading_path: tuple[str, ...]
    above: tuple[str, ...]
    first_level: int


def outline(headings: Iterable[Heading]) -> Iterator[Place]:
    """The ancestry of each heading, dense: a level clears all at it and below, gaps leave no hole."""
    open_headings: list[Heading] = []
    for heading in headings:
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        above = tuple(ancestor.text for ancestor in open_headings)
        if heading.text:
            open_headings.append(heading)
        path = (*above, heading.text) if heading.text else above
        yield Place(path, above, open_headings[0].level if open_headings else heading.level)


class Identity:
    """What a page is called, and which headings only name it instead of structuring it (spec 1.7)."""

    def __init__(self, title: str, aliases: Iterable[str], names: Iterable[str]) -> None:
        """`names` are those listed in the configuration: customers, products, people."""
        self._fold = cache(fold_title)  # the same few headings stand above all others of a page
        self._title = fold_title(title)
        self._own = frozenset({self._title, *map(fold_title, aliases)})
        self._names = frozenset(map(fold_title, names)) - self._own

    def is_guarded(self, place: Place) -> bool:
        """Whether the first element of the path is left off where structure is shown."""
        if not place.heading_path:
            return False
        first = self._fold(place.heading_path[0])
        return first == self._title or (place.first_level == 1 and first in self._names)

    def is_cover_sheet(self, heading: Heading) -> bool:
        """Whether a heading is a name listed in the configuration, misread as structure."""
        return heading.level == 1 and bool(self._names) and self._fold(heading.text) in self._names

    def cover_key(self, heading: Heading) -> str | None:
        """What a depth-1 heading is compared with the titles of other pages by, None for the own names."""
        if heading.level != 1:
            return None
        key = self._fold(heading.text)
        return key if key and key not in self._own else None

    def ancestors(self, above: tuple[str, ...]) -> str:
        """The headings above, joined; a first one equal to the page title is left off."""
        if above and self._fold(above[0]) == self._title:
            above = above[1:]
        return PATH_SEPARATOR.join(above)
