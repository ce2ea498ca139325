"""Reads a whole Markdown text: what is certain at once, what is doubtful by markdown-it.

The same result as `markdown.parse_document` for every text, several times faster (spec 7).
"""

from __future__ import annotations

from indexerd.core.markdown.document import Blocks, Document, Heading
from indexerd.core.markdown.fast_blocks import scan_blocks
from indexerd.core.markdown.fast_inline import find_certain, heading_text
from indexerd.core.markdown.parser import InlineFinds, parse_document, parse_heading, unify_line_ends


def read_document(text: str) -> Document:
    """Read a whole text. Lines end at line feed, carriage return or both, and are counted from 0.

    Raises RecursionError where inline markup is nested deeper than the interpreter can follow.
    """
    try:
        return read_quickly(text)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - whatever fails in the fast path, markdown-it alone reads the page
        # Nobody is told: the page loses nothing but time. The tests call `read_quickly` itself.
        return parse_document(text)


def read_quickly(text: str) -> Document:
    """Read a text as `read_document` does, without its fallback."""
    found, finds = Blocks(), InlineFinds()
    scan_blocks(unify_line_ends(text), found)
    headings = []
    for level, start, end, source in found.headings:
        plain, anchor = heading_text(source), None
        if plain is None or source.endswith("}"):
            plain, anchor = parse_heading(source, found.references)
        headings.append(Heading(level, start, end, plain, anchor))
    for line, source in found.runs:
        if not find_certain(line, source, found.references, finds):
            finds.parse(line, source, found.references)
    return finds.document(tuple(headings), found)
