"""Front matter: where it ends, what it says, and what to do about one that cannot be read.

YAML between `---` and `---` or `...`, TOML between `+++`, Logseq's `key:: value` lines (spec 1.4).
Gives values and the offset where the Markdown begins; topics, sources and titles are made of the
values elsewhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any, Final

from indexerd.contract.toml import parse_toml
from indexerd.core.model import Diagnostic
from indexerd.core.page.decode import REPLACEMENT, count_lines
from indexerd.core.page.salvage import head_lines, salvage
from indexerd.core.page.yaml_subset import (
    MAX_DEPTH,
    Node,
    Scalar,
    YamlError,
    is_long_integer,
    json_text,
    parse_yaml,
)

MAX_BYTES: Final = 1024 * 1024  # of a block (spec 1.4); real ones have some hundred

_OPENING: Final = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\n|\r)")
# A fence stands at the start of a line; `^` would only see lines that end at a line feed.
_CLOSING: Final = {
    "---": re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)"),
    "+++": re.compile(r"(?<=[\r\n])\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)"),
}
# What the first line of a block must be for the block to be meant as front matter.
_MEANT: Final = {
    "---": re.compile(r"[\"'\w][^:\r\n]*:(?:[ \t\r\n]|\Z)"),
    "+++": re.compile(r"(?:[\"'\w][^=\r\n]*=|\[)"),
}
_TOML_LINE: Final = re.compile(r"at line (\d+)")
_FORMAT: Final = {"---": "YAML", "+++": "TOML"}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before the Markdown. `end` is the offset, in characters, where that begins.

    `raw` is the text between the fences, only where it could not be read.
    """

    end: int = 0
    values: Mapping[str, Node] = field(default_factory=dict)
    raw: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def fields(self) -> Mapping[str, Node]:
        """The values by case-folded key; of `Title` and `title`, the folded spelling counts."""
        folded = {key.casefold(): value for key, value in self.values.items()}
        return {**folded, **{key: value for key, value in self.values.items() if key in folded}}

    def as_json(self) -> str:
        """All values as a JSON object, in the order of the source."""
        return json_text(dict(self.values)) if self.values else "{}"


class _NotFrontMatterError(Exception):
    """The block reads well, and is no mapping: the page opens with a thematic break."""


def parse_front_matter(text: str) -> FrontMatter:
    """What the front matter at the start of `text` says; empty where there is none. Never fails."""
    opening = _OPENING.match(text)
    closing = _CLOSING[opening[1]].search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return FrontMatter(values=head_lines(text, 0))
    fence, end = opening[1], closing.end()
    raw = text[opening.end() : closing.start()]
    try:
        values, diagnostics = _parse_block(raw, fence)
    except _NotFrontMatterError:
        return FrontMatter()
    except YamlError as error:
        if not _MEANT[fence].match(raw):
            return FrontMatter()
        return _salvaged(raw, fence, end, error)
    return FrontMatter(end, {**head_lines(text, end), **values}, None, diagnostics)


def _salvaged(raw: str, fence: str, end: int, error: YamlError) -> FrontMatter:
    """What can be read of a block that as a whole cannot; each bad line costs that line."""
    readable = raw if len(raw) <= MAX_BYTES else raw[:MAX_BYTES]
    values, faults = salvage(readable, _parse_toml if fence == "+++" else _parse_mapping)
    told = [fault for fault in faults if not fault.is_template]
    if faults and not told:
        return FrontMatter(end, values, raw)
    line, message = (told[0].line, told[0].message) if told else (error.line, error.message)
    problem = f"the {_FORMAT[fence]} front matter cannot be read here: {message}"
    return FrontMatter(end, values, raw, (_invalid(line + 1, problem),))


def _parse_block(raw: str, fence: str) -> tuple[Mapping[str, Node], tuple[Diagnostic, ...]]:
    if len(raw) > MAX_BYTES or len(raw.encode()) > MAX_BYTES:
        raise YamlError(1, f"it is larger than {MAX_BYTES // 1024} KiB; move text below the front matter")
    if fence == "+++":
        return _parse_toml(raw), ()
    root, warnings = parse_yaml(raw)
    if not isinstance(root, dict):
        raise _NotFrontMatterError
    return root, tuple(_invalid(warning.line + 1, warning.message) for warning in warnings)


def _parse_mapping(text: str) -> Mapping[str, Node]:
    root, _ = parse_yaml(text)
    if not isinstance(root, dict):
        raise YamlError(1, "neither a key nor part of one")
    return root


def _parse_toml(raw: str) -> dict[str, Node]:
    try:
        table = parse_toml(raw.replace("\r\n", "\n").replace("\r", "\n"))
    except tomllib.TOMLDecodeError as error:
        line = _TOML_LINE.search(str(error))
        raise YamlError(int(line[1]) if line else 1 + count_lines(raw), str(error)) from error
    except ValueError as error:
        raise YamlError(1, str(error)) from error
    return {_without_nul(key): _toml_node(value, 1) for key, value in table.items()}


def _toml_node(value: Any, depth: int) -> Node:
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        raise YamlError(1, f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {_without_nul(key): _toml_node(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_toml_node(item, depth + 1) for item in value]
    if isinstance(value, bool):
        return Scalar("true" if value else "false", value)
    if isinstance(value, time):
        return Scalar(value.isoformat(), value.isoformat())
    if isinstance(value, str):
        return Scalar(_without_nul(value), _without_nul(value))
    if isinstance(value, date):
        return Scalar(value.isoformat(), value)
    # In hexadecimal, since decimal digits cost their square.
    return Scalar(hex(value) if is_long_integer(value) else str(value), value)


def _without_nul(text: str) -> str:
    """A TOML text may spell one, which no row may hold; the rest of what TOML spells is fit for one."""
    return text.replace("\0", REPLACEMENT)


def _invalid(line: int, problem: str) -> Diagnostic:
    return Diagnostic("front_matter_invalid", f"{problem}; mend this line of the front matter", line)
