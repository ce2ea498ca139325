"""The headings of a page as a structure: its outline, the sections at a path, all sections under one.

A path is resolved with or without a first heading that only names the page (spec 1.7). Each service
reads one snapshot and gives records; nothing here prints or reads the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from indexerd.contract.record import Record
from wikiq.answers.pages import require_target
from wikiq.index import sql
from wikiq.index.database import Snapshot, parse_names
from wikiq.model.results import SectionView
from wikiq.query.names import PageRef, require_page, require_section

EXPANDED_DEPTH = 2  # path elements that the sections of an expansion share (spec 5.2)

# What chunks add to a path for display: no heading, so left off where a path is looked up.
_LABEL = re.compile(r"part \d+ of \d+|lines \d+–\d+")


class OutlineRow(Record):
    """A heading (level 0: the introduction) with its place. `section_path` is the path as shown."""

    section_id: str
    level: int
    heading: str
    heading_path: tuple[str, ...]
    section_path: tuple[str, ...]
    anchor: str
    start_line: int
    end_line: int


class Outline(Record):
    """The sections of a page, in order."""

    slug: str
    title: str
    path: str
    generation: int
    sections: tuple[OutlineRow, ...]


class Expansion(Record):
    """The sections of a page whose paths begin with `section_path`, in order, with their text."""

    slug: str
    title: str
    path: str
    generation: int
    section_path: tuple[str, ...]
    sections: tuple[SectionView, ...]


def outline(snapshot: Snapshot, name: str, *, folder: str | None = None) -> Outline:
    """Give the headings of the page called `name`. Raises UnknownPageError, UsageError."""
    page = require_page(snapshot, name, folder=folder)
    return Outline(
        slug=page.slug,
        title=page.title,
        path=page.path,
        generation=snapshot.generation,
        sections=outline_rows(snapshot, page.page_id),
    )


def resolve(
    snapshot: Snapshot, name: str, heading_path: Sequence[str], *, folder: str | None = None
) -> tuple[SectionView, ...]:
    """Give the sections of a page at a heading path: in order, an introduction last, none where none is.

    The path may be one of a section or of a chunk, with or without a first heading that names the
    page. Where one section is asked for it is the first. Raises UnknownPageError, UsageError.
    """
    page = require_page(snapshot, name, folder=folder)
    found = _sections_at(snapshot, page, heading_path)
    if not found and heading_path and _LABEL.fullmatch(heading_path[-1]):
        found = _sections_at(snapshot, page, heading_path[:-1])
    return found


def expand(
    snapshot: Snapshot, name: str, *, depth: int = EXPANDED_DEPTH, folder: str | None = None
) -> Expansion:
    """Give all sections that share the first `depth` path elements of the section PAGE#section.

    Without a section the whole page is meant. Raises UnknownPageError, UnknownSectionError, UsageError.
    """
    page, section = require_target(snapshot, name, folder=folder)
    shared = _section_path(snapshot, page, section)[:depth] if section else ()
    return Expansion(
        slug=page.slug,
        title=page.title,
        path=page.path,
        generation=snapshot.generation,
        section_path=shared,
        sections=_sections_under(snapshot, page, shared),
    )


def outline_rows(snapshot: Snapshot, page_id: int) -> tuple[OutlineRow, ...]:
    """Give the sections of a page without their text, in order."""
    readers = {"heading_path": parse_names, "section_path": parse_names}
    return tuple(snapshot.records(OutlineRow, sql.SELECT_OUTLINE, (page_id,), **readers))


def _section_path(snapshot: Snapshot, page: PageRef, name: str) -> tuple[str, ...]:
    ordinal = require_section(snapshot, page, name).ordinal
    return outline_rows(snapshot, page.page_id)[ordinal].section_path


def _sections_at(snapshot: Snapshot, page: PageRef, path: Sequence[str]) -> tuple[SectionView, ...]:
    bound = {"page_id": page.page_id, "path": _as_json(path)}
    return tuple(snapshot.records(SectionView, sql.SELECT_SECTIONS_AT, bound, heading_path=parse_names))


def _sections_under(snapshot: Snapshot, page: PageRef, path: Sequence[str]) -> tuple[SectionView, ...]:
    whole = _as_json(path)
    beginning = f"{whole[:-1]}," if path else "["
    bound = {"page_id": page.page_id, "path": whole, "beginning": beginning}
    return tuple(snapshot.records(SectionView, sql.SELECT_SECTIONS_UNDER, bound, heading_path=parse_names))


def _as_json(path: Sequence[str]) -> str:
    """A path as the index writes it."""
    return json.dumps(list(path), ensure_ascii=False, separators=(",", ":"))
