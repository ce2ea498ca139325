"""Which fragments a page answers to: anchors, headings, HTML ids and Obsidian's block ids; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from indexerd.contract.terms import fold_title

_HTML_ID = re.compile(r"""<[^<>]*?\b(?:id|name)\s*=\s*["']?([^"'\s>]+)""")
_HTML_HEADING = re.compile(r"<h[1-6]\b[^<>]*>(.*?)</h[1-6]", re.IGNORECASE | re.DOTALL)
_HTML_TAG = re.compile(r"<[^<>]*>")
# In a quote or a list: after a marker, or indented as what follows one is.
_NESTED_HEADING = re.compile(r"^(?:[ \t]*(?:>|[-*+]|\d+[.)])[ \t>]*|[ \t]+)#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(?:.*\n)*?[ \t>]*\1[`~]*[ \t]*$", re.MULTILINE)
_ATTRIBUTE_ID = re.compile(r"\{[^{}\n]*#([\w:.\-]+)[^{}\n]*\}")
_TERM = re.compile(r"^(\S.*)\n\n?:[ \t]", re.MULTILINE)  # of a definition list, to which Hugo gives an id
_RANGE = re.compile(r",\d+$|(?:,\d+)?:#.*")  # Dendron: where an embed ends, and what it leaves off
_BLOCK_ID = re.compile(r"(?:^|\s)\^([\w-]+)[ \t]*$", re.MULTILINE)
# What brings headings from elsewhere: mkdocs, mdBook, Hugo, Jekyll, DocFX, and documentation of code.
_INCLUDE = re.compile(
    r"^[ \t]*(?:(?:-+8<-+|\{\{#include\b|\{\{[%<][ \t]*include\b|\{%-?[ \t]*include\w*[ \t]+\S+\.md\b)"
    r"|\[?!INCLUDE\b|::: ?[\w-]+(?:(?:\.\w+)+[ \t]*$|[ \t]*\n {4}:?\w))",
    re.MULTILINE,
)
_TEXT_DIRECTIVE = ":~:"  # a browser looks for the text that follows (WICG scroll-to-text)
# DocFX: a tab of the page, and the anchors of headings without any letter, which it numbers.
_GENERATED = ("tab/", "fn:", "fnref:")  # and what footnotes are numbered by
_NAMELESS = "section"


class PageFragments:
    """What may follow the `#` in a link to one page. `source` gives the page's text if it is needed."""

    def __init__(self, headings: Iterable[tuple[str, str]], source: Callable[[], str]) -> None:
        """`headings`: the anchor and the text of each section."""
        pairs = tuple(headings)
        self._anchors = frozenset(anchor.lower() for anchor, _ in pairs if anchor)
        self._headings = frozenset(_letters(heading) for _, heading in pairs)
        self._has_nameless = "" in self._headings
        self._source = source
        self._in_text: frozenset[str] | None = None
        self._includes = False

    def answers(self, fragment: str) -> bool:
        """Tell whether a link with this fragment leads somewhere on the page.

        Of `A#B` the last heading counts. Generators build anchors differently, so a heading with the
        same letters and digits is enough. A page that includes others answers all: theirs are not known.
        """
        last = _RANGE.sub("", fragment).rpartition("#")[2].strip()
        if (
            not last
            or last.lower() == "top"
            or _TEXT_DIRECTIVE in fragment
            or fragment.startswith(_GENERATED)
        ):
            return True
        letters = _letters(last)
        if last.lower() in self._anchors or (letters and letters in self._headings):
            return True
        if self._has_nameless and letters.rstrip("0123456789") == _NAMELESS:
            return True
        in_text = self._found_in_text()
        return self._includes or last.lower() in in_text or bool(letters and letters in in_text)

    def _found_in_text(self) -> frozenset[str]:
        """HTML ids, block ids with their `^`, and the letters of nested headings and of terms."""
        if self._in_text is None:
            text = self._source().replace("\r\n", "\n").replace("\r", "\n")
            text = _FENCE.sub("", text)
            self._includes = _INCLUDE.search(text) is not None
            ids = (
                *_HTML_ID.findall(text),
                *_ATTRIBUTE_ID.findall(text),
                *(f"^{name}" for name in _BLOCK_ID.findall(text)),
            )
            in_html = (_HTML_TAG.sub("", heading) for heading in _HTML_HEADING.findall(text))
            nested = map(_letters, (*_NESTED_HEADING.findall(text), *_TERM.findall(text), *in_html))
            self._in_text = frozenset((*(name.lower() for name in ids), *nested))
        return self._in_text


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold_title(text)))
