"""What can still be read of front matter that as a whole is invalid: entry by entry, line by line.

A bad line costs that line and nothing else (spec 1.4). An entry is a line `key: value` or
`key = value` at the margin, with the lines that go on with it. What is guessed is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from indexerd.core.markdown.attributes import HEAD_LINE
from indexerd.core.page.decode import LINE_END
from indexerd.core.page.yaml_subset import Node, Scalar, YamlError

MAX_ENTRIES: Final = 1000  # that are tried one by one: each starts a parser

TEMPLATE: Final = re.compile(r"\{\{|\{%|<%")  # something else fills it in: a string, no fault of the page
_ENTRY: Final = re.compile(
    r"""(?P<key>[^\W_][\w .\-]{0,100}?|"[^"\r\n]*"|'[^'\r\n]*')[ \t]*[:=](?:[ \t]+|(?=[\r\n]|\Z))"""
)
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)")
_STRUCTURE: Final = ("|", ">", "[", "{", "&", "*", "!")  # begins what no plain text begins with
Parse = Callable[[str], Mapping[str, Node]]


class Fault(NamedTuple):
    """A line that cannot be read, counted from 1, and whether it holds template text."""

    line: int
    message: str
    is_template: bool


def salvage(block: str, parse: Parse) -> tuple[Mapping[str, Node], list[Fault]]:
    """All keys that can be read, the first of each spelling, and the lines that cannot."""
    values: dict[str, Node] = {}
    faults: list[Fault] = []
    for line, lines in _entries(block):
        try:
            read = parse("\n".join(lines))
        except YamlError as error:
            is_template = TEMPLATE.search("\n".join(lines)) is not None
            faults.append(Fault(line + error.line - 1, error.message, is_template))
            read = _guessed(lines, parse)
        for key, value in read.items():
            values.setdefault(key, value)
    return values, faults


def head_lines(text: str, start: int) -> dict[str, Node]:
    """The `key:: value` lines at the head of a page, as Logseq writes them."""
    values: dict[str, Node] = {}
    while start < len(text) and (match := HEAD_LINE.match(text, start)):
        if said := match["text"]:
            values.setdefault(match["key"].casefold(), Scalar(said, said))
        start = match.end()
    return values


def _entries(block: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of each entry, and where it begins; what stands before the first is lost."""
    lines: list[str] = []
    begin = count = 0
    for number, line in enumerate(LINE_END.split(block), start=1):
        if _ENTRY.match(line):
            if lines:
                yield begin, lines
            count += 1
            if count > MAX_ENTRIES:
                return
            begin, lines = number, []
        if begin:
            lines.append(line)
    if lines:
        yield begin, lines


def _guessed(lines: list[str], parse: Parse) -> Mapping[str, Node]:
    """An entry as its author may have meant it: a text on its first line, or a list of texts."""
    entry = _ENTRY.match(lines[0])
    if entry is None:
        return {}
    key = _unquoted(entry["key"])
    text = lines[0][entry.end() :].strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        items = [_plain(item) for item in text[1:-1].split(",")]
        return {key: [item for item in items if item]}
    if text:
        # What the first line says alone, where the lines after it are at fault.
        try:
            return parse(lines[0])
        except YamlError:
            value = _plain(text)
            return {key: value} if value else {}
    marked = (_ITEM.match(line) for line in lines[1:])
    items = [_plain(match[1]) for match in marked if match]
    found: list[Node] = [item for item in items if item]
    return {key: found} if found else {}


def _plain(text: str) -> Scalar | None:
    text = _unquoted(text.strip())
    is_text = text and (not text.startswith(_STRUCTURE) or text.startswith("[["))
    return Scalar(text, text) if is_text or TEMPLATE.match(text) else None


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]
    return text[1:-1] if is_quoted else text
