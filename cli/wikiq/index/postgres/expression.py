"""Reads the full-text expressions that questions are made of: phrases joined by AND and OR (FTS5).

Pure. Only what `wikiq.query.match` writes is read: `column : "words" *`, AND within OR.
"""

from __future__ import annotations

import re

from indexerd.contract.record import Record
from indexerd.contract.terms import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_PART: Final = re.compile(r'(?:(\w+) : )?"((?:[^"]|"")*)"( \*)?| (OR|AND) |[()]')


class Phrase(Record):
    """Words side by side in one column, or in any; of the last only the beginning with `is_prefix`."""

    words: tuple[str, ...]
    is_prefix: bool = False
    column: str | None = None


def parse_expression(text: str) -> list[list[Phrase]]:
    """Give an expression as alternatives, each some phrases that are all there; none without a word."""
    alternatives: list[list[Phrase]] = [[]]
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            raise ValueError(f"no full-text expression: {text[at:]!r:.60}")
        at = part.end()
        if part[4] == "OR":
            alternatives.append([])
        elif part[2] is not None:
            words = tuple(tokens(part[2].replace('""', '"')))
            alternatives[-1].append(Phrase(words=words, is_prefix=bool(part[3]), column=part[1]))
    return [phrases for phrases in alternatives if phrases and all(phrase.words for phrase in phrases)]


def phrases_of(text: str) -> list[Phrase]:
    """Give every phrase of an expression once: each is scored, whatever joins them."""
    return list(dict.fromkeys(phrase for phrases in parse_expression(text) for phrase in phrases))
