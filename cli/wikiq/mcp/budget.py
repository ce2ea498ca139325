"""Keeps an answer within a budget of tokens: lines and blocks are added as long as they fit. Pure.

A token is counted as three bytes: measured on pages, links and tables with two public tokenizers, 2.5 at
worst, 3.1 at the 5th percentile, 4.2 in the middle (spec 6.3).
"""

from __future__ import annotations

import json

from wikiq.model import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

BYTES_PER_TOKEN = 3
LEAST_SHARE = 60  # tokens of one of several pages: its head, and where to go on
LONGEST_ERROR = 900  # bytes


def clip(text: str) -> str:
    """An error in one line of a bounded length."""
    return _cut(" ".join(printable_text(text).split()), LONGEST_ERROR)


def shorten(text: str, max_tokens: int) -> str:
    """A title within a quarter of the budget, so that there is room for what it is the title of."""
    short = _cut(text, max_tokens * BYTES_PER_TOKEN // 4)
    return text if short == text else f"{short}\N{HORIZONTAL ELLIPSIS}"


def count_tokens(text: str) -> int:
    """Tokens that `text` may cost a model, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def printable_text(text: str) -> str:
    """What may be sent: no controls, no tag characters, no lone surrogates."""
    return printable.printable_text(text).encode("utf-8", "replace").decode("utf-8")


def compact(document: Any) -> str:
    """JSON without blanks."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


class Answer:
    """What is sent, gathered block by block. The head is always in; the last line always fits."""

    def __init__(self, head: str, max_tokens: int) -> None:
        self._most = max_tokens * BYTES_PER_TOKEN
        self._parts = [_cut(printable_text(head).replace("\n", " "), self._most)]
        self._bytes = len(self._parts[0].encode())

    def room_for(self, reserved: str = "") -> int:
        """Bytes that are left when `reserved` is to follow."""
        return self._most - self._bytes - len(reserved.encode()) - 2

    def add(self, block: str, *, reserved: str = "") -> bool:
        """Add a whole block if it fits and `reserved` still fits after it; tell whether it did."""
        text = printable_text(block)
        size = len(text.encode())
        if size > self.room_for(printable_text(reserved)):
            return False
        self._parts.append(text)
        self._bytes += size + 1
        return True

    def count_beginning(self, lines: Sequence[str], *, reserved: str) -> int:
        """How many of the first lines fit before `reserved`."""
        room = self.room_for(printable_text(reserved))
        for number, line in enumerate(map(printable_text, lines)):
            room -= len(line.encode()) + 1
            if room < 0:
                return number
        return len(lines)

    def add_beginning(self, lines: Sequence[str], *, reserved: str) -> int:
        """Add as many of the first lines as fit before `reserved`; gives their number."""
        kept = self.count_beginning(lines, reserved=reserved)
        if kept:
            self.add("\n".join(lines[:kept]))
        return kept

    def add_part(self, line: str, *, reserved: str) -> None:
        """Add the beginning of a line that is longer than the answer."""
        room = self.room_for(printable_text(reserved)) - 1
        self._parts.append(_cut(printable_text(line), max(0, room)))
        self._bytes += len(self._parts[-1].encode()) + 1

    def text(self) -> str:
        """The whole answer."""
        return "\n".join(self._parts)


def _cut(text: str, most: int) -> str:
    """The beginning of a text within `most` bytes of UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")
