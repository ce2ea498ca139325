"""Links as the index resolved them -> opening tags: to a page, out of the wiki, or broken and why.

A link of the text is found again among the rows of the index by what is written in it, so the viewer
and `wikiq links` never tell two stories. Addresses are the caller's to make.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final, TypeAlias
from urllib.parse import quote

from markdown_it.common.normalize_url import normalizeLink

from indexerd.contract.terms import fold_title
from wikiq.answers.links import BROKEN, EXTERNAL, PAGE, SITE, TEXT, LinkRow
from wikiq.answers.outline import OutlineRow

# The address of a page: its slug, the fragment of the link or None.
PageHref: TypeAlias = Callable[[str, str | None], str]
# The address of a file of the wiki, by its path from the root; None for one that is not shown.
FileHref: TypeAlias = Callable[[str], str | None]

_BY_NAME: Final = ("wikilink", "embed")
_SCHEME: Final = re.compile(r"(?:https?:)?//|mailto:", re.IGNORECASE)
_DATA_PICTURE: Final = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=]+")
_SIZE: Final = re.compile(r"(?P<width>\d{1,4})(?:x(?P<height>\d{1,4}))?")
_LONGEST_NAME: Final = 200  # characters of an address that are shown
_PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|avif)$", re.IGNORECASE)


def attribute(name: str, value: str | None) -> str:
    """One attribute with a blank before it; nothing without a value."""
    return f' {name}="{escape(value)}"' if value else ""


class Links:
    """The links of one page. `pictures` gathers the addresses of those that were written."""

    def __init__(
        self,
        rows: Iterable[LinkRow],
        sections: Sequence[OutlineRow],
        lines: Sequence[str],
        page_href: PageHref,
        file_href: FileHref,
    ) -> None:
        self._rows: dict[tuple[str, str, str], LinkRow] = {}
        for row in rows:
            self._rows.setdefault((row.kind, row.target, row.label if row.kind in _BY_NAME else ""), row)
        self._sections = sections
        self._lines = lines
        self._page_href = page_href
        self._file_href = file_href
        self._anchors: dict[str, str] = {}  # by fragment: each is looked for once
        self.pictures: set[str] = set()

    def opening(self, kind: str, target: str, label: str = "", title: str | None = None) -> str:
        """The tag that opens a link; `</a>` closes it."""
        row = self._find(kind, target, label)
        status = row.status if row else _guessed(target)
        told = attribute("title", title)
        if row and status == PAGE and row.target_slug is not None:
            name = attribute("class", "embed" if kind == "embed" else None)
            return f"<a{name}{attribute('href', self._href(row, row.target_slug))}{told}>"
        if status == EXTERNAL:
            return f'<a class="external"{attribute("href", _external(target))}{told}>'
        if row and row.file is not None:
            href = self._file_href(row.file)
            return (
                f'<a class="file"{attribute("href", href)}{told or attribute("title", f"a file: {target}")}>'
            )
        if status == SITE:
            return f'<a class="site"{attribute("title", f"an address of the published site: {target}")}>'
        if status == TEXT:
            return "<a>"
        return (
            f'<a class="broken" role="link" aria-disabled="true"{attribute("title", _missing(kind, target))}>'
        )

    def is_text(self, kind: str, target: str, label: str) -> bool:
        """Whether what looks like a wikilink is none, as `[[1]]`."""
        row = self._find(kind, target, label)
        return row is not None and row.status == TEXT

    def picture(
        self, kind: str, target: str, label: str, title: str | None = None, *, in_link: bool = False
    ) -> str:
        """A picture, or what stands for one that is remote or missing."""
        written = label
        row = self._find(kind, target, label)
        label, size = _split_size("" if label == target else label)
        status = row.status if row else _guessed(target)
        source = None
        if row and row.file is not None:
            source = self._file_href(row.file)
        elif _DATA_PICTURE.fullmatch(target):
            source = target
        if source is not None:
            return self._shown(source, target, label, size, title)
        text = escape((label or target)[:_LONGEST_NAME], quote=False)
        if in_link:
            return f'<span class="image"{attribute("title", target[:_LONGEST_NAME])}>{text}</span>'
        if status == EXTERNAL:
            href = _external(target)
            told = attribute("title", f"a picture elsewhere, not loaded: {target[:_LONGEST_NAME]}")
            return f'<a class="remote-image"{attribute("href", href)}{told}>{text}</a>'
        return f"{self.opening(kind, target, written)}{text}</a>"

    def is_picture(self, kind: str, target: str) -> bool:
        """Whether an embed is of a picture."""
        return kind == "embed" and _PICTURE.search(target.partition("#")[0]) is not None

    def _shown(self, source: str, target: str, label: str, size: tuple[str, str], title: str | None) -> str:
        self.pictures.add(source)
        measures = attribute("width", size[0]) + attribute("height", size[1])
        about = f'alt="{escape(label)}"{measures}{attribute("title", title)} loading="lazy"'
        picture = f'<img src="{escape(source)}" {about}>'
        if label:
            return picture
        name = target.partition("?")[0].rpartition("/")[2] if not target.startswith("data:") else ""
        return (
            f'<span class="image">{picture}<span class="image-name">{escape(name, quote=False)}</span></span>'
        )

    def _find(self, kind: str, target: str, label: str) -> LinkRow | None:
        return self._rows.get((kind, target, label if kind in _BY_NAME else ""))

    def _href(self, row: LinkRow, slug: str) -> str:
        if slug != row.slug:
            return self._page_href(slug, row.fragment)
        fragment = row.fragment or ""
        if fragment not in self._anchors:
            found = find_anchor(fragment, self._sections, self._lines) if fragment else ""
            self._anchors[fragment] = found
        return f"#{quote(self._anchors[fragment])}"


def find_anchor(fragment: str, sections: Sequence[OutlineRow], lines: Sequence[str]) -> str:
    """The anchor of the section that a fragment means on a page; empty where none does.

    By the anchor, by the letters of the heading (of `A#B` the last), or by what the section holds: an
    id in HTML, a block `^id`.
    """
    last = fragment.rpartition("#")[2].strip()
    for found in (last, last.lower()):
        for section in sections:
            if section.anchor and section.anchor == found:
                return section.anchor
    letters = _letters(last)
    for section in sections:
        if letters and _letters(section.heading) == letters:
            return section.anchor
    block = re.compile(
        rf"(?:^|\s)\^{re.escape(last[1:])}\s*$"
        if last.startswith("^")
        else rf"""\b(?:id|name)\s*=\s*["']?{re.escape(last)}["'\s>]"""
    )
    for number, line in enumerate(lines, 1):
        if last and block.search(line):
            return next((one.anchor for one in sections if one.start_line <= number <= one.end_line), "")
    return ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold_title(text)))


def _guessed(target: str) -> str:
    """What a link that the index does not have leads to."""
    return EXTERNAL if _SCHEME.match(target) else BROKEN


def _external(target: str) -> str | None:
    return normalizeLink(target) if _SCHEME.match(target) else None


def _missing(kind: str, target: str) -> str:
    """What is missing, for one who rests on a broken link."""
    thing = "file" if kind == "image" or _PICTURE.search(target) else "page"
    return f"There is no {thing} {target} in this wiki"


def _split_size(label: str) -> tuple[str, tuple[str, str]]:
    """The text of a picture without Obsidian's size, `label|300` or `300x200`, and the size."""
    before, bar, last = label.rpartition("|")
    match = _SIZE.fullmatch(last.strip())
    if match is None or (not bar and before):
        return label, ("", "")
    return before, (match["width"], match["height"] or "")
