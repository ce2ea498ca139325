"""The fields of front matter that name a page: title, summary, aliases; which ones are of no use.

A field holds one text or a list of them; `[[x]]` is x, as Obsidian and Logseq write links to
topics and pages. Keys come folded. What a topic or a date is, is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from indexerd.core.model import Diagnostic
from indexerd.core.page.dates import unread_moments
from indexerd.core.page.salvage import TEMPLATE
from indexerd.core.page.topics import unread_topics
from indexerd.core.page.yaml_subset import Node, link_text, text_of, texts_of, unlinked

_TEXT_FIELDS: Final = ("title", "summary", "description")
_ALIAS_FIELDS: Final = ("aliases", "alias")


def first_text(fields: Mapping[str, Node], *names: str) -> str | None:
    """The first of the fields that holds text, on one line."""
    for name in names:
        node = fields.get(name)
        if text := " ".join((text_of(node) or link_text(node) or "").split()):
            return text
    return None


def page_aliases(fields: Mapping[str, Node]) -> tuple[str, ...]:
    """Each alias once. One text is cut at commas, as Obsidian does."""
    return tuple(dict.fromkeys(_alias_texts(fields)))


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


def _unused(field: str, problem: str) -> Diagnostic:
    return Diagnostic("front_matter_invalid", f"{field!r} {problem}; it is kept in the front matter, unused")
