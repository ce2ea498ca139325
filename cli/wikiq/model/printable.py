"""Text of the wiki made harmless, before a terminal or a model reads it (spec 5.5). Pure.

Titles, headings and excerpts come from files that anybody may have written.
"""

from __future__ import annotations

from indexerd.contract.controls import CONTROLS

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Tag characters are seen by nobody and read by language models.
_TAGS = range(0xE0000, 0xE0080)
_IN_A_LINE: dict[int, str | None] = {
    **dict.fromkeys(CONTROLS, REPLACEMENT),
    **dict.fromkeys(_TAGS),
    **dict.fromkeys(map(ord, "\t\n\r"), " "),
}
_IN_A_TEXT = _IN_A_LINE | {ord("\t"): "\t", ord("\n"): "\n", ord("\r"): None}


def printable_line(text: str) -> str:
    """Replace what could steer a terminal; tabs and line ends become blanks."""
    return text if text.isascii() and text.isprintable() else text.translate(_IN_A_LINE)


def printable_text(text: str) -> str:
    """Replace what could steer a terminal, but for tabs and line feeds."""
    return text.translate(_IN_A_TEXT)
