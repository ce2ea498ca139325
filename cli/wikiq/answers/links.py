"""The links of a page and those that lead to it, each with its line and with what it leads to.

Which page a target means was decided by the index; that a target is a file and no page is looked up
on the disk (spec 2.2). Whether a fragment exists is `check`'s to say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from urllib.parse import unquote

from indexerd.contract.record import Record
from wikiq.answers.outline import OutlineRow, outline_rows
from wikiq.answers.pages import source_of
from wikiq.index import sql
from wikiq.index.database import Snapshot
from wikiq.index.tree_names import PAGE_ENDINGS, TreeNames
from wikiq.query.names import require_page
from wikiq.snippet.plain_text import plain_text

CONTEXT_CHARACTERS = 240  # of the line a link stands on; about three lines of a terminal

# What a link leads to. `site`: an address of the site that the pages are published on, or beside it.
PAGE, FILE, EXTERNAL, SITE, BROKEN = "page", "file", "external", "site", "broken"
# `text`: what looks like a wikilink and names nothing, as `[[1]]` and `[[ -f x ]]` do.
TEXT = "text"
PUBLISHED_ENDINGS = (".html", ".htm")  # what generators make of the ending of a page
BY_NAME_KINDS = frozenset({"wikilink", "embed"})
# Steps past the path that a Markdown target spells: a file that lies there comes first.
_PAST_PATH = frozenset({"root", "published", "address", "site", "name"})
# What stands in brackets and is no page: `[[1]]`, `[[ -f x ]]`, and where a table of contents goes.
_NO_NAME = re.compile(r"""[\W\d_]+|"[^"]*"|'[^']*'|-\w .*|_?(?:toc|TOC)_?""")
_OF_BUILD = re.compile(r"@[\w-]*/.+")  # `@snippets/x.sh`: a folder that the build of the site has a name for


class LinkRow(Record):
    """A link. `path` and `line` say where it stands, `context` is that line as it was indexed.

    `title`, `heading_path` and `anchor` are of the page and section that it stands in; `plain` is the
    context without markup. `target` is as written; `target_slug` the page it means, None for anything
    else. `status`: `page`, `file` (something on the disk that is no page), `external`, `site`, `text` or
    `broken`. `how`: by which step the page was found (docs/database.md, v1_links); `ambiguous`: others
    were as near. `file`: where `status` is `file`, its path from the root as the disk spells it.
    """

    slug: str
    path: str
    line: int
    section_id: str
    kind: str
    target: str
    label: str
    fragment: str | None
    target_slug: str | None
    status: str
    context: str
    plain: str
    title: str
    heading_path: tuple[str, ...]
    anchor: str
    how: str | None
    ambiguous: bool
    file: str | None


class StoredLink(Record):
    """A link as the index has it: the columns of the link statements."""

    page_id: int
    slug: str
    title: str
    path: str
    line: int
    section_id: str
    kind: str
    target: str
    label: str
    target_path: str | None
    fragment: str | None
    target_slug: str | None
    external: int
    how: str | None
    ambiguous: int


def links(snapshot: Snapshot, name: str, *, folder: str | None = None) -> tuple[LinkRow, ...]:
    """Give the links of the page called `name`, in order. Raises UnknownPageError, UsageError."""
    page = require_page(snapshot, name, folder=folder)
    return _link_rows(snapshot, snapshot.records(StoredLink, sql.SELECT_LINKS, (page.page_id,)))


def backlinks(snapshot: Snapshot, name: str, *, folder: str | None = None) -> tuple[LinkRow, ...]:
    """Give the links of other pages to the page called `name`. Raises UnknownPageError, UsageError."""
    page = require_page(snapshot, name, folder=folder)
    return _link_rows(snapshot, snapshot.records(StoredLink, sql.SELECT_BACKLINKS, {"slug": page.slug}))


def link_status(link: StoredLink, tree: TreeNames) -> str:
    """Say what a link leads to."""
    target_path, is_by_name = link.target_path, link.kind in BY_NAME_KINDS
    if link.target_slug is not None:
        is_guessed = link.how in _PAST_PATH and not is_by_name and not link.target.startswith("/")
        return FILE if is_guessed and target_path and tree.has_path(target_path) else PAGE
    if link.external:
        return EXTERNAL
    if linked_file(link, tree) is not None:
        return FILE
    if target_path is None:
        return _status_outside(link, tree)
    if is_by_name and not tree.has_path(target_path) and _NO_NAME.fullmatch(target_path):
        return TEXT
    if _OF_BUILD.fullmatch(link.target):
        return SITE
    return SITE if _is_of_site(link.target, target_path, tree) else BROKEN


def linked_file(link: StoredLink, tree: TreeNames) -> str | None:
    """Give the path from the root of the file that a link means, as the disk spells it; None without one."""
    path, beside = link.target_path, link.path.rpartition("/")[0]
    if link.external:
        return None
    if path is not None and tree.has_path(path):
        return path
    if link.kind not in BY_NAME_KINDS:
        return (path and tree.spelled(path)) or _file_from_published(link, tree)
    if path is None:
        return None
    near = f"{beside}/{path}".lstrip("/")
    return near if tree.has_path(near) else tree.find_name(path, beside)


def _file_from_published(link: StoredLink, tree: TreeNames) -> str | None:
    """Give the file that a target means from where the page is published: `a/b.md` becomes `a/b/`.

    Static site generators leave images and HTML as they are written, so pages spell `../../img/x.png`.
    """
    if not link.target.startswith("../"):
        return None
    path = os.path.normpath(os.path.join(os.path.splitext(link.path)[0], _bare(link.target)))
    return None if path.lower().endswith(PAGE_ENDINGS) or not tree.has_path(path) else path


def _status_outside(link: StoredLink, tree: TreeNames) -> str:
    """Say what a target leads to that leaves the root: a file of the same repository, or the site beside.

    A book that is published among others links to them, and a wiki to the issues of its project:
    addresses that nothing here can look up.
    """
    path = os.path.normpath(os.path.join(os.path.dirname(link.path), _bare(link.target)))
    if tree.has_beside(path):
        return FILE
    if link.kind in BY_NAME_KINDS:
        return BROKEN
    first = re.match(r"(?:\.\./)+(?!\.\./)[^/]+(?=/)", path)  # the folder beside the root that it leads into
    is_of_other = first is not None and not tree.has_beside(first[0])
    ending = os.path.splitext(path)[1].lower()
    is_address = ending in ("", *PUBLISHED_ENDINGS) or (ending in PAGE_ENDINGS and is_of_other)
    return SITE if is_address else BROKEN


def _bare(target: str) -> str:
    """A target without query and fragment, its percent signs decoded."""
    return unquote(re.split("[?#]", target, maxsplit=1)[0])


def _is_of_site(target: str, target_path: str, tree: TreeNames) -> bool:
    """Tell whether a target is meant on the site that the pages become.

    From its root, as `/dotnet/api` where there is no `dotnet`: documentation that is published beside
    other documentation is full of these, and nothing here can say whether they work (4,500 of the
    5,280 that are no page in the PowerShell documentation). Or `GSI.html`, where `GSI.md` is a page.
    """
    stem, ending = os.path.splitext(target_path)
    if ending.lower() in PUBLISHED_ENDINGS and any(tree.has_path(stem + end) for end in PAGE_ENDINGS):
        return True
    names_page = target_path.lower().endswith(PAGE_ENDINGS)
    return target.startswith("/") and not names_page and not tree.has_path(target_path.partition("/")[0])


def _link_rows(snapshot: Snapshot, stored: Iterable[StoredLink]) -> tuple[LinkRow, ...]:
    """Links with where they stand and what they lead to; those of one page follow each other."""
    tree = TreeNames(snapshot.root)
    rows: list[LinkRow] = []
    for page_id, group in groupby(standing_lines(snapshot, stored), key=lambda pair: pair[0].page_id):
        sections = {row.section_id: row for row in outline_rows(snapshot, page_id)}
        rows += [_link_row(link, line, sections.get(link.section_id), tree) for link, line in group]
    return tuple(rows)


def _lines_of(snapshot: Snapshot, page_id: int) -> list[str]:
    text = source_of(snapshot, page_id)
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _link_row(link: StoredLink, line: str, section: OutlineRow | None, tree: TreeNames) -> LinkRow:
    context = _around(line.strip(), link.label or link.target)
    status = link_status(link, tree)
    return LinkRow(
        slug=link.slug,
        path=link.path,
        line=link.line,
        section_id=link.section_id,
        kind=link.kind,
        target=link.target,
        label=link.label,
        fragment=link.fragment,
        target_slug=link.target_slug,
        status=status,
        context=context,
        plain=plain_text(context),
        title=link.title,
        heading_path=section.heading_path if section is not None else (),
        anchor=section.anchor if section is not None else "",
        how=link.how,
        ambiguous=bool(link.ambiguous),
        file=linked_file(link, tree) if status == FILE else None,
    )


def standing_lines(snapshot: Snapshot, stored: Iterable[StoredLink]) -> Iterator[tuple[StoredLink, str]]:
    """Give each link with the line it stands on, in order; links of one page follow each other."""
    for page_id, group in groupby(stored, key=lambda link: link.page_id):
        lines = _lines_of(snapshot, page_id)
        placed = [(link, lines[link.line - 1] if link.line <= len(lines) else "") for link in group]
        yield from sorted(placed, key=lambda pair: (pair[0].line, _column(pair[1], pair[0])))


def _column(line: str, link: StoredLink) -> int:
    """The column of a link in its line, found in the text; past the end where it is not seen."""
    target, label = link.target, link.label
    spellings = (f"[{label}]({target}", f"[[{target}", f"[{label}]", f"]({target}", f"<{target}>", target)
    places = (line.find(spelling) for spelling in spellings)
    return next((place for place in places if place >= 0), len(line))


def _around(line: str, label: str) -> str:
    """A line, or of a long one the part around the link."""
    if len(line) <= CONTEXT_CHARACTERS:
        return line
    start = max(0, min(line.find(label) - CONTEXT_CHARACTERS // 2, len(line) - CONTEXT_CHARACTERS))
    return line[start : start + CONTEXT_CHARACTERS]
