"""The services for pages: one page or a section of it, the list of pages, the topics.

Each reads the snapshot it is given and gives a record; what is printed, and how, is not known here.
"""

from __future__ import annotations

import time

from wikiq.index import sql
from wikiq.index.database import parse_names
from wikiq.index.freshness import freshness_of
from wikiq.index.page_status import page_status
from wikiq.model.request import LARGEST_INTEGER, NO_FILTERS, Filters, bindable
from wikiq.model.results import Hit, PageView, SearchResult, SectionView, TopicRow
from wikiq.query.filters import checked_filters, page_condition
from wikiq.query.names import find_page, require_page, require_section, require_topic, section_at_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wikiq.index.database import Snapshot
    from wikiq.query.names import PageRef

LINE_DIGITS = 9  # of a line in a name; no page has more lines
UNLIMITED = -1  # as SQLite's LIMIT takes it


def list_pages(
    snapshot: Snapshot, filters: Filters = NO_FILTERS, *, limit: int | None = None, query: str = ""
) -> SearchResult:
    """List the pages that pass the filters, newest first.

    `query` is only repeated in the answer. Raises UnknownTopicError, UnknownPageError, UsageError.
    """
    started = time.perf_counter()
    condition, values = page_condition(checked_filters(snapshot, filters))
    bound = (*values, UNLIMITED if limit is None else min(limit, LARGEST_INTEGER))
    rows = snapshot.rows(sql.SELECT_PAGES.format(condition=condition), bound)
    topics = _grouped(snapshot.rows(sql.SELECT_TOPICS_OF_PAGES.format(condition=condition), bound))
    (total,) = snapshot.only_row(sql.COUNT_PAGES.format(condition=condition), values)
    freshness = freshness_of(snapshot)
    hits = tuple(_listed(snapshot.root, row, topics.get(row[0], ())) for row in rows)
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
    row = snapshot.only_row(sql.SELECT_PAGE, (found.page_id,))
    topics = _grouped(snapshot.rows(sql.SELECT_TOPICS_OF_PAGE, (found.page_id,)))
    section = None
    if section_name:
        chosen = require_section(snapshot, found, section_name)
        section = _section_view(snapshot.only_row(sql.SELECT_SECTION, (found.page_id, chosen.ordinal)))
        source = section.source
    else:
        parts = snapshot.rows(sql.SELECT_SOURCE, {"page_id": found.page_id})
        source = "".join(part[0] for part in parts)
    slug, title, path, summary, updated_at, generation, size, mtime_ns, content_hash = row
    status = page_status(snapshot.root, path, size=size, mtime_ns=mtime_ns, content_hash=content_hash)
    return PageView(
        slug=slug,
        title=title,
        path=path,
        summary=summary,
        topics=topics.get(found.page_id, ()),
        updated_at=updated_at,
        generation=generation,
        status=status,
        section=section,
        source=source,
    )


def require_target(snapshot: Snapshot, name: str, *, folder: str | None = None) -> tuple[PageRef, str]:
    """Find the page and name the section that PAGE, PAGE#section or PATH:LINE means.

    A page whose own name holds a `#` or ends like a line goes first.
    """
    name = bindable(name)
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
            topic=row[0],
            title=row[1],
            description=row[2],
            parents=parents.get(row[0], ()),
            pages=row[3],
            pages_under=row[4],
        )
        for row in rows
    )


def _listed(root: str, row: tuple[Any, ...], topics_of_page: tuple[str, ...]) -> Hit:
    _, slug, title, path, summary, updated_at, size, mtime_ns, content_hash = row
    return Hit(
        slug=slug,
        title=title,
        path=path,
        summary=summary,
        topics=topics_of_page,
        updated_at=updated_at,
        score=0.0,
        status=page_status(root, path, size=size, mtime_ns=mtime_ns, content_hash=content_hash),
        evidence=None,
    )


def _section_view(row: tuple[Any, ...]) -> SectionView:
    section_id, level, heading, heading_path, anchor, start_line, end_line, source = row
    return SectionView(
        section_id=section_id,
        level=level,
        heading=heading,
        heading_path=parse_names(heading_path),
        anchor=anchor,
        start_line=start_line,
        end_line=end_line,
        source=source,
    )


def _grouped(rows: Iterable[tuple[Any, str]]) -> dict[Any, tuple[str, ...]]:
    """Gather the second column under the first, in order."""
    groups: dict[Any, tuple[str, ...]] = {}
    for key, value in rows:
        groups[key] = (*groups.get(key, ()), value)
    return groups
