"""Front matter: where it ends, what it says, and what to do about one that cannot be read.

YAML between `---` and `---` or `...`, TOML between `+++` (spec 1.4). Gives values and the offset
where the Markdown begins; topics, sources and titles are made of the values elsewhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, Final

from indexerd.core.model import Diagnostic
from indexerd.core.page.decode import REPLACEMENT, count_lines
from indexerd.core.page.yaml_subset import (
    MAX_DEPTH,
    Node,
    Scalar,
    YamlError,
    is_long_integer,
    json_text,
    parse_yaml,
    text_of,
)

MAX_BYTES: Final = 64 * 1024  # of a block; real ones have some hundred, and parsing is the costly part

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
# What is still taken of a block that cannot be read.
_SALVAGED: Final = re.compile(r"""^(title|summary)[ \t]*[:=][ \t]*([^\r\n]*?)[ \t]*$""", re.MULTILINE)
_STRUCTURE: Final = ("|", ">", "[", "{", "&", "*", "!")
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

    def as_json(self) -> str:
        """All values as a JSON object, in the order of the source."""
        return json_text(dict(self.values)) if self.values else "{}"

    def first_text(self, *keys: str) -> str | None:
        """The first of `keys` that holds a scalar with text, on one line."""
        for key in keys:
            if text := " ".join((text_of(self.values.get(key)) or "").split()):
                return text
        return None


class _NotFrontMatterError(Exception):
    """The block reads well, and is no mapping: the page opens with a thematic break."""


def parse_front_matter(text: str) -> FrontMatter:
    """What the front matter at the start of `text` says; empty where there is none. Never fails."""
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter()
    fence, start = opening[1], opening.end()
    closing = _CLOSING[fence].search(text, start)
    if closing is None:
        return FrontMatter()
    raw, end = text[start : closing.start()], closing.end()
    try:
        values, diagnostics = _parse_block(raw, fence)
    except _NotFrontMatterError:
        return FrontMatter()
    except YamlError as error:
        if not _MEANT[fence].match(raw):
            return FrontMatter()
        problem = f"the {_FORMAT[fence]} front matter cannot be read: {error.message}"
        return FrontMatter(end, _salvage(raw), raw, (_invalid(error.line + 1, problem),))
    return FrontMatter(end, values, None, diagnostics)


def parse_moment(node: Node | None) -> str | None:
    """A date or time as ISO 8601 UTC with milliseconds, None where the node is none.

    A time without a zone is taken as UTC: the same bytes mean the same on every machine.
    """
    if not isinstance(node, Scalar):
        return None
    moment = node.value
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.strip())
        except ValueError:
            return None
    if isinstance(moment, datetime):
        try:
            moment = (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
        except OverflowError:  # the year 1 or 9999, moved across its edge by the zone
            return None
    elif isinstance(moment, date):
        moment = datetime.combine(moment, time(), UTC)
    else:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse_block(raw: str, fence: str) -> tuple[Mapping[str, Node], tuple[Diagnostic, ...]]:
    if len(raw.encode("utf-8")) > MAX_BYTES:
        raise YamlError(1, f"it is larger than {MAX_BYTES // 1024} KiB; move text below the front matter")
    if fence == "+++":
        return _parse_toml(raw), ()
    root, warnings = parse_yaml(raw)
    if not isinstance(root, dict):
        raise _NotFrontMatterError
    return root, tuple(_invalid(warning.line + 1, warning.message) for warning in warnings)


def _parse_toml(raw: str) -> dict[str, Node]:
    try:
        table = tomllib.loads(raw.replace("\r\n", "\n").replace("\r", "\n"))
    except tomllib.TOMLDecodeError as error:
        line = _TOML_LINE.search(str(error))
        raise YamlError(int(line[1]) if line else 1 + count_lines(raw), str(error)) from error
    except RecursionError as error:
        raise YamlError(1, f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # from int(), which takes some thousand digits
        raise YamlError(1, "a number with too many digits") from error
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


def _salvage(raw: str) -> dict[str, Node]:
    values: dict[str, Node] = {}
    for line in _SALVAGED.finditer(raw.replace("\r", "\n")):
        text = line[2]
        if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
            text = text[1:-1]
        if text and not text.startswith(_STRUCTURE):
            values.setdefault(line[1], Scalar(text, text))
    return values


def _invalid(line: int, problem: str) -> Diagnostic:
    return Diagnostic("front_matter_invalid", f"{problem}; mend this line of the front matter", line)
