"""What each section of a page holds: the blocks, links and mentions of a text, sorted into sections.

Both sides come in the order of their lines. Nothing is read here, only placed and resolved.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from indexerd.core.markdown.document import Block, Document
from indexerd.core.model import Link, Mention, ProjectionOptions
from indexerd.core.page.links import resolve_link
from indexerd.core.page.mentions import code_mention, link_mention
from indexerd.core.page.sections import Slice


@dataclass(frozen=True, slots=True)
class Contents:
    """Blocks and links by section, in the order of the sections; the mentions of all."""

    blocks: Sequence[Sequence[Block]]
    links: Sequence[Sequence[Link]]
    mentions: Sequence[Mention]


def sort_contents(
    document: Document, slices: Sequence[Slice], first_line: int, path: str, options: ProjectionOptions
) -> Contents:
    """Sort what a document holds into its sections; its line 0 is `first_line` lines into the file."""
    starts = [section.start_line - 1 - first_line for section in slices]
    block_starts = [block.start for block in document.blocks]
    borders = [0, *[bisect_left(block_starts, start) for start in starts[1:]], len(block_starts)]
    links: list[list[Link]] = [[] for _ in slices]
    mentions: list[Mention] = []
    for found in document.links:
        ordinal = max(bisect_right(starts, found.line) - 1, 0)
        link = resolve_link(found, path, starts[ordinal])
        links[ordinal].append(link)
        if mention := link_mention(link, ordinal, path, options):
            mentions.append(mention)
    for code in document.code_spans:
        ordinal = max(bisect_right(starts, code.line) - 1, 0)
        if mention := code_mention(code.text, ordinal):
            mentions.append(mention)
    return Contents([document.blocks[start:end] for start, end in pairwise(borders)], links, mentions)
