"""Source code -> HTML with a class for each kind of token, which the style sheet colours.

What is not known as a language, or is very long, stays plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from itertools import groupby
from typing import Final

from pygments.lexers import LEXERS, find_lexer_class_by_name
from pygments.token import STANDARD_TYPES, Whitespace, _TokenType

# Characters of one block, and of a page: some lexers take quadratic time on hostile text (Perl: 2.5 s).
MAX_HIGHLIGHTED: Final = 8_000
MAX_HIGHLIGHTED_OF_PAGE: Final = 50_000
CLASSES: Final = frozenset(filter(None, STANDARD_TYPES.values()))

Ranges = Sequence[tuple[int, int]]


def render_code(text: str, language: str, marks: Ranges = ()) -> str:
    """The text as HTML; `marks` are ranges of it."""
    html: list[str] = []
    at = number = 0
    for name, piece in _pieces(text, language):
        inner, at_end = [], at + len(piece)
        while number < len(marks) and marks[number][0] < at_end:
            start, end = max(marks[number][0], at), min(marks[number][1], at_end)
            inner.append((start - at, end - at))
            if marks[number][1] > at_end:
                break
            number += 1
        marked = render_marked(piece, inner)
        html.append(f'<span class="{name}">{marked}</span>' if name else marked)
        at = at_end
    return "".join(html)


def render_marked(text: str, marks: Ranges) -> str:
    """The text as HTML, with its ranges `marks`, in order, as `<mark>`; what overlaps is marked once."""
    if not marks:
        return escape(text, quote=False)
    parts: list[str] = []
    at = 0
    for start, end in marks:
        start, end = max(start, at), max(end, at)
        parts += (
            escape(text[at:start], quote=False),
            "<mark>",
            escape(text[start:end], quote=False),
            "</mark>",
        )
        at = end
    parts.append(escape(text[at:], quote=False))
    return "".join(parts)


def _pieces(text: str, language: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with the class of its tokens."""
    if not language or language not in _languages() or len(text) > MAX_HIGHLIGHTED:
        yield "", text
        return
    tokens = list(find_lexer_class_by_name(language)().get_tokens_unprocessed(text))
    if "".join(value for _, _, value in tokens) != text:  # a lexer that leaves something out
        yield "", text
        return
    named = ((_class_of(kind), value) for _, kind, value in tokens)
    for name, group in groupby(named, key=lambda pair: pair[0]):
        yield name, "".join(value for _, value in group)


@cache
def _languages() -> frozenset[str]:
    """All names of languages, in lower case. An unknown one would have Pygments look for plug-ins."""
    return frozenset(alias for lexer in LEXERS.values() for alias in lexer[2])


@cache
def _class_of(kind: _TokenType) -> str:
    """The class of a kind of token, or of the kind it is one of; empty for plain text."""
    nearest: _TokenType | None = kind
    while nearest is not None and nearest not in STANDARD_TYPES:
        nearest = nearest.parent
    return STANDARD_TYPES[nearest] if nearest not in (None, Whitespace) else ""
