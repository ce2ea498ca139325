"""Where the words of a question stand in a text: for faces that mark what was found in a page's source."""

from __future__ import annotations

from indexerd.contract.terms import spans
from wikiq.snippet.excerpt import find_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.snippet.evidence import Words


def mark_ranges(text: str, words: Words) -> tuple[tuple[int, int], ...]:
    """Give the ranges of `text` that hold a word, variant, correction or bigram, half-open, in code points.

    In order and apart: those that overlap or touch are one, as the bigrams of a word in Chinese.
    """
    ranges: list[tuple[int, int]] = []
    for start, end, _, _ in sorted(find_marks(text, spans(text), words.sought)):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return tuple(ranges)
