"""What the index hides from its parser, shown: math as MathML, templates as code, comments not at all.

A region is hidden in the text by `indexerd.core.markdown.opaque`, so that this renderer and the
index agree on where one begins. Here each becomes a token of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from latex2mathml.converter import convert
from markdown_it.token import Token

from indexerd.core.markdown.opaque import show

MAX_FORMULA: Final = 2_000  # characters; a longer one is shown as it is written

_HIDDEN: Final = "\U0010ff00-\U0010ff7e"
# From one hidden character to another, with what of a region stays in sight between them.
_RUN: Final = re.compile(rf"[{_HIDDEN}](?:[^\x00-\x09\x0b-\x7b\x7d-\x7f]*[{_HIDDEN}])?")
_REGION: Final = re.compile(
    r"""(?P<comment>%%.*?%% | \{%-?\s*comment\b.*?\bendcomment\s*-?%\})
      | \$\$(?P<display>.+?)\$\$ | \$(?P<math>[^$]+)\$
      | (?P<template>\{\{.*?\}\} | \{%.*?%\} | <%.*?%>)
      | (?P<attributes>\{/\*.*?\*/\} | \{[:\s]*[#.\w:-][^{}]*\} | ^\([^()\s]+\)=$)""",
    re.VERBOSE | re.DOTALL,
)
_MARGIN: Final = re.compile(r"^[ \t>]*", re.MULTILINE)


def split_regions(tokens: list[Token]) -> list[Token]:
    """Inline tokens with each hidden region as a token `region`; its content as it was written."""
    if not any(_RUN.search(token.content) for token in tokens if token.type == "text"):
        return tokens
    found: list[Token] = []
    for run in _runs(tokens):
        if isinstance(run, Token):
            found.append(run)
            continue
        at = 0
        for match in _RUN.finditer(run):
            found += _texts(run[at : match.start()])
            found += (
                Token("region", kind, 0, content=piece) for kind, piece in region_pieces(show(match[0]))
            )
            at = match.end()
        found += _texts(run[at:])
    if found[-1:] and found[-1].type == "text":
        found[-1].content = found[-1].content.rstrip(" \t")  # what stood before an attribute block
    return found


def _runs(tokens: Sequence[Token]) -> Iterator[Token | str]:
    """Text and line ends that follow each other as one string; every other token as it is."""
    parts: list[str] = []
    for token in tokens:
        if token.type == "text":
            parts.append(token.content)
        elif token.type == "softbreak":
            parts.append("\n")
        else:
            if parts:
                yield "".join(parts)
                parts = []
            yield token
    if parts:
        yield "".join(parts)


def _texts(text: str) -> Iterator[Token]:
    for number, line in enumerate(text.split("\n")):
        if number:
            yield Token("softbreak", "br", 0)
        if line:
            yield Token("text", "", 0, content=line)


def region_pieces(shown: str) -> Iterator[tuple[str, str]]:
    """The regions of a run, each with its kind: display, math, template; empty for text.

    Comments and attribute blocks are left out.
    """
    at = 0
    for match in _REGION.finditer(shown):
        if at < match.start():
            yield "", shown[at : match.start()]
        kind = match.lastgroup or ""
        if kind not in ("comment", "attributes"):
            yield kind, match[kind]
        at = match.end()
    if at < len(shown):
        yield "", shown[at:]


def render_block_region(lines: Sequence[str]) -> str:
    """The HTML of a region on lines of its own, as they are written."""
    shown = _MARGIN.sub("", "\n".join(lines)).strip()
    parts = []
    for kind, piece in region_pieces(shown):
        if kind:
            parts.append(render_region(kind, piece))
        elif piece.strip():
            parts.append(f"<code>{escape(piece.strip(), quote=False)}</code>")
    html = "".join(parts)
    return f"<p>{html}</p>\n" if html and not html.startswith("<div") else html


def render_region(kind: str, content: str) -> str:
    """The HTML of one region, or of the text between two."""
    if not kind:
        return escape(content, quote=False)
    if kind == "template":
        return f'<code class="template">{escape(content, quote=False)}</code>'
    is_display = kind == "display"
    math = _mathml(content.strip(), is_display=is_display)
    if math is None:
        sign = "$$" if is_display else "$"
        return f'<code class="math">{escape(sign + content + sign, quote=False)}</code>'
    return f'<span class="math" tabindex="0">{math}</span>' if is_display else math


def _mathml(latex: str, *, is_display: bool) -> str | None:
    """MathML, None for what cannot be converted."""
    if len(latex) > MAX_FORMULA:
        return None
    try:
        return convert(latex, display="block" if is_display else "inline")
    except Exception:  # noqa: BLE001 - the converter raises what its code runs into; the formula is shown
        return None
