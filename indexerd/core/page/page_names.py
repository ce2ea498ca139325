"""What a page may be called besides its path: addresses it is published at, names that nearly fit.

The names that links and readers look up, each with a rank. Pure: nothing is looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Final

from indexerd.contract.terms import fold_path
from indexerd.core.page.yaml_subset import Node, text_of

ADDRESS_MARK: Final = "//"  # before the key of an address; no other name begins so
_ADDRESS_FIELDS: Final = ("permalink", "url", "slug")
_SITE: Final = re.compile(r"https?://[^/]*", re.IGNORECASE)
_PATTERN: Final = re.compile(r"/:|\{|<")  # `/:year/:title/`, a template: filled in elsewhere
_SEPARATORS: Final = re.compile(r"[\s_-]+")
_PUBLISHED: Final = re.compile(r"(?:(?:^|/)index)?\.html?$|/+$", re.IGNORECASE)


class NameRank(IntEnum):
    """What a name of a page is, the surest first (schema, `name`)."""

    PATH = 0
    SLUG = 1
    STEM = 2
    ALIAS = 3
    FILE_NAME = 4
    TITLE = 5
    SEPARATED = 6
    ADDRESS = 7


def fold_separators(name: str) -> str:
    """A name folded, with blanks, `-` and `_` taken for one."""
    return _SEPARATORS.sub("-", fold_path(name))


def published_path(path: str) -> str:
    """The path of the page that is published as `x/`, `x.html` or `x/index.html`, without an ending."""
    return _PUBLISHED.sub("", path).strip("/")


def parse_addresses(values: Mapping[str, Node], aliases: Iterable[str], folder: str) -> tuple[str, ...]:
    """Where the front matter says that a page is published, each as a path without slashes at its ends."""
    return tuple(dict.fromkeys(_addresses(values, aliases, folder)))


def _addresses(values: Mapping[str, Node], aliases: Iterable[str], folder: str) -> Iterator[str]:
    for field in _ADDRESS_FIELDS:
        said = (text_of(values.get(field)) or "").strip()
        if field == "slug" and not said.startswith("/"):
            said = f"{folder}/{said}" if said else ""  # the last part only (Hugo, Docusaurus)
        yield from _address(said)
    for alias in aliases:
        if alias.startswith("/"):
            yield from _address(alias)


def _address(said: str) -> Iterator[str]:
    address = published_path(_SITE.sub("", said).partition("?")[0].partition("#")[0])
    if address and not _PATTERN.search(f"/{address}"):
        yield address
