"""Attribute blocks of headings: the explicit id in `{#id}`, `{: #id .class}`, `{ id="x" }`, `(id)=`.

A block at the end of a heading is taken off it; kramdown's and MyST's may stand on the line next
to it (spec 1.5). All of them are regions that the parsers do not see.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from indexerd.core.markdown.opaque import ATTRIBUTES, HIDDEN_LINE, TARGET, show

# Logseq's `key:: value` at the head of a page.
HEAD_LINE: Final = re.compile(
    r"(?P<key>[^\W_][\w\-]*)::(?:[ \t]+(?P<text>[^\r\n]*?))?[ \t]*(?:\r\n|\n|\r|\Z)"
)
_BLANK: Final = " \t"
_ID: Final = re.compile(r"""(?<=[\s{:])(?:\#([^\s{}]+)|id=(?:"([^"]+)"|'([^']+)'|([^\s{}"']+)))""")


def split_attributes(source: str) -> tuple[str, str | None]:
    """A heading's source, hidden, without the attribute block at its end, and the id in that block."""
    shown = show(source)
    if not shown.endswith("}") or source.endswith("}"):
        return source, None
    block = next((match for match in ATTRIBUTES.finditer(shown) if match.end() == len(shown)), None)
    if block is None:
        return source, None
    return source[: block.start() - len(shown)].rstrip(" \t"), _explicit_id(block[0])


def neighbour_id(lines: Sequence[str], hidden: Sequence[str], start: int, end: int) -> str | None:
    """The id that a line next to the heading in lines [start, end) gives it: kramdown's or MyST's."""
    if end < len(lines) and hidden[end].strip(_BLANK) == HIDDEN_LINE:
        block = ATTRIBUTES.fullmatch(lines[end].strip(_BLANK))
        if block and (found := _explicit_id(block[0])):
            return found
    above = start - 1 if start and lines[start - 1].strip(_BLANK) else start - 2
    if above >= 0 and hidden[above].strip(_BLANK) == HIDDEN_LINE:
        if target := TARGET.fullmatch(lines[above]):
            return target["id"]
        is_first = above == 0 or not lines[above - 1].strip(_BLANK)
        block = ATTRIBUTES.fullmatch(lines[above].strip(_BLANK)) if is_first and above == start - 1 else None
        return _explicit_id(block[0]) if block else None
    return None


def _explicit_id(block: str) -> str | None:
    match = _ID.search(block)
    return next(filter(None, match.groups()), None) if match else None
