"""All that a face shows of one page, of one snapshot: its text, outline, links both ways and topics."""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.answers.links import LinkRow, backlinks, links
from wikiq.answers.outline import Outline, outline
from wikiq.answers.pages import page
from wikiq.index.database import Snapshot
from wikiq.model.results import PageView


class PageBundle(Record):
    """A page and what is around it; its topics stand in `page`."""

    page: PageView
    outline: Outline
    links: tuple[LinkRow, ...]
    backlinks: tuple[LinkRow, ...]


def page_bundle(snapshot: Snapshot, name: str, *, folder: str | None = None) -> PageBundle:
    """Give the page called `name`, or a section of it, with what is around the page.

    Raises UnknownPageError, UnknownSectionError, UsageError.
    """
    view = page(snapshot, name, folder=folder)
    return PageBundle(
        page=view,
        outline=outline(snapshot, view.slug),
        links=links(snapshot, view.slug),
        backlinks=backlinks(snapshot, view.slug),
    )
