"""The fields of front matter that name a page: aliases, addresses, and the words of a list.

A field holds one text or a list of them; `[[x]]` is x, as Obsidian and Logseq write links to
topics and pages. Keys come folded. What a topic or a date is, is told elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from indexerd.core.model import Diagnostic
from indexerd.core.page.dates import unread_moments
from indexerd.core.page.salvage import TEMPLATE
from indexerd.core.page.topics import unread_topics
from indexerd.core.page.yaml_subset import Node, link_text, text_of, texts_of, unlinked

_TEXT_FIELDS: Final = ("title", "summary", "description")
_ALIAS_FIELDS: Final = ("aliases", "alias")
_ADDRESS_FIELDS: Final = ("permalink", "url", "slug")
_PATTERN: Final = re.compile(r"[:{}<>*\s]")  # of `/:year/:title/`: no address, but how to make one


def first_text(fields: Mapping[str, Node], *names: str) -> str | None:
    """The first of the fields that holds text, on one line."""
    for name in names:
        node = fields.get(name)
        if text := " ".join((text_of(node) or link_text(node) or "").split()):
            return text
    return None


def page_aliases(fields: Mapping[str, Node]) -> tuple[str, ...]:
    """Each alias once. One text is cut at commas, as Obsidian does."""
    return tuple(dict.fromkeys(alias for alias in _alias_texts(fields) if not alias.startswith("/")))


def page_addresses(fields: Mapping[str, Node], path: str) -> tuple[str, ...]:
    """Where the page is published, as paths that begin with `/`: `permalink`, `url`, `slug`, aliases.

    Of a URL its path; a `slug` without `/` takes the place of the file's name.
    """
    addresses: dict[str, None] = {}
    for field in _ADDRESS_FIELDS:
        text = (text_of(fields.get(field)) or "").strip()
        if not text or _PATTERN.search(text.partition("://")[2] or text):
            continue
        if "://" in text:
            text = _path_of(text)
        elif field == "slug" and "/" not in text:
            text = f"{path.rpartition('/')[0]}/{text}"
        if text:
            addresses[f"/{text.lstrip('/')}"] = None
    addresses |= dict.fromkeys(alias for alias in _alias_texts(fields) if alias.startswith("/"))
    return tuple(addresses)


def unused_values(fields: Mapping[str, Node]) -> Iterator[Diagnostic]:
    """One diagnostic for each field that holds something which its use does not allow."""
    for field in _TEXT_FIELDS:
        if isinstance(node := fields.get(field), dict | list) and link_text(node) is None:
            yield _unused(field, "is no text")
    for field in unread_moments(fields):
        if not TEMPLATE.search(text_of(fields[field]) or ""):
            yield _unused(field, "is no date; write it as 2024-12-31 or 2024-12-31T23:59:59Z")
    for field in _ALIAS_FIELDS:
        if any(True for text in texts_of(fields.get(field)) if text is None):
            yield _unused(field, "holds something that is no name")
    yield from unread_topics(fields)


def _alias_texts(fields: Mapping[str, Node]) -> Iterator[str]:
    for field in _ALIAS_FIELDS:
        node = fields.get(field)
        texts = texts_of(node) if isinstance(node, list) else (text_of(node) or "").split(",")
        for text in texts:
            if alias := " ".join(unlinked(text or "").split()):
                yield alias


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:  # a bracket in the host
        return ""


def _unused(field: str, problem: str) -> Diagnostic:
    return Diagnostic("front_matter_invalid", f"{field!r} {problem}; it is kept in the front matter, unused")
