"""How many tokens a text is, estimated without a tokenizer: cheap, and additive over its pieces.

Embedding models cut off what exceeds their window, so the estimate errs towards more. It knows no
model, no language and no Markdown.
"""

from __future__ import annotations

from typing import Final

# Four ASCII characters make a token, and so do three bytes of anything else in UTF-8 (one CJK
# character, one and a half Cyrillic letters). Bytes a token, measured on the PowerShell
# documentation: cl100k 4.2, WordPiece (all-MiniLM-L6-v2) 3.7; on the Obsidian help with cl100k:
# English 4.3, German 3.7, Russian 4.3, Japanese 3.1, Chinese 3.1, Korean 2.9, Arabic 2.7.
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
