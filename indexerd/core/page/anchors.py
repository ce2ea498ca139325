"""Anchors of headings, by the rule of github-slugger 2 (https://github.com/Flet/github-slugger).

Heading text in, anchor out, unique within a page. Explicit ids (`{#id}`) never pass here: they
stand as written and the rule neither changes nor counts them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ASCII_DROPPED: Final = re.compile(r"[^a-z0-9_\- ]+")
# Categories kept besides letters and marks. Nd and Nl, not No: `²` goes, as on GitHub.
_KEPT: Final = frozenset({"Nd", "Nl", "Pc"})
# Symbols that Unicode calls alphabetic, the one overlap of letters and symbols: circled, squared
# and negative Latin letters (first and last code point, lower-cased forms included).
_ALPHABETIC_SYMBOLS: Final = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))


class _Kept(dict[int, str]):
    """What each code point becomes in an anchor; filled as code points are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        kept = (
            category[0] in "LM"
            or category in _KEPT
            or character == "-"
            or any(first <= code <= last for first, last in _ALPHABETIC_SYMBOLS)
        )
        self[code] = result = "-" if character == " " else character if kept else ""
        return result


_KEPT_CHARACTERS: Final = _Kept()


def base_anchor(heading: str) -> str:
    """The anchor of a heading, before repeats are told apart."""
    lowered = heading.lower()
    if lowered.isascii():
        return _ASCII_DROPPED.sub("", lowered).replace(" ", "-")
    return lowered.translate(_KEPT_CHARACTERS)


class Anchors:
    """Tells the repeated headings of one page apart: `retry`, `retry-1`, `retry-2`."""

    def __init__(self) -> None:
        self._repeats: dict[str, int] = {}

    def add(self, heading: str) -> str:
        """The anchor of the next heading of the page."""
        base = anchor = base_anchor(heading)
        while anchor in self._repeats:
            self._repeats[base] += 1
            anchor = f"{base}-{self._repeats[base]}"
        self._repeats[anchor] = 0
        return anchor
