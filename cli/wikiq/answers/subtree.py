"""A section with everything deeper, in pieces that end where sections do: what fits a reader's budget."""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.answers.outline import OutlineRow, outline_rows
from wikiq.answers.pages import require_target
from wikiq.errors import UnknownSectionError
from wikiq.index import sql
from wikiq.index.database import Snapshot, parse_names
from wikiq.model.results import SectionView
from wikiq.query.names import require_section


class Subtree(Record):
    """A piece of a subtree: sections in order. `next` is the section_id to go on from, None at the end.

    `left` counts the sections that are still to come.
    """

    slug: str
    title: str
    path: str
    generation: int
    sections: tuple[SectionView, ...]
    next: str | None
    left: int


def subtree(
    snapshot: Snapshot, name: str, budget: int, *, start: str | None = None, folder: str | None = None
) -> Subtree:
    """Give the section PAGE#section and everything deeper, at most `budget` characters of source.

    Cut at section borders; the first section is given whole whatever its length, so that a reader gets
    on. `start`: the `next` of the piece before. Without a section the whole page is meant. Raises
    UnknownPageError, UnknownSectionError, UsageError.
    """
    page, section = require_target(snapshot, name, folder=folder)
    rows = outline_rows(snapshot, page.page_id)
    at = require_section(snapshot, page, section).ordinal if section else 0
    wanted = with_deeper(rows, at) if section else rows
    if start is not None:
        wanted = wanted[_place_of(wanted, start, f"{page.slug}#{start}") :]
    sections: list[SectionView] = []
    for row in wanted:
        stored = snapshot.only_row(sql.SELECT_SECTION, (page.page_id, int(row.section_id)))
        view = SectionView.from_row(stored, heading_path=parse_names)
        if sections and len(view.source) > budget:
            break
        budget -= len(view.source)
        sections.append(view)
    rest = wanted[len(sections) :]
    return Subtree(
        slug=page.slug,
        title=page.title,
        path=page.path,
        generation=snapshot.generation,
        sections=tuple(sections),
        next=rest[0].section_id if rest else None,
        left=len(rest),
    )


def with_deeper(rows: tuple[OutlineRow, ...], at: int) -> tuple[OutlineRow, ...]:
    """Give the section at a place, and those after it up to the next that is no deeper."""
    end = at + 1
    while end < len(rows) and rows[end].level > rows[at].level > 0:
        end += 1
    return rows[at:end]


def _place_of(rows: tuple[OutlineRow, ...], section_id: str, subject: str) -> int:
    for place, row in enumerate(rows):
        if row.section_id == section_id:
            return place
    raise UnknownSectionError(subject, "is not in this subtree", "start over without it")
