"""Pages rendered as the viewer does, from a text and what it may lead to, without an index.

Sections and links come from the projection itself; what a link leads to is told by the test.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from html.parser import HTMLParser

from indexerd.core.model import Page, ProjectionOptions
from indexerd.core.project import project_page
from wikiq.answers.links import BROKEN, EXTERNAL, FILE, PAGE, TEXT, LinkRow
from wikiq.answers.outline import OutlineRow
from wikiq.web.rendering.page import RenderedPage, render

VOID = frozenset({"br", "hr", "img", "input", "col", "wbr"})
NO_NAME = re.compile(r"[\W\d_]+")


def outline_of(page: Page) -> tuple[OutlineRow, ...]:
    """The sections of a page as the index gives them."""
    return tuple(
        OutlineRow(
            section_id=f"{number:04}",
            level=section.level,
            heading=section.heading,
            heading_path=section.heading_path,
            section_path=section.heading_path,
            anchor=section.anchor,
            start_line=section.start_line,
            end_line=section.end_line,
        )
        for number, section in enumerate(page.sections)
    )


def links_of(page: Page, pages: Collection[str], files: Collection[str]) -> list[LinkRow]:
    """The links of a page; they lead to `pages` (paths or names, without ending) and `files`."""
    rows = []
    for number, section in enumerate(page.sections):
        for link in section.links:
            path = (link.path or "").removesuffix(".md")
            own = page.path if path == page.path.removesuffix(".md") else None
            is_text = link.kind == "wikilink" and bool(NO_NAME.fullmatch(link.target))
            status = (
                EXTERNAL if link.external
                else PAGE if path in pages or own
                else FILE if link.path in files
                else TEXT if is_text
                else BROKEN
            )  # fmt: skip
            rows.append(
                LinkRow(
                    slug=page.path.removesuffix(".md"),
                    path=page.path,
                    line=section.start_line + link.line - 1,
                    section_id=f"{number:04}",
                    kind=str(link.kind),
                    target=link.target,
                    label=link.label,
                    fragment=link.fragment,
                    target_slug=path if status == PAGE else None,
                    status=status,
                    context="",
                    plain="",
                    title=page.title,
                    heading_path=section.heading_path,
                    anchor=section.anchor,
                    how=None,
                    ambiguous=False,
                    file=link.path if status == FILE else None,
                )
            )
    return rows


def render_text(
    text: str,
    *,
    pages: Collection[str] = (),
    files: Collection[str] = (),
    marks: Collection[str] = (),
    path: str = "notes/page.md",
    title: str | None = None,
    only: str | None = None,
) -> RenderedPage:
    """A text as the viewer shows it; `marks` are words, marked wherever they stand in the source."""
    page = project_page(text.encode("utf-8", "surrogatepass"), path, ProjectionOptions())
    source = page.lead + "".join(section.heading_source + section.body for section in page.sections)
    ranges = sorted(found.span() for word in marks for found in re.finditer(re.escape(word), source))
    return render(
        source,
        title=page.title if title is None else title,
        sections=outline_of(page),
        links=links_of(page, pages, files),
        marks=ranges,
        page_href=lambda slug, fragment: f"/p/{slug}" + (f"#{fragment}" if fragment else ""),
        file_href=lambda path: f"/files/{path}",
        only=only,
    )


def html_of(text: str, *, pages: Collection[str] = (), files: Collection[str] = ()) -> str:
    """The HTML of a text that must not fail."""
    rendered = render_text(text, pages=pages, files=files)
    assert rendered.failed is None
    return rendered.html


class Elements(HTMLParser):
    """The elements of some HTML: tags with their attributes, the text of the whole, what is left open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.marked: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "mark":
            self.marked.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close a tag, which must be the last that is open."""
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        """Gather text."""
        self.text += data
        if "mark" in self.open:
            self.marked[-1] += data

    def ids(self) -> list[str]:
        """All ids, in order."""
        return [attributes["id"] for _, attributes in self.found if "id" in attributes]
