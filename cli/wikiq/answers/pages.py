"""The services for pages: one page or a section of it, the list of pages, the topics.

Each reads the snapshot it is given and gives a record; what is printed, and how, is not known here.
"""

from __future__ import annotations

import time

from indexerd.contract.record import Record
from wikiq.index import sql
from wikiq.index.database import parse_names
from wikiq.index.freshness import freshness_of
from wikiq.index.page_status import page_status
from wikiq.model.request import LARGEST_INTEGER, NO_FILTERS, Filters, bindable
from wikiq.model.results import Hit, PageView, SearchResult, SectionView, TopicRow
from wikiq.query.filters import checked_filters, page_condition
from wikiq.query.names import (
    find_page,
    require_page,
    require_section,
    require_topic,
    section_at_line,
    unlinked,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wikiq.index.database import Snapshot
    from wikiq.query.names import PageRef

LINE_DIGITS = 9  # of a line in a name; no page has more lines
UNLIMITED = -1  # as SQLite's LIMIT takes it


class _StoredPage(Record):
    """A page as the index has it: the columns of the page statements."""

    page_id: int
    slug: str
    title: str
    path: str
    summary: str | None
    updated_at: str
    generation: int
    size: int
    mtime_ns: int
    content_hash: str | None

    def status(self, root: str) -> str:
        """Hold the page against its file below `root`: `ok`, `changed` or `gone`."""
        return page_status(
            root, self.path, size=self.size, mtime_ns=self.mtime_ns, content_hash=self.content_hash
        )


def list_pages(
    snapshot: Snapshot, filters: Filters = NO_FILTERS, *, limit: int | None = None, query: str = ""
) -> SearchResult:
    """List the pages that pass the filters, newest first.

    `query` is only repeated in the answer. Raises UnknownTopicError, UnknownPageError, UsageError.
    """
    started = time.perf_counter()
    condition, values = page_condition(checked_filters(snapshot, filters))
    bound = (*values, UNLIMITED if limit is None else min(limit, LARGEST_INTEGER))
    stored = snapshot.records(_StoredPage, sql.SELECT_PAGES.format(condition=condition), bound)
    topics = _grouped(snapshot.rows(sql.SELECT_TOPICS_OF_PAGES.format(condition=condition), bound))
    (total,) = snapshot.only_row(sql.COUNT_PAGES.format(condition=condition), values)
    freshness = freshness_of(snapshot)
    hits = tuple(_listed(snapshot.root, one, topics.get(one.page_id, ())) for one in stored)
    return SearchResult(
        query=query,
        policy=None,
        corrected={},
        excluded=(),
        ignored_terms=(),
        wiki=snapshot.wiki,
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        age_s=freshness.age_s,
        stale=freshness.stale,
        total=total,
        took_ms=round((time.perf_counter() - started) * 1000, 3),
        hits=hits,
    )


def page(snapshot: Snapshot, name: str, *, folder: str | None = None) -> PageView:
    """Give the page called `name`, or the section of it that follows a `#` or holds the line after a `:`.

    `folder` is where a relative path starts. Raises UnknownPageError, UnknownSectionError, UsageError.
    """
    found, section_name = require_target(snapshot, name, folder=folder)
    stored = _StoredPage.from_row(snapshot.only_row(sql.SELECT_PAGE, (found.page_id,)))
    topics = _grouped(snapshot.rows(sql.SELECT_TOPICS_OF_PAGE, (found.page_id,)))
    section = None
    if section_name:
        chosen = require_section(snapshot, found, section_name)
        row = snapshot.only_row(sql.SELECT_SECTION, (found.page_id, chosen.ordinal))
        section = SectionView.from_row(row, heading_path=parse_names)
        source = section.source
    else:
        source = source_of(snapshot, found.page_id)
    return PageView(
        slug=stored.slug,
        title=stored.title,
        path=stored.path,
        summary=stored.summary,
        topics=topics.get(found.page_id, ()),
        updated_at=stored.updated_at,
        generation=stored.generation,
        status=stored.status(snapshot.root),
        section=section,
        source=source,
    )


def mentions(snapshot: Snapshot, name: str) -> tuple[tuple[str, str], ...]:
    """Give the files outside the wiki that a page speaks of: cleaned path (a folder's ends in /), as written.

    Raises UnknownPageError, UsageError.
    """
    found = require_page(snapshot, name)
    return tuple(snapshot.rows(sql.SELECT_MENTIONS_OF_PAGE, (found.page_id,)))


def source_of(snapshot: Snapshot, page_id: int) -> str:
    """Give the decoded file of a page."""
    return "".join(part[0] for part in snapshot.rows(sql.SELECT_SOURCE, {"page_id": page_id}))


def require_target(snapshot: Snapshot, name: str, *, folder: str | None = None) -> tuple[PageRef, str]:
    """Find the page and name the section that PAGE, PAGE#section or PATH:LINE means.

    A page whose own name holds a `#` or ends like a line goes first.
    """
    name = bindable(unlinked(name))
    signs = [place for place, sign in enumerate(name) if sign == "#"]
    for cut in (len(name), *reversed(signs)):
        if snapshot.row(sql.SELECT_PAGE_EXACTLY, {"name": name[:cut]}) is not None:
            return require_page(snapshot, name[:cut], folder=folder), name[cut + 1 :]
    path, line = split_line(name)
    if line is not None and find_page(snapshot, name, folder=folder) is None:
        page = require_page(snapshot, path, folder=folder)
        return page, section_at_line(snapshot, page, line)
    before, _, section = name.partition("#")
    return require_page(snapshot, before, folder=folder), section


def split_line(name: str) -> tuple[str, int | None]:
    """Take the line off a place as searches print it, PATH:LINE; None without one."""
    path, sign, line = name.rpartition(":")
    is_line = sign and line.isascii() and line.isdecimal() and len(line) <= LINE_DIGITS
    return (path, int(line)) if is_line else (name, None)


def topics(snapshot: Snapshot, topic: str | None = None) -> tuple[TopicRow, ...]:
    """List all topics, or one with those right below it."""
    chosen = require_topic(snapshot, topic) if topic is not None else None
    rows = snapshot.rows(sql.SELECT_TOPICS, {"topic": chosen})
    parents = _grouped(snapshot.rows(sql.SELECT_TOPIC_PARENTS))
    return tuple(
        TopicRow(
            topic=slug,
            title=title,
            description=description,
            parents=parents.get(slug, ()),
            pages=pages,
            pages_under=pages_under,
        )
        for slug, title, description, pages, pages_under in rows
    )


def _listed(root: str, stored: _StoredPage, topics_of_page: tuple[str, ...]) -> Hit:
    return Hit(
        slug=stored.slug,
        title=stored.title,
        path=stored.path,
        summary=stored.summary,
        topics=topics_of_page,
        updated_at=stored.updated_at,
        score=0.0,
        status=stored.status(root),
        evidence=None,
    )


def _grouped(rows: Iterable[tuple[Any, str]]) -> dict[Any, tuple[str, ...]]:
    """Gather the second column under the first, in order."""
    groups: dict[Any, tuple[str, ...]] = {}
    for key, value in rows:
        groups[key] = (*groups.get(key, ()), value)
    return groups
