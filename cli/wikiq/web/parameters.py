"""What an address asks for: its fields are the options of the command, by the same names. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from wikiq.errors import UsageError
from wikiq.model.request import LARGEST_LIMIT, SearchRequest
from wikiq.shell.options import COUNT, FILTERS, FLAG, INDEX, MANY, SEARCH, SearchArguments
from wikiq.shell.parse import build_request

Pairs = Sequence[tuple[str, str]]

WORDS = "q"
# What is the command's own: which index, which form, and what needs a terminal or several indexes.
_ELSEWHERE = frozenset((*INDEX, "--json", "--ndjson", "--format", "--vimgrep", "--all", "--open"))
OPTIONS = {name[2:]: option for name, option in SEARCH.items() if name not in _ELSEWHERE}
FILTER_NAMES = tuple(name[2:] for name in FILTERS)
_OFF = ("0", "false", "no")


def read_request(pairs: Pairs, now: datetime, *, strict: bool = False) -> SearchRequest:
    """Read a search from the fields of an address; `strict` refuses a field that means nothing here.

    Empty fields count as not given, as forms send them. Raises UsageError.
    """
    values: dict[str, Any] = {}
    words: list[str] = []
    for name, value in pairs:
        option = OPTIONS.get(name)
        if name == WORDS:
            words.append(value)
        elif option is None:
            if strict:
                known = ", ".join((WORDS, *OPTIONS))
                raise UsageError(name, "there is no such field", f"use {known}")
        elif not value and option.kind != FLAG:
            continue
        elif option.kind == FLAG:
            values[option.field] = value not in _OFF
        elif option.kind == MANY:
            values[option.field] = (*values.get(option.field, ()), value)
        elif option.kind == COUNT:
            values[option.field] = whole_number(name, value, least=1, most=LARGEST_LIMIT)
        else:
            values[option.field] = value
    return build_request(SearchArguments(words=tuple(words), **values), now)


def whole_number(name: str, value: str, *, least: int, most: int) -> int:
    """Read a number within its limits. Raises UsageError."""
    is_plain = value.isascii() and value.isdecimal() and len(value) <= len(str(most))
    if not is_plain or not least <= int(value) <= most:
        raise UsageError(f"{name}={value}", "is no number that fits", f"give one from {least} to {most}")
    return int(value)


def kept(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the fields that an address of the viewer goes on with."""
    names = {WORDS, *FILTER_NAMES, "sections", "copies", "exact", "without"}
    return [(name, value) for name, value in pairs if name in names and value]
