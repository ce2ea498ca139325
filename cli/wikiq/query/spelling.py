"""Finds the indexed word that was most likely meant by one that is in no section.

Pure: the vocabulary comes in as words with the number of sections that hold them.
"""

from __future__ import annotations

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


def edit_distance(one: str, other: str, most: int) -> int | None:
    """Damerau-Levenshtein distance with adjacent swaps (optimal string alignment); None past `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        this = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, this[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before_last[column - 2] + 1)
            this.append(cost)
        if min(this) > most:
            return None
        before_last, last = last, this
    return last[-1] if last[-1] <= most else None


MOST_EDITS = 2  # between what was typed and what was meant
SHORTEST_FOR_TWO = 5  # letters of the name; in a shorter one two edits make any word of any other


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Give the names that are fewest edits away from `typed`, if that is no more than its length allows."""
    letters = typed.lower().replace("-", "").replace("_", "")
    most = MOST_EDITS if len(letters) >= SHORTEST_FOR_TWO else 1
    distances = {name: count_edits(typed.lower(), name) for name in names}
    fewest = min(distances.values(), default=most + 1)
    return [name for name, distance in distances.items() if distance == fewest] if fewest <= most else []


def count_edits(word: str, other: str) -> int:
    """Count the letters to add, leave out, replace or swap with a neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word, 1):
        before_that, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            edits = min(before[to] + 1, row[-1] + 1, before[to - 1] + (letter != wanted))
            if before_that and to > 1 and word[at - 2] == wanted and letter == other[to - 2]:
                edits = min(edits, before_that[to - 2] + 1)
            row.append(edits)
    return row[-1]


def is_one_edit_away(word: str, other: str) -> bool:
    """Tell whether one letter added, left out, replaced or swapped with its neighbour makes them equal."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    shorter, longer = sorted((word, other), key=len)
    at = 0
    while at < len(shorter) and shorter[at] == longer[at]:
        at += 1
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    swapped = shorter[at : at + 2] == longer[at + 1 : at + 2] + longer[at : at + 1]
    return shorter[at + 1 :] == longer[at + 1 :] or (swapped and shorter[at + 2 :] == longer[at + 2 :])
