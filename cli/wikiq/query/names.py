"""Which page or topic a name means, and what comes near a name that means none.

Names are only ever compared with names in the index; nothing typed is opened as a path.
"""

from __future__ import annotations

import posixpath

from indexerd.contract.record import Record
from indexerd.contract.suggestions import MOST_SUGGESTED, did_you_mean, nearest
from indexerd.contract.terms import fold_path, fold_title
from indexerd.contract.which_index import shell_word
from wikiq.errors import UnknownPageError, UnknownSectionError, UnknownTopicError, UsageError
from wikiq.index import sql
from wikiq.index.database import parse_names
from wikiq.model.request import bindable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wikiq.index.database import Snapshot

MOST_COMPARED = 5_000  # names held against a miss: .1 s
PATH_SIGN = ">"  # between the headings of a path that is typed
LENGTH_SLACK = 4  # characters by which a near miss may be longer or shorter

# What a name may be, best first; within one kind a name that fits several pages is ambiguous.
_KINDS = ("path", "slug", "stem", "alias", "file_name", "title")


class PageRef(Record):
    """A page, as much of it as other statements need."""

    page_id: int
    slug: str
    path: str
    title: str
    sections: int


class SectionName(Record):
    """What a section may be called, and where it stands: the columns of SELECT_SECTION_NAMES."""

    section_rowid: int
    ordinal: int
    section_id: str
    anchor: str
    heading: str
    level: int
    heading_path: str
    start_line: int
    end_line: int


class SectionRef(Record):
    """A section of a page, by its place in it."""

    section_rowid: int
    ordinal: int


def require_page(snapshot: Snapshot, name: str, *, folder: str | None = None) -> PageRef:
    """Find the page called `name`: slug, path, title, alias or unique file name.

    A path may also be absolute, or relative to `folder` (absolute). Raises UnknownPageError with near
    misses, UsageError where several pages share the name.
    """
    page = find_page(snapshot, name, folder=folder)
    if page is None:
        key = posixpath.splitext(fold_path(bindable(name)))[0]  # names are compared without a suffix
        near = nearest(key, (row[0] for row in _comparable(snapshot, key)))
        raise UnknownPageError(
            name, "there is no such page", did_you_mean(map(shell_word, near), "see `wikiq pages`")
        )
    return page


def unlinked(name: str) -> str:
    """Give the target of a wikilink that was typed as it stands in a page; any other name as it is."""
    if name.startswith("[[") and name.endswith("]]"):
        return name[2:-2].partition("|")[0].strip()
    return name


def find_page(snapshot: Snapshot, name: str, *, folder: str | None = None) -> PageRef | None:
    """Find the page called `name` like `require_page`; None where no page is."""
    name = bindable(unlinked(name))
    for spelled in map(bindable, _spellings(name, snapshot.root, folder)):
        row = snapshot.row(sql.SELECT_PAGE_EXACTLY, {"name": spelled})
        if row is not None:
            return PageRef.from_row(row)
    named = snapshot.rows(sql.SELECT_PAGES_NAMED, (fold_path(name), fold_title(name)))
    if not named:
        return None
    best = min(named, key=lambda row: _KINDS.index(row[-1]) if row[-1] in _KINDS else len(_KINDS))[-1]
    pages = [PageRef.from_row(row[:-1]) for row in named if row[-1] == best]
    if len({page.page_id for page in pages}) > 1:
        paths = ", ".join(shell_word(page.path) for page in pages[:MOST_SUGGESTED])
        more = ", …" if len(pages) > MOST_SUGGESTED else ""
        raise UsageError(name, f"means {len(pages)} pages", f"give the path of one: {paths}{more}")
    return pages[0]


def require_section(snapshot: Snapshot, page: PageRef, name: str) -> SectionRef:
    """Find the section `name` of a page, the first of several.

    `name`: anchor, number, heading, or the last headings of a path joined by ` > `, as searches show
    it. Raises UnknownSectionError with near misses.
    """
    name = bindable(name)
    sections = snapshot.records(SectionName, sql.SELECT_SECTION_NAMES, (page.page_id,))
    folded = fold_title(name.replace("%20", " "))
    tests: tuple[Callable[[SectionName], bool], ...] = (
        lambda one: one.anchor == name,
        lambda one: one.section_id == name,
        lambda one: one.anchor.lower() == name.lower(),
        lambda one: fold_title(one.heading) == folded,
    )
    for fits in tests:
        for one in sections:
            if fits(one):
                return SectionRef(section_rowid=one.section_rowid, ordinal=one.ordinal)
    found = _section_at_path(sections, name) if PATH_SIGN in name else None
    if found is not None:
        return SectionRef(section_rowid=found.section_rowid, ordinal=found.ordinal)
    anchors = nearest(name, (one.anchor for one in sections if one.anchor))
    near = [f"{page.slug}#{anchor}" for anchor in anchors]
    raise UnknownSectionError(
        f"{page.slug}#{name}",
        "there is no such section",
        did_you_mean(map(shell_word, near), f"see `wikiq outline {shell_word(page.slug)}`"),
    )


def section_at_line(snapshot: Snapshot, page: PageRef, line: int) -> str:
    """Give the number of the section that holds a line of the page's file, "" for what is before the first.

    Raises UnknownSectionError for a line after the last.
    """
    sections = snapshot.records(SectionName, sql.SELECT_SECTION_NAMES, (page.page_id,))
    last = max((one.end_line for one in sections), default=0)
    if line > last:
        problem = f"the last line with text is {last}" if last else "the page has no sections"
        remedy = f"see `wikiq outline {shell_word(page.slug)}`"
        raise UnknownSectionError(f"{page.path}:{line}", problem, remedy)
    return next((one.section_id for one in reversed(sections) if one.start_line <= line), "")


def _section_at_path(sections: Iterable[SectionName], path: str) -> SectionName | None:
    """Find the first section whose headings end with those of `path`; an introduction comes last."""
    sought = [fold_title(part) for part in path.split(PATH_SIGN)]
    found = [
        one
        for one in sections
        if [fold_title(heading) for heading in parse_names(one.heading_path)][-len(sought) :] == sought
    ]
    return min(found, key=lambda one: one.level == 0, default=None)


def require_topic(snapshot: Snapshot, topic: str) -> str:
    """Give the spelling of a topic in the index; UnknownTopicError with near misses."""
    folded = "-".join(fold_title(bindable(topic).strip().removeprefix("#")).split())
    if snapshot.row(sql.SELECT_TOPIC_EXISTS, {"topic": folded}) is not None:
        return folded
    near = nearest(folded, (row[0] for row in snapshot.rows(sql.SELECT_TOPIC_NAMES)))
    raise UnknownTopicError(
        topic, "there is no such topic", did_you_mean(map(shell_word, near), "see `wikiq topics`")
    )


def _spellings(name: str, root: str, folder: str | None) -> Iterable[str]:
    """What `name` may be as a slug or a path from the root."""
    plain = name.removeprefix("./").rstrip("/")
    yield plain
    if posixpath.isabs(name):
        yield posixpath.relpath(name, root)
    elif folder is not None:
        yield posixpath.relpath(posixpath.join(folder, name), root)


def _comparable(snapshot: Snapshot, key: str) -> list[tuple[str]]:
    bounds = (key, len(key) - LENGTH_SLACK, len(key) + LENGTH_SLACK, MOST_COMPARED)
    return snapshot.rows(sql.SELECT_SIMILAR_NAMES, bounds)
