"""The one folding and segmentation of words, for what is indexed and for what is asked.

Words are what the full-text tokenizer makes of a text (`unicode61`); scripts written without
blanks are cut into bigrams, which live in a table of their own (`sections_grams`). Nothing here
knows a query, a table or a language. Changing what `grams` gives means another TERMS_VERSION.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cache

from indexerd.contract.tokenizer import spans, tokens

# The name is what type checkers go by; importing typing costs wikiq as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

__all__ = [
    "asked_pieces",
    "bigrams",
    "fold_path",
    "fold_title",
    "grams",
    "has_word",
    "is_unspaced",
    "is_unspaced_alphabet",
    "pieces",
    "runs",
    "spans",
    "tokens",
]

# Letters and marks of Han, kana, Hangul, Thai, Lao, Khmer and Myanmar, first and last of each range,
# as they stand after NFKC (so no half-width kana, no compatibility ideographs or jamo).
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul jamo that compose no syllable
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),  # ideographic iteration mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x303C),  # kana repeat marks
    (0x3041, 0x30FF),  # kana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xA9E0, 0xA9FF),  # Myanmar
    (0xAA60, 0xAA7F),
    (0xAC00, 0xD7FF),  # Hangul syllables, jamo
    (0xF900, 0xFAFF),  # compatibility ideographs that NFKC keeps
    (0x1AFF0, 0x1B16F),  # kana
    (0x20000, 0x3FFFF),  # Han
)


# Of these, the scripts whose characters are letters rather than syllables or words.
_ALPHABETS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F))


def fold_path(text: str) -> str:
    """Fold a path, slug, alias or name for comparison: NFC and case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def fold_title(text: str) -> str:
    """Fold a title or heading for comparison: NFKC and case, blanks collapsed and stripped."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(text.lower().split())


def has_word(term: str) -> bool:
    """Tell whether a term holds a letter or a number, rather than marks and unknown signs alone."""
    return any(character.isalnum() for character in term)


class _Scripts(dict[int, str]):
    """What each code point becomes: `-` in scripts without blanks, `.` elsewhere; filled when met."""

    bounds = tuple(bound for first, last in _UNSPACED for bound in (first, last + 1))

    def __missing__(self, code: int) -> str:
        """Classify one code point and remember it."""
        self[code] = kind = "-" if bisect_right(self.bounds, code) % 2 else "."
        return kind


_SCRIPTS = _Scripts()


def runs(word: str) -> Iterator[tuple[str, bool]]:
    """Cut a word where scripts with and without blanks meet; True comes with those without."""
    kinds = word.translate(_SCRIPTS)
    start = 0
    while start < len(word):
        unspaced = kinds[start] == "-"
        end = kinds.find("." if unspaced else "-", start)
        end = len(word) if end < 0 else end
        yield word[start:end], unspaced
        start = end


def is_unspaced(piece: str) -> bool:
    """Tell whether a piece begins in a script without blanks; the whole of it does then."""
    return piece[:1].translate(_SCRIPTS) == "-"


def is_unspaced_alphabet(piece: str) -> bool:
    """Tell whether a piece begins in Thai, Lao, Khmer or Myanmar, which write one sound a letter."""
    return is_unspaced(piece) and any(first <= ord(piece[0]) <= last for first, last in _ALPHABETS)


def bigrams(run: str) -> list[str]:
    """The overlapping pairs of a run of characters, and its last character."""
    return [run[at : at + 2] for at in range(len(run))]


def pieces(word: str) -> list[str]:
    """What the bigram table holds of one word of a text (unfolded); nothing for most words.

    A run of a script without blanks gives its overlapping bigrams and its last character; what
    stands beside such a run, or what NFKC makes of a word (full width, ligatures, composed marks),
    is given as it is where the index has no such term.
    """
    normal = unicodedata.normalize("NFKC", word)
    found: list[str] = []
    cut = False
    for term in tokens(normal):
        for run, unspaced in runs(term):
            if unspaced:
                cut = True
                found += bigrams(run)
            else:
                found.append(run)
    return found if cut or found != tokens(word) else []


def asked_pieces(word: str) -> tuple[str, ...]:
    """What to search the bigram table for, for one word of a question.

    The last character of a run is left off, since in a text the run may go on; alone it stays, and
    means every bigram that begins with it.
    """
    found = pieces(word)
    if len(found) > 1 and len(found[-1]) == 1 and is_unspaced(found[-1]) and found[-2][1:] == found[-1]:
        found.pop()
    return tuple(found)


def grams(text: str) -> str:
    """What `sections_grams` holds of one column: pieces of its words, in order, joined by blanks.

    Empty for text without such scripts and forms; that is found out at 1 ns a character in ASCII
    and at some 10 ns elsewhere, since every section of a build passes here.
    """
    if text.isascii():
        return ""
    unspaced = _unspaced_pattern()
    if unspaced.search(text) is None and unicodedata.is_normalized("NFKC", text):
        return ""
    found: list[str] = []
    for _, start, end in spans(text):
        word = text[start:end]
        if not word.isascii() and (unspaced.search(word) or not unicodedata.is_normalized("NFKC", word)):
            found += pieces(word)
    return " ".join(found)


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    """Matches one character of a script without blanks; made at first use, for builds only."""
    import re  # noqa: PLC0415 - 2.5 ms that a search does not have

    return re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _UNSPACED) + "]")
