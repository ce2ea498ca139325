"""Divides a word that is in no section into words that may stand side by side in one.

Pure. `ABC123` stands as `ABC-123`, `10000` as `10,000`, `hyphenation` with soft hyphens in it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_DIVIDED = 40  # letters; the ways to divide a word grow with their square
SHORTEST_OF_THREE = 2  # letters of a part, where there are three
PHRASES_TRIED = 12  # of the likeliest ways: each is a query


def parts_of(word: str) -> set[str]:
    """Give every part that a way to divide the word has."""
    return {part for way in _ways(word) for part in way}


def likely_divisions(word: str, sections: Mapping[str, int]) -> list[tuple[str, ...]]:
    """The ways to divide a word into words of the index, likeliest first: few parts, in many sections."""
    known = [way for way in _ways(word) if all(part in sections for part in way)]
    known.sort(key=lambda way: (len(way), -min(sections[part] for part in way), way))
    return known[:PHRASES_TRIED]


def _ways(word: str) -> Iterator[tuple[str, ...]]:
    if len(word) > LONGEST_DIVIDED:
        return
    for first in range(1, len(word)):
        yield word[:first], word[first:]
    least = SHORTEST_OF_THREE
    for first in range(least, len(word) - 2 * least + 1):
        for second in range(first + least, len(word) - least + 1):
            yield word[:first], word[first:second], word[second:]
