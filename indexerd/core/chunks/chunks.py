"""One section -> chunks for embedding, as spans of its body (spec 1.7).

Blocks are gathered up to a target; tables stand alone with what introduces them. Pure; the columns
that show a chunk (content, embed_text, …) are the `v1_chunks` view's, whose key is computed here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from indexerd.core.chunks.parts import LIMIT, TARGET_TOKENS, find_parts, is_plain
from indexerd.core.chunks.spans import Span, cut_spans, trimmed_span
from indexerd.core.chunks.token_estimate import UNITS_PER_TOKEN, weigh
from indexerd.core.markdown.document import Block, BlockKind
from indexerd.core.model import Chunk, ChunkKind
from indexerd.core.page.decode import count_lines, line_offsets
from indexerd.core.page.sections import PATH_SEPARATOR

if TYPE_CHECKING:
    from hashlib import _Hash

SPAN_LIMIT_BYTES: Final = 256 * 1024  # longer bodies: SQLite's substr() walks from the start each time

_KEY_BYTES: Final = 16
_SHORT_CHARACTERS: Final = 4 * TARGET_TOKENS  # up to here a section is tried as one chunk, uncut
# What follows the type of a `data:` URI: any base64, and what else is long. No embedder reads it.
_DATA_MARK: Final = "data:"
_DATA: Final = re.compile(
    r"(?P<type>\bdata:[\w.+-]+/[\w.+-]+)(?:;[\w.+=-]+)*(?:;base64,[\w+/=%-]+|,[\w+/=%.~!*,;:@&$?#-]{64,})"
)
_PLACEHOLDER: Final = r"\g<type>,…"


def embed_heading(title: str, section_path: Sequence[str]) -> str:
    """What stands before the content in `embed_text`."""
    return PATH_SEPARATOR.join((title, *section_path)) + "\n\n"


def cut_chunks(
    body: str,
    blocks: Sequence[Block],
    *,
    first_line: int,
    heading_lines: int,
    title: str,
    section_path: Sequence[str],
) -> tuple[Chunk, ...]:
    """The chunks of one section, in order; none where there is nothing but blanks.

    `blocks`: the section's, whose lines count from where `body` starts at line `first_line`.
    `section_path`: guarded, as it is shown. Every line that is not blank is in a chunk. A chunk
    weighs at most TARGET_TOKENS, one that holds a table or a single row of it at most twice that.
    """
    if not body.strip():
        return ()
    text = _DATA.sub(_PLACEHOLDER, body) if _DATA_MARK in body else body
    is_long = len(text) > SPAN_LIMIT_BYTES // 4 and len(text.encode()) > SPAN_LIMIT_BYTES
    is_kept = is_long or text != body
    heading = embed_heading(title, section_path)
    if len(text) <= _SHORT_CHARACTERS and is_plain(blocks):
        only_code = bool(blocks) and all(block.kind is BlockKind.CODE for block in blocks)
        span = trimmed_span(text, ChunkKind.CODE if only_code else ChunkKind.PROSE, 0, len(text))
        content = text[span.start : span.end]
        if (weight := weigh(content)) <= LIMIT:
            line = 1 + count_lines(text[: span.start]) if span.start else 1
            lines = heading_lines + line, 1 + count_lines(content)
            key = _key(sha256(heading.encode()), content)
            return (_chunk(span, (1, 1), lines, weight, (key, content if is_kept else None)),)
    offsets = line_offsets(text)
    parts = find_parts(text, offsets, blocks, first_line)
    spans = [span for span in cut_spans(text, parts) if span.start < span.end]
    prefix = sha256(heading.encode())
    chunks = []
    for part, span in enumerate(spans, 1):
        content = span.content(text)
        line = bisect_right(offsets, span.start)
        numbers = heading_lines + line, bisect_right(offsets, span.end - 1) - line + 1
        key, kept = _key(prefix.copy(), content), content if is_kept else None
        chunks.append(_chunk(span, (part, len(spans)), numbers, weigh(content), (key, kept)))
    return tuple(chunks)


def _key(heading: _Hash, content: str) -> str:
    heading.update(content.encode())
    return heading.hexdigest()[: 2 * _KEY_BYTES]


def _chunk(
    span: Span, part: tuple[int, int], lines: tuple[int, int], weight: int, said: tuple[str, str | None]
) -> Chunk:
    """`part`: its number, and of how many; `lines`: the first, and how many; `said`: key, text."""
    return Chunk(
        part=part[0],
        parts=part[1],
        kind=span.kind,
        start=span.start,
        length=span.end - span.start,
        lead_start=span.lead[0],
        lead_length=span.lead[1] - span.lead[0],
        header_start=span.header[0],
        header_length=span.header[1] - span.header[0],
        tail_start=span.tail[0],
        tail_length=span.tail[1] - span.tail[0],
        line=lines[0],
        lines=lines[1],
        tokens=-(-weight // UNITS_PER_TOKEN),
        key=said[0],
        text=said[1],
    )
