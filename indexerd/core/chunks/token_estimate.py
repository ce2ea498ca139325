"""How many tokens a text is, estimated without a tokenizer: cheap, and additive over its pieces.

Two real tokenizers are held against it in docs/decisions. It knows no model, no language and no
Markdown.
"""

from __future__ import annotations

from typing import Final

# Four ASCII characters make a token, and so do three bytes of anything else in UTF-8 (one CJK
# character, one and a half Cyrillic letters). Real tokens for one estimated: English .96 (cl100k)
# and 1.10 (WordPiece of MiniLM), Chinese and Japanese 1.02-1.23, other languages mostly 1.0-1.5.
UNITS_PER_TOKEN: Final = 12  # so that both kinds of bytes weigh whole units
ASCII_UNITS: Final = 3
OTHER_UNITS: Final = 4
MAX_CHARACTER_UNITS: Final = 4 * OTHER_UNITS  # four bytes are the most that UTF-8 needs for one
_PADDING: Final = "    "  # tokenizers take indentation and the padding of table cells as one token


def weigh(text: str) -> int:
    """The weight of a text in twelfths of a token. Joined texts weigh what they weigh apart, or less."""
    padding = ASCII_UNITS * len(_PADDING) * text.count(_PADDING)
    if text.isascii():
        return ASCII_UNITS * len(text) - padding
    ascii_size = len(text.encode("ascii", "ignore"))
    return ASCII_UNITS * ascii_size + OTHER_UNITS * (len(text.encode()) - ascii_size) - padding


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, rounded up."""
    return -(-weigh(text) // UNITS_PER_TOKEN)
