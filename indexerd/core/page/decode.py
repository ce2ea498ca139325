"""Bytes -> text, and where the lines of a text are.

Never fails: what is no text becomes U+FFFD with a diagnostic. Byte order marks and
the NULs of UTF-16 choose an encoding, nothing else is guessed. It knows nothing of Markdown.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from indexerd.core.model import Diagnostic

REPLACEMENT: Final = "\ufffd"

# Nowhere else (spec 1.2): `str.splitlines` also cuts at form feed, U+0085 or U+2028, where the
# parser does not, and so shifts every later section.
LINE_END: Final = re.compile(r"\r\n|\n|\r")
_LINE_FEED: Final = re.compile(r"\n")

_SAMPLE: Final = 1024  # bytes that tell UTF-16 without a mark
_UTF16_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file as text, without its byte order mark."""

    text: str
    diagnostics: tuple[Diagnostic, ...] = ()


def decode_page(data: bytes) -> Decoded:
    """UTF-8, or UTF-16 where a byte order mark or its NULs say so (spec 1.2)."""
    encoding = "utf-8"
    data = data.removeprefix(codecs.BOM_UTF8)
    for mark, name in _UTF16_MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
    if encoding == "utf-8":
        encoding = _unmarked(data[:_SAMPLE])
    diagnostics = []
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        before = data[: error.start].decode(encoding, "replace")
        diagnostics.append(_invalid_bytes(encoding, count_lines(before) + 1))
    if "\0" in text:
        diagnostics.append(_nul_characters(count_lines(text[: text.index("\0")]) + 1))
        text = text.replace("\0", REPLACEMENT)
    return Decoded(text, tuple(diagnostics))


def _unmarked(sample: bytes) -> str:
    """UTF-16 without a mark, as Latin text in it looks: a NUL in every second byte, in no other."""
    even, odd = sample[::2], sample[1::2]
    if len(sample) > 1 and not any(odd) and all(even):
        return "utf-16-le"
    if len(sample) > 1 and not any(even) and all(odd):
        return "utf-16-be"
    return "utf-8"


def count_lines(text: str) -> int:
    """How many line ends `text` holds."""
    if "\r" not in text:
        return text.count("\n")
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def line_offsets(text: str) -> list[int]:
    """Where each line starts, in characters; a text that ends with a line end has no line after it."""
    line_end = LINE_END if "\r" in text else _LINE_FEED  # a single literal is found five times faster
    offsets = [0, *[end.end() for end in line_end.finditer(text)]]
    if len(offsets) > 1 and offsets[-1] == len(text):
        offsets.pop()
    return offsets


def _invalid_bytes(encoding: str, line: int) -> Diagnostic:
    name = "UTF-8" if encoding == "utf-8" else "UTF-16"
    message = f"bytes that are not {name} were replaced by U+FFFD, here first; save the file as UTF-8"
    return Diagnostic("invalid_utf8", message, line)


def _nul_characters(line: int) -> Diagnostic:
    message = "NUL characters were replaced by U+FFFD, here first; remove them, or save the file as UTF-8"
    return Diagnostic("nul_character", message, line)
