"""A page, or one section of it for the preview: rendered text, outline, what links here, where it leads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from indexerd.contract.record import Record
from wikiq.answers.links import LinkRow
from wikiq.answers.marks import marks
from wikiq.answers.outline import OutlineRow, outline
from wikiq.answers.page_bundle import PageBundle, page_bundle
from wikiq.answers.pages import mentions, page
from wikiq.errors import UsageError
from wikiq.index.database import Snapshot
from wikiq.model.results import DIFFERENT
from wikiq.query.names import find_page
from wikiq.web import addresses
from wikiq.web.frame import OWN_IDS, Shown, frame_of
from wikiq.web.hit_lists import Answer
from wikiq.web.sources import is_picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.web.rendering.page import RenderedPage

Anchors = Mapping[tuple[str, str], str]


class Elsewhere(Record):
    """Another address: the page goes by another name there."""

    location: str


class Source(Record):
    """A page that links to the one shown, with the places it does so: address and sentence."""

    title: str
    href: str
    places: tuple[tuple[str, str, str], ...]


def show_page(snapshot: Snapshot, name: str, query: str) -> Answer | Elsewhere:
    """The page called `name`; another address where that is not its slug, or means a section of it."""
    bundle = page_bundle(snapshot, name)
    view = bundle.page
    if view.section is not None or name != view.slug:
        anchor = view.section.anchor if view.section is not None else ""
        return Elsewhere(location=addresses.page(view.slug, query, anchor))
    ranges = _marks(snapshot, query, view.slug)
    anchors = _anchors(snapshot, bundle.links)
    mentioned, targets = mentions(snapshot, view.slug), _targets(snapshot, bundle.links)
    frame = frame_of(snapshot)

    def finish() -> Shown:
        rendered = _render(bundle, view.source, ranges, anchors, only=None)
        values = {
            "page": view,
            "flag": view.status if view.status in DIFFERENT else None,
            "rendered": rendered,
            "outline": [row for row in bundle.outline.sections if row.level and row.anchor],
            "sources": _sources(bundle.backlinks),
            "targets": targets,
            "mentioned": mentioned,
            "marked": len(ranges),
        }
        return Shown(
            template="page.html",
            values=values,
            frame=frame,
            title=f"{view.title} - {frame.wiki}",
            query=query,
            ids=_own_ids(bundle.outline.sections),
        )

    return finish


def show_section(snapshot: Snapshot, name: str, query: str) -> Answer:
    """The section that PATH:LINE or PAGE#section means, with everything deeper, or a whole page."""
    if not name:
        raise UsageError("page", "names no page", "give PATH:LINE")
    bundle = page_bundle(snapshot, name)
    section = bundle.page.section
    whole = page(snapshot, bundle.page.path) if section is not None else bundle.page
    ranges = _marks(snapshot, query, whole.slug)
    anchors = _anchors(snapshot, bundle.links)
    frame = frame_of(snapshot)

    def finish() -> Shown:
        only = section.section_id if section is not None else None
        values = {
            "page": whole,
            "rendered": _render(bundle, whole.source, ranges, anchors, only=only),
            "headings": section.heading_path if section is not None else (),
            "href": addresses.page(whole.slug, query, section.anchor if section is not None else ""),
        }
        title = f"{whole.title} - {frame.wiki}"
        return Shown(template="section.html", values=values, frame=frame, title=title, query=query)

    return finish


def _render(
    bundle: PageBundle,
    source: str,
    ranges: tuple[tuple[int, int], ...],
    anchors: Anchors,
    *,
    only: str | None,
) -> RenderedPage:
    from wikiq.web.rendering.page import render

    def page_href(slug: str, fragment: str | None) -> str:
        return addresses.page(slug, anchor=anchors.get((slug, fragment or ""), ""))

    def file_href(path: str) -> str | None:
        return addresses.picture(path) if is_picture(path) else None

    return render(
        source,
        title=bundle.page.title,
        sections=bundle.outline.sections,
        links=bundle.links,
        marks=ranges,
        page_href=page_href,
        file_href=file_href,
        only=only,
    )


def _marks(snapshot: Snapshot, query: str, slug: str) -> tuple[tuple[int, int], ...]:
    return marks(snapshot, query, slug, prefix=True) if query.strip() else ()


def _anchors(snapshot: Snapshot, links: Iterable[LinkRow]) -> dict[tuple[str, str], str]:
    """The anchor that each fragment means on the page that its link leads to."""
    from wikiq.web.rendering.links import find_anchor

    wanted = {(row.target_slug, row.fragment) for row in links if row.target_slug and row.fragment}
    outlines = {slug: outline(snapshot, slug).sections for slug, _ in wanted if slug}
    return {
        (slug, fragment): find_anchor(fragment, outlines[slug], ())
        for slug, fragment in wanted
        if slug and fragment
    }


def _sources(rows: Iterable[LinkRow]) -> list[Source]:
    """The pages that link here, each once, with the sentences in which they do."""
    found = []
    for slug, group in groupby(rows, key=lambda row: row.slug):
        links = list(group)
        places = {}
        for row in links:
            section = " > ".join(
                row.heading_path[1:] if row.heading_path[:1] == (row.title,) else row.heading_path
            )
            places[row.line] = (addresses.page(slug, anchor=row.anchor), section, row.plain)
        found.append(Source(title=links[0].title, href=addresses.page(slug), places=tuple(places.values())))
    return found


def _targets(snapshot: Snapshot, rows: Iterable[LinkRow]) -> list[tuple[str, str]]:
    """The pages that this one leads to, each once: address and title."""
    slugs = dict.fromkeys(row.target_slug for row in rows if row.target_slug not in (None, row.slug))
    found = (find_page(snapshot, slug) for slug in slugs)
    return [(addresses.page(page.slug), page.title) for page in found if page is not None]


def _own_ids(sections: Iterable[OutlineRow]) -> str:
    """What the ids of the frame begin with: where an anchor begins so too, the frame gives way."""
    ids = OWN_IDS
    anchors = [section.anchor for section in sections]
    while any(anchor.startswith(ids) for anchor in anchors):
        ids = f"wq{ids}"
    return ids
