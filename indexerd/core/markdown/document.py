"""A Markdown text as it was read: records of headings, blocks, links and tags, with their lines.

Lines are counted from 0 and half-open. What reads a text fills `Blocks`, what uses one sees a
`Document`; neither needs a parser to be imported.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from indexerd.core.model import LinkKind

References: TypeAlias = MutableMapping[str, Any]  # the link definitions of a text, as markdown-it keeps them

TABLE_HEADER_LINES: Final = 2  # the header row and the row of dashes, in every GFM table

# Where inline markup can hold something that is looked for. An autolink, a link or picture in HTML, a tag
# after a blank or an emphasis mark, a code span with a slash; `[` is a link or a wikilink. Each alternative
# begins with a literal, which the regex engine then skips to: ten times faster.
_INLINE_CANDIDATE: Final = re.compile(
    r"\[|<(?:[aA]\s|[iI][mM][gG]\s|[^\s<>]*[:@])|#(?<![^\s*_|>]#)[^\s#]|`[^\S`]*[^\s`/\\]*[/\\]",
)


class BlockKind(StrEnum):
    """What a top-level block is."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"
    HTML = "html"
    RULE = "rule"
    DEFINITION = "definition"


class Heading(NamedTuple):
    """A top-level heading: lines [start, end) counted from 0, plain text, the explicit id or None."""

    level: int
    start: int
    end: int
    text: str
    anchor: str | None = None


class Block(NamedTuple):
    """A top-level block that is no heading: lines [start, end) counted from 0.

    Blank lines at its end are left off. `header_end` is where the rows of a table begin, else 0.
    """

    kind: BlockKind
    start: int
    end: int
    header_end: int = 0


class FoundLink(NamedTuple):
    """A link where it was found, at any depth. `target` and `label` without their markup."""

    kind: LinkKind
    line: int
    target: str
    label: str


class FoundText(NamedTuple):
    """A piece of text and a line, counted from 0: of a `#tag` its own, of a code span its paragraph's."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A whole text.

    `code_spans`: those that may be a path, with a slash and no blank. `tags`: without their `#`.
    `html_title`: the text of the first top-level HTML `<h1>`, which opens no section.
    `too_deep`: the line where nesting passed MAX_NESTING and was cut off.
    """

    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    links: tuple[FoundLink, ...]
    code_spans: tuple[FoundText, ...]
    tags: tuple[FoundText, ...]
    html_title: str | None = None
    too_deep: int | None = None


class LineCounter:
    """Lines of a text, asked for from left to right: however many questions, one pass."""

    __slots__ = ("_at", "_line", "_text")

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._line = first_line
        self._at = 0

    def line_at(self, offset: int) -> int:
        """The line of an offset that is no smaller than the one asked for before."""
        self._line += self._text.count("\n", self._at, offset)
        self._at = offset
        return self._line


@dataclass(slots=True)
class Blocks:
    """The blocks of a text as they are met, before inline markup is read.

    `headings`: level, first line, line after the last, source. `runs`: first line and source of
    inline markup that may hold something. `html`: the same of blocks of HTML that may hold links.
    `references`: the link definitions, which inline markup needs all of.
    """

    headings: list[tuple[int, int, int, str]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    runs: list[tuple[int, str]] = field(default_factory=list)
    html: list[tuple[int, str]] = field(default_factory=list)
    references: References = field(default_factory=dict)
    html_title: str = ""
    too_deep: int | None = None

    def add_run(self, line: int, text: str, start: int = 0, end: int | None = None) -> None:
        """Keep the inline markup text[start:end] for later where there may be something to find."""
        if _INLINE_CANDIDATE.search(text, start, len(text) if end is None else end):
            self.runs.append((line, text[start:end]))


def may_hold_finds(source: str) -> bool:
    """Whether inline markup, or a row of cells of it, may hold a link, a tag or a path."""
    return _INLINE_CANDIDATE.search(source) is not None


def fold_blanks(text: str) -> str:
    """The text on one line, with single blanks."""
    return " ".join(text.split())
