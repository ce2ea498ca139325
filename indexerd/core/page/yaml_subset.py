"""YAML -> plain values: one document of mappings, lists and scalars, within limits.

No alias is expanded, no tag makes an object, no nesting goes deep: a hostile text costs what its
size costs. Scalars keep their spelling beside their value, since `1.10` is a title and a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from math import isfinite
from typing import Final, TypeAlias

import yaml

MAX_DEPTH: Final = 32  # mappings and lists within each other; real front matter has three
INTEGER_BITS: Final = 63  # and a sign: SQLite's JSON functions round what is longer
_QUOTED: Final = 40  # characters of a value in a message
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_LINK: Final = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_SURROGATES: Final = re.compile("[\ud800-\udfff\0]")  # what no UTF-8 file, SQLite or JSON reader takes

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar: as written (without quotes and escapes) and what it means."""

    text: str
    value: str | int | float | bool | date | datetime | None


Node: TypeAlias = "Scalar | list[Node] | dict[str, Node]"


@dataclass(frozen=True, slots=True)
class YamlWarning:
    """Something kept as text or overruled. `line` counts from 1 in the parsed text."""

    line: int
    message: str


class YamlError(Exception):
    """The text is not YAML, or not of the subset. `line` counts from 1 in the parsed text."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


def parse_yaml(text: str) -> tuple[Node, tuple[YamlWarning, ...]]:
    """One YAML document as nodes, and what had to be guessed. Raises YamlError."""
    reader = _Reader(text)
    try:
        return reader.read_document(), tuple(reader.warnings)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, error.problem or "not YAML") from error
    except yaml.YAMLError as error:  # of the reader: a character that YAML does not allow
        raise YamlError(1, "a control character, which YAML does not allow") from error


def text_of(node: Node | None) -> str | None:
    """A scalar as written, None for anything else and for null."""
    return node.text if isinstance(node, Scalar) and node.value is not None else None


def texts_of(node: Node | None) -> Iterator[str | None]:
    """The texts of a list, or the one of a scalar; None for each item that is none. `[[x]]` is one text."""
    for item in node if isinstance(node, list) and link_text(node) is None else [node]:
        if isinstance(item, dict | list):
            yield link_text(item)
        elif text := text_of(item):
            yield text


def link_text(node: Node | None) -> str | None:
    """The x of `[[x]]`, which YAML reads as a list in a list; None for anything else."""
    if isinstance(node, list) and len(node) == 1 and isinstance(node[0], list):
        texts = [text_of(item) for item in node[0]]
        if all(text is not None for text in texts):
            return ", ".join(filter(None, texts))
    return None


def unlinked(text: str) -> str:
    """The page that `[[page]]` or `[[page|label]]` names; any other text as it stands."""
    match = _LINK.fullmatch(text.strip())
    return match[1] if match else text


def json_value(node: Node) -> Json:
    """What a node is in JSON: dates as ISO 8601, numbers that JSON readers lack as written."""
    if isinstance(node, dict):
        return {key: json_value(value) for key, value in node.items()}
    if isinstance(node, list):
        return [json_value(item) for item in node]
    value = node.value
    if isinstance(value, date):
        return value.isoformat()
    if (isinstance(value, float) and not isfinite(value)) or is_long_integer(value):
        return node.text
    return value


def is_long_integer(value: object) -> bool:
    """Whether a value is an integer that 64 bits do not hold."""
    return isinstance(value, int) and not -(1 << INTEGER_BITS) <= value < 1 << INTEGER_BITS


def json_text(node: Node) -> str:
    """A node as JSON text, in the order of the source."""
    return json.dumps(json_value(node), ensure_ascii=False, separators=(",", ":"))


class _Reader:
    """Builds nodes from parser events, which come flat: depth is counted, not recursed into."""

    def __init__(self, text: str) -> None:
        self.warnings: list[YamlWarning] = []
        self._events: Iterator[yaml.Event] = yaml.parse(text, _loader())

    def read_document(self) -> Node:
        stack: list[_Open] = []
        root: Node | None = None
        for event in self._events:
            node: Node | None = None
            if isinstance(event, yaml.ScalarEvent):
                node = self._scalar(event)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                if len(stack) == MAX_DEPTH:
                    raise YamlError(_line(event), f"nested deeper than {MAX_DEPTH} levels")
                stack.append(_Open({} if isinstance(event, yaml.MappingStartEvent) else []))
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                node = stack.pop().node
            elif isinstance(event, yaml.AliasEvent):
                raise YamlError(_line(event), f"an alias (*{event.anchor}), which is not expanded")
            if node is None:
                continue
            if stack:
                self._add(stack[-1], node, _line(event))
            elif root is None:
                root = node
            else:
                raise YamlError(_line(event), "a second document")
        return Scalar("", None) if root is None else root

    def _add(self, parent: _Open, node: Node, line: int) -> None:
        if isinstance(parent.node, list):
            parent.node.append(node)
        elif parent.key is None:
            if not isinstance(node, Scalar):
                raise YamlError(line, "a mapping or list as key")
            parent.key = node.text
            if parent.key in parent.node:
                self._warn(line, f"the key {parent.key!r} is there twice; the last counts")
        else:
            parent.node[parent.key] = node
            parent.key = None

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        text = _SURROGATES.sub("\ufffd", event.value)
        tag = event.tag
        if tag in (None, "!"):
            tag = _implicit_tag(event.value) if event.implicit[0] else _STRING_TAG
        if tag == _STRING_TAG:
            return Scalar(text, text)
        try:
            value = _constructor().construct_document(yaml.ScalarNode(tag, event.value))
        except yaml.YAMLError as error:
            raise YamlError(_line(event), f"the tag {tag}, which is not read") from error
        except (ValueError, OverflowError):
            self._warn(_line(event), f"{text[:_QUOTED]!r} is no date or number that exists; kept as text")
            return Scalar(text, text)
        known = isinstance(value, str | int | float | bool | date | None)
        return Scalar(text, value if known else text)

    def _warn(self, line: int, message: str) -> None:
        self.warnings.append(YamlWarning(line, message))


class _Open:
    """A mapping or list that is being filled; `key` waits for its value."""

    __slots__ = ("key", "node")

    def __init__(self, node: dict[str, Node] | list[Node]) -> None:
        self.node = node
        self.key: str | None = None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


@cache
def _loader() -> type[yaml.SafeLoader]:
    # libyaml gives the same events some ten times faster; not every build of PyYAML has it.
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _implicit_tag(text: str) -> str:
    resolve = _resolver().resolve
    return str(resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]  # its stub is bare


@cache
def _resolver() -> yaml.resolver.Resolver:
    return yaml.resolver.Resolver()


@cache
def _constructor() -> yaml.constructor.SafeConstructor:
    return yaml.constructor.SafeConstructor()
