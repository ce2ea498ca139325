"""A page's source, as the index cut it -> the HTML that the viewer shows of it. Pure.

What Markdown means here is what it means to the index: the same parser, the same hidden regions, the
index's own sections and links. Addresses are the caller's to make; nothing is read or looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from markdown_it.token import Token

from indexerd.contract.terms import fold_title
from indexerd.core.markdown.html import without_title
from wikiq.answers.links import LinkRow
from wikiq.answers.outline import OutlineRow
from wikiq.answers.subtree import with_deeper
from wikiq.web.rendering.code import render_marked
from wikiq.web.rendering.links import FileHref, Links, PageHref
from wikiq.web.rendering.placing import Ranges, marks_by_line, place_marks
from wikiq.web.rendering.reading import ReadPage, ReadSection, parse_inlines, read_page
from wikiq.web.rendering.safety import Sanitizer, TooDeepError
from wikiq.web.rendering.writing import Writer

MAX_RENDERED: Final = 2_000_000  # bytes of source (spec 6.2)
MOST_BRACKETS: Final = 50_000  # `[` of a page; each may open a link, which is tried (3 s for as many)


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as HTML. `html`: a `<section>` for each section of the index, nested by level.

    A section has its anchor as `id`, unless an earlier one has the same, and its first line in the file
    as `data-line`; no other id stands in `html`. `failed`: why `html` is the source; else None.
    """

    html: str
    failed: str | None = None


def render(
    source: str,
    *,
    title: str,
    sections: Sequence[OutlineRow],
    page_href: PageHref,
    file_href: FileHref = lambda _: None,
    links: Iterable[LinkRow] = (),
    marks: Ranges = (),
    only: str | None = None,
) -> RenderedPage:
    """Render a page, or of it the section `only` (a section_id) with everything deeper.

    `source`, `sections`, `links` and `marks` are what `page_bundle` and `marks` give of the whole page,
    of one snapshot; a first heading of level 1 equal to `title` is left to the frame. `page_href(slug,
    fragment)` gives the address of a page that a link leads to, `file_href(path)` that of a file of the
    wiki, None for one that is not shown. Never raises: what cannot be rendered is shown as its source.
    """
    shown = [row for row in sections if only is None or row.section_id == only]
    if only is not None and shown:
        shown = list(with_deeper(tuple(sections), list(sections).index(shown[0])))
    by_line = marks_by_line(source, marks)
    size = len(source) if len(source) > MAX_RENDERED else len(source.encode("utf-8", "replace"))
    if size > MAX_RENDERED:
        failed = f"the page has more than {MAX_RENDERED:,} bytes"
    elif source.count("[") > MOST_BRACKETS:
        failed = f"the page has more than {MOST_BRACKETS:,} brackets"
    else:
        try:
            page = read_page(source, sections)
            resolved = Links(links, sections, page.lines, page_href, file_href)
            parts = _render_sections(page, {row.section_id for row in shown}, title, by_line, resolved)
            return RenderedPage(_nested(shown, parts))
        except (RecursionError, TooDeepError):
            failed = "its markup is nested too deeply"
        except Exception as error:  # noqa: BLE001 - one page must not take the viewer away; the page says why
            failed = f"rendering failed: {type(error).__name__}: {error}"
    return RenderedPage(_nested(shown, _render_source(source, shown, by_line)), failed)


def _render_sections(
    page: ReadPage,
    wanted: set[str],
    title: str,
    marks: Mapping[int, Ranges],
    links: Links,
) -> dict[str, str]:
    """The clean HTML of each section by its section_id."""
    writer = Writer(page, links)
    title_row = _titled_row(page, title)
    written = {}
    for section in page.sections:
        if section.row.section_id not in wanted:
            continue
        section.tokens = parse_inlines(_without_title(section, title_row), page.env)
        for note in section.notes:
            note.tokens = parse_inlines(note.tokens, page.env)
        if marks:
            for tokens in (section.tokens, *(note.tokens for note in section.notes)):
                place_marks(tokens, section.first_line, page.hidden, marks)
        html = writer.write(section)
        written[section.row.section_id] = html if section.row.level else without_title(html, title)
    sanitizer = Sanitizer(links.pictures)
    return {section_id: sanitizer.clean(html) for section_id, html in written.items()}


def _titled_row(page: ReadPage, title: str) -> OutlineRow | None:
    """The section headed by the page's title, which the frame shows; none but an introduction before it."""
    rows = [section.row for section in page.sections[:2]]
    if rows and not rows[0].level:
        del rows[0]
    is_title = rows and rows[0].level == 1 and fold_title(rows[0].heading) == fold_title(title)
    return rows[0] if is_title else None


def _without_title(section: ReadSection, title_row: OutlineRow | None) -> list[Token]:
    """The tokens of a section, without its heading where that is the page's title."""
    is_headed = section.tokens[:1] and section.tokens[0].type == "heading_open"
    return section.tokens[3:] if section.row is title_row and is_headed else section.tokens


def _render_source(source: str, rows: Sequence[OutlineRow], marks: Mapping[int, Ranges]) -> dict[str, str]:
    """The source of each section by its section_id, with its marks."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {
        row.section_id: '<pre class="source" tabindex="0">'
        + "\n".join(
            render_marked(lines[number], marks.get(number, ()))
            for number in range(row.start_line - 1, min(row.end_line, len(lines)))
        )
        + "</pre>"
        for row in rows
    }


def _nested(rows: Sequence[OutlineRow], parts: Mapping[str, str]) -> str:
    """The sections within each other, as their levels have it."""
    html: list[str] = []
    open_levels: list[int] = []
    used: set[str] = set()
    for row in rows:
        while open_levels and (open_levels[-1] >= row.level or not open_levels[-1]):
            open_levels.pop()
            html.append("</section>\n")
        own = f' id="{escape(row.anchor)}"' if row.anchor and row.anchor not in used else ""
        used.add(row.anchor)
        html.append(f'<section{own} data-line="{row.start_line}">\n{parts.get(row.section_id, "")}')
        open_levels.append(row.level)
    html.append("</section>\n" * len(open_levels))
    return "".join(html)
