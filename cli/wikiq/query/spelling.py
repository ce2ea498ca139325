"""Finds the indexed word that was most likely meant by one that is in no section.

Pure: the vocabulary comes in as words with the number of sections that hold them.
"""

from __future__ import annotations

from indexerd.contract.suggestions import edit_distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 5  # letters; shorter words are one edit away from too many others
LONG = 8  # letters; from here on two edits still leave the word recognisable
LAST_CODE_POINT = 0x10FFFF  # of Unicode
ALPHABET_REACH = 48  # code points up and down within which the letters of one alphabet lie
LONGEST = 64  # letters; no word is longer, and the comparison takes the square of it


def edits_allowed(word: str) -> int:
    """How many edits (insert, delete, replace, swap neighbours) may lie between typed and meant."""
    if not SHORTEST <= len(word) <= LONGEST or not any(map(str.isalpha, word)):
        return 0
    return 2 if len(word) >= LONG else 1


def likely_beginnings(word: str) -> list[str]:
    """The beginnings that a word near `word` may have, for looking a vocabulary up by ranges.

    It shares one of its first two letters with the first two of `word`, in either place: whole
    ranges for its first letter, and for its second one range for each letter of the same alphabet.
    """
    starts = list(dict.fromkeys(word[:2]))
    alphabet = {
        chr(near)
        for code in map(ord, starts)
        for near in range(max(0, code - ALPHABET_REACH), min(code + ALPHABET_REACH, LAST_CODE_POINT))
        if chr(near).isalpha() and chr(near).islower()
    }
    return starts + [first + second for first in sorted(alphabet - set(starts)) for second in starts]


def nearest_word(word: str, vocabulary: Iterable[tuple[str, int]]) -> str | None:
    """The word fewest edits away, then held by most sections, then first in order; None if none is near.

    A candidate shares one of its first two letters with the first two of `word`.
    """
    best: tuple[int, int, str] | None = None
    most = edits_allowed(word)
    starts, letters = set(word[:2]), set(word)
    for candidate, sections in vocabulary:
        if abs(len(candidate) - len(word)) > most or starts.isdisjoint(candidate[:2]):
            continue
        if len(letters.difference(candidate)) > most:  # every letter that is missing takes an edit
            continue
        edits = edit_distance(word, candidate, most)
        if edits is None:
            continue
        rank = (edits, -sections, candidate)
        if best is None or rank < best:
            best, most = rank, edits
    return best[2] if best else None
