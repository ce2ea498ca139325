"""Completion in a shell: pages, sections, topics and wikis whose names begin with what was typed."""

from __future__ import annotations

from indexerd.contract.record import Record
from indexerd.contract.terms import fold_path
from wikiq.errors import WikiqError
from wikiq.index import sql
from wikiq.index.database import Snapshot
from wikiq.query.names import SectionName, require_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexerd.contract.which_index import KnownIndex

MOST_CANDIDATES = 200  # more than that nobody reads, and shells ask before they show it


class Candidate(Record):
    """A text to put in, and what it stands for."""

    text: str
    meaning: str


def complete_pages(snapshot: Snapshot, beginning: str) -> tuple[Candidate, ...]:
    """Slugs, and below them other names of pages, that begin with a text."""
    slugs = snapshot.rows(sql.SELECT_SLUGS_FROM, (beginning, MOST_CANDIDATES))
    names = snapshot.rows(sql.SELECT_NAMES_FROM, (fold_path(beginning), MOST_CANDIDATES)) if beginning else []
    found = dict(slugs) | {key: title for key, title in names if key not in dict(slugs)}
    return tuple(Candidate(text=text, meaning=meaning) for text, meaning in found.items())


def complete_sections(snapshot: Snapshot, beginning: str) -> tuple[Candidate, ...]:
    """PAGE or PAGE#anchor."""
    name, sign, anchor = beginning.partition("#")
    if not sign:
        return complete_pages(snapshot, beginning)
    return tuple(_sections(snapshot, name, anchor))


def complete_topics(snapshot: Snapshot, beginning: str) -> tuple[Candidate, ...]:
    """Topics that begin with a text."""
    rows = snapshot.rows(sql.SELECT_TOPICS_FROM, (fold_path(beginning), MOST_CANDIDATES))
    return tuple(Candidate(text=topic, meaning=title) for topic, title in rows)


def complete_wikis(known: Sequence[KnownIndex], beginning: str) -> tuple[Candidate, ...]:
    """Names of wikis that begin with a text, and the roots of those whose name does not tell them apart."""
    names = [index.wiki for index in known]
    found = [
        Candidate(text=index.wiki if names.count(index.wiki) == 1 else index.root, meaning=index.root)
        for index in known
        if index.wiki.startswith(beginning) or index.root.startswith(beginning)
    ]
    return tuple(found)


def _sections(snapshot: Snapshot, name: str, anchor: str) -> list[Candidate]:
    try:
        page = require_page(snapshot, name)
    except WikiqError:
        return []
    sections = snapshot.records(SectionName, sql.SELECT_SECTION_NAMES, (page.page_id,))
    return [
        Candidate(text=f"{name}#{one.anchor}", meaning=one.heading)
        for one in sections
        if one.anchor and one.anchor.startswith(anchor.lower())
    ]
