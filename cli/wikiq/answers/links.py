"""The links of a page and those that lead to it, each with its line and with what it leads to.

Which page a target means was decided by the index; that a target is a file and no page is looked up
on the disk (spec 2.2). Whether a fragment exists is `check`'s to say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from indexerd.contract.record import Record
from wikiq.index import sql
from wikiq.index.database import Snapshot
from wikiq.index.tree_names import PAGE_ENDINGS, TreeNames
from wikiq.query.names import require_page

CONTEXT_CHARACTERS = 240  # of the line a link stands on; about three lines of a terminal

# What a link leads to. `site`: an address from the root of the site that the pages are published on.
PAGE, FILE, EXTERNAL, SITE, BROKEN = "page", "file", "external", "site", "broken"
PUBLISHED_ENDINGS = (".html", ".htm")  # what generators make of the ending of a page
BY_NAME_KINDS = frozenset({"wikilink", "embed"})


class LinkRow(Record):
    """A link. `path` and `line` say where it stands, `context` is that line as it was indexed.

    `target` is as written; `target_slug` the page it means, None for anything else. `status`: `page`,
    `file` (something on the disk that is no page), `external`, `site` or `broken`.
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


def links(snapshot: Snapshot, name: str, *, folder: str | None = None) -> tuple[LinkRow, ...]:
    """Give the links of the page called `name`, in order. Raises UnknownPageError, UsageError."""
    page = require_page(snapshot, name, folder=folder)
    return _link_rows(snapshot, snapshot.rows(sql.SELECT_LINKS, (page.page_id,)))


def backlinks(snapshot: Snapshot, name: str, *, folder: str | None = None) -> tuple[LinkRow, ...]:
    """Give the links of other pages to the page called `name`. Raises UnknownPageError, UsageError."""
    page = require_page(snapshot, name, folder=folder)
    return _link_rows(snapshot, snapshot.rows(sql.SELECT_BACKLINKS, {"slug": page.slug}))


def link_status(row: tuple[Any, ...], tree: TreeNames) -> str:
    """Say what a row of the link statements leads to."""
    path, kind, target_path, target_slug, external = row[2], row[5], row[8], row[10], row[11]
    if target_slug is not None:
        return PAGE
    if external:
        return EXTERNAL
    if target_path is None:
        return BROKEN  # it leads out of the root
    if tree.has_path(target_path):
        return FILE
    if kind in BY_NAME_KINDS:
        beside = path.rpartition("/")[0]
        if tree.has_name(target_path) or tree.has_path(f"{beside}/{target_path}".lstrip("/")):
            return FILE
    return SITE if _is_of_site(row[6], target_path, tree) else BROKEN


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


def _link_rows(snapshot: Snapshot, rows: Iterable[tuple[Any, ...]]) -> tuple[LinkRow, ...]:
    tree = TreeNames(snapshot.root)
    return tuple(_link_row(row, context, tree) for row, context in _with_context(snapshot, rows))


def _link_row(row: tuple[Any, ...], context: str, tree: TreeNames) -> LinkRow:
    _, slug, path, line, section_id, kind, target, label, _, fragment, target_slug, _ = row
    return LinkRow(
        slug=slug,
        path=path,
        line=line,
        section_id=section_id,
        kind=kind,
        target=target,
        label=label,
        fragment=fragment,
        target_slug=target_slug,
        status=link_status(row, tree),
        context=context,
    )


def _with_context(
    snapshot: Snapshot, rows: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Each row with the line it stands on; rows of one page follow each other."""
    for page_id, group in groupby(rows, key=lambda row: row[0]):
        parts = snapshot.rows(sql.SELECT_SOURCE, {"page_id": page_id})
        text = "".join(part[0] for part in parts).replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        placed = [(row, lines[row[3] - 1] if row[3] <= len(lines) else "") for row in group]
        for row, line in sorted(placed, key=lambda pair: (pair[0][3], _column(pair[1], pair[0]))):
            yield row, _around(line.strip(), row[7] or row[6])


def _column(line: str, row: tuple[Any, ...]) -> int:
    """Where a link stands on its line, which the index does not tell; after all others if it is not seen."""
    target, label = row[6], row[7]
    spellings = (f"[{label}]({target}", f"[[{target}", f"[{label}]", f"]({target}", f"<{target}>", target)
    places = (line.find(spelling) for spelling in spellings)
    return next((place for place in places if place >= 0), len(line))


def _around(line: str, label: str) -> str:
    """A line, or of a long one the part around the link."""
    if len(line) <= CONTEXT_CHARACTERS:
        return line
    start = max(0, min(line.find(label) - CONTEXT_CHARACTERS // 2, len(line) - CONTEXT_CHARACTERS))
    return line[start : start + CONTEXT_CHARACTERS]
