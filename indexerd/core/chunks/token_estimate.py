"""How many tokens a text is, estimated without a tokenizer: cheap, and additive over its pieces.

Three real tokenizers are held against it in docs/decisions. It is hardly ever too low for any of
them, since an embedder cuts or refuses what is too long; so it is high for the one that reads a
script best. It knows no model and no Markdown.
"""

from __future__ import annotations

from typing import Final

# What a byte of UTF-8 weighs, in 1/7.5 of a token, at the tokenizer that reads it worst. Of a
# character outside ASCII the first byte names the script, and each byte after it weighs the same.
_LETTER: Final = 3
_SIGN: Final = 7  # digits too; blanks go with the word after them
_GOING_ON: Final = 4
_FIRST_BYTES: Final = (
    (0xC0, 0xCE, 6),  # Latin with marks
    (0xCE, 0xD0, 4),  # Greek
    (0xD0, 0xD6, 3),  # Cyrillic, Armenian
    (0xD6, 0xD8, 6),  # Hebrew
    (0xD8, 0xE0, 3),  # Arabic and its neighbours
    (0xE0, 0xE1, 2),  # Indic scripts, Thai
    (0xE1, 0xE2, 4),  # Vietnamese vowels, Khmer, Georgian
    (0xE2, 0xE4, 0),  # typographic signs, kana
    (0xE4, 0xEA, 3),  # Chinese characters
    (0xEA, 0xEE, 8),  # Hangul, which WordPiece takes apart
    (0xEE, 0xF0, 0),  # full-width forms
    (0xF0, 0x100, 8),  # emoji, rare characters
)
# The commonest pair of letters in English, the language that tokenizers know best. Few others write
# it, so it tells English apart.
ENGLISH_PAIR: Final = "th"
_ENGLISH: Final = -22
_BYTES_FOR_ONE: Final = 5  # nothing is free: so many bytes weigh 1 at least

UNITS_PER_TOKEN: Final = 15
_UNITS: Final = 2  # for each of the weights above
MAX_CHARACTER_UNITS: Final = _UNITS * (8 + 3 * _GOING_ON)


def _ones() -> bytes:
    """For each byte one with as many bits set as it weighs: so a long integer's bits add them up."""
    weights = [_SIGN] * 0x80 + [_GOING_ON] * 0x40 + [0] * 0x40
    for letter in (*range(0x41, 0x5B), *range(0x61, 0x7B)):
        weights[letter] = _LETTER
    for blank in b" \t\r\n":
        weights[blank] = 0
    for start, end, weight in _FIRST_BYTES:
        weights[start:end] = [weight] * (end - start)
    return bytes((1 << weight) - 1 for weight in weights)


_ONES: Final = _ones()


def weigh(text: str) -> int:
    """The weight of a text in units. Joined texts weigh what they weigh apart, or less."""
    data = text.encode()
    weight = int.from_bytes(data.translate(_ONES), "little").bit_count()
    return _UNITS * max(weight + _ENGLISH * text.count(ENGLISH_PAIR), -(-len(data) // _BYTES_FOR_ONE))
