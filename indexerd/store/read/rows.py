"""Records of the core as rows of the private tables. Pure: no SQL, no connection.

A row is compared as a whole with the one in the index, so everything that would make it differ is
in it, and ids, ordinals and lines of the page are not.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Final, NamedTuple

from indexerd.contract.moments import time_text
from indexerd.contract.terms import fold_path, fold_title
from indexerd.core.model import Chunk, Link, Section
from indexerd.core.page.page_names import ADDRESS_MARK, NameRank, fold_separators
from indexerd.core.page.slugs import FOLDER_PAGES, base_slug
from indexerd.core.sync.model import Upsert

_SPELLED: Final = (NameRank.ALIAS, NameRank.ADDRESS)


class PageRow(NamedTuple):
    """A row of `page` without its id, in the order of the table."""

    slug: str
    path: str
    base_slug: str
    title: str
    title_origin: str
    title_key: str
    summary: str | None
    names: str
    updated_at: str
    updated: str | None
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    racy: int
    content_hash: str | None
    projection: str
    sections: int
    generation: int
    front_matter: str
    raw_front_matter: str | None
    lead: str

    def content(self) -> tuple[object, ...]:
        """What the file says, as against when and where it was found."""
        return (*self[:8], self.updated, self.size, self.content_hash, self.sections, *self[20:])


class SectionRow(NamedTuple):
    """A row of `section` without its ids."""

    level: int
    heading: str
    heading_path: str
    cut: int
    path_text: str | None
    guarded: int
    guarded_text: str | None
    ancestors: str
    anchor: str
    cover_key: str | None
    heading_source: str | None
    body: str


class NameRow(NamedTuple):
    """A row of `name` without the page's id. `name`: as written, for aliases and addresses only."""

    key: str
    rank: int
    nth: int
    name: str | None


# A chunk or link without its section's id. A link's last: the path that is looked up, None for nothing.
ChunkRow = tuple[int, int, str, int, int, int, int, int, int, int, int, int, int, int, bytes, str | None]
LinkRow = tuple[int, str, str, str | None, str, int, str | None]


def page_row(upsert: Upsert, projection: str, generation: int) -> PageRow:
    """The row of a page that is written at `generation`."""
    page, stamp = upsert.page, upsert.stamp
    return PageRow(
        slug=upsert.slug,
        path=page.path,
        base_slug=base_slug(page.path),
        title=page.title,
        title_origin=page.title_origin.value,
        title_key=fold_title(page.title),
        summary=page.summary,
        names="\n".join((stem(page.path), *page.aliases)),
        updated_at=page.updated or time_text(stamp.mtime_ns),
        updated=page.updated,
        device=stamp.device,
        inode=stamp.inode,
        size=page.size,
        mtime_ns=stamp.mtime_ns,
        ctime_ns=stamp.ctime_ns,
        racy=int(upsert.racy),
        content_hash=page.content_hash,
        projection=projection,
        sections=len(page.sections),
        generation=generation,
        front_matter=page.front_matter,
        raw_front_matter=page.raw_front_matter,
        lead=page.lead,
    )


def section_row(section: Section) -> SectionRow:
    """The row of a section; how `cut`, `path_text` and `guarded_text` serve the views is in the schema."""
    elements = list(map(encode_basestring, section.heading_path))
    heading_path = f"[{','.join(elements)}]"
    cut = len(elements[0]) + 3 if len(elements) > 1 else 0
    path_text = guarded_text = None
    if "\\" in heading_path:
        path_text = " > ".join(section.heading_path)
        if section.guarded and cut:
            guarded_text = " > ".join(section.heading_path[1:])
    heading, source = section.heading, section.heading_source
    usual = source == f"{'#' * section.level} {heading}\n"
    # By position, since a build makes one for every heading: keywords double the time of this line.
    return SectionRow(
        section.level,
        heading,
        heading_path,
        cut,
        path_text,
        int(section.guarded),
        guarded_text,
        section.ancestors,
        section.anchor,
        section.cover_key,
        None if usual else source,
        section.body,
    )


def chunk_row(chunk: Chunk) -> ChunkRow:
    """The row of a chunk."""
    return (
        chunk.part,
        chunk.parts,
        chunk.kind,
        chunk.start,
        chunk.length,
        chunk.lead_start,
        chunk.lead_length,
        chunk.header_start,
        chunk.header_length,
        chunk.tail_start,
        chunk.tail_length,
        chunk.line,
        chunk.lines,
        chunk.tokens,
        bytes.fromhex(chunk.key),
        chunk.text,
    )


def link_row(link: Link) -> LinkRow:
    """The row of a link: line, kind, target as written, fragment, label, external, what is looked up."""
    return link.line, link.kind, link.target, link.fragment, link.label, int(link.external), link.path


def name_rows(
    path: str, slug: str, title: str, aliases: Iterable[str], addresses: Iterable[str]
) -> tuple[NameRow, ...]:
    """What a page may be called. A key stands at its best rank only, an alias or an address always."""
    file_name = posixpath.basename(path)
    candidates: list[tuple[str, NameRank]] = [
        (path, NameRank.PATH),
        (slug, NameRank.SLUG),
        (stem(path), NameRank.STEM),
        *_root_names(path),
        *((alias, NameRank.ALIAS) for alias in aliases),
        (file_name, NameRank.FILE_NAME),
        (stem(file_name), NameRank.FILE_NAME),
        (posixpath.basename(slug), NameRank.FILE_NAME),
        (title, NameRank.TITLE),
        (fold_separators(stem(file_name)), NameRank.SEPARATED),
        (fold_separators(posixpath.basename(slug)), NameRank.SEPARATED),
        *((address, NameRank.ADDRESS) for address in addresses),
    ]
    found: list[NameRow] = []
    seen: set[str] = set()
    for nth, (name, rank) in enumerate(candidates):
        is_spelled = rank in _SPELLED
        key = ADDRESS_MARK + fold_path(name) if rank is NameRank.ADDRESS else fold_path(name)
        if is_spelled or key not in seen:
            found.append(NameRow(key, int(rank), nth, name if is_spelled else None))
        seen.add(key)
    return tuple(sorted(found))


def _root_names(path: str) -> list[tuple[str, NameRank]]:
    """A link to the root itself means its folder page; without a README, its index."""
    name = stem(path).casefold()
    if name not in FOLDER_PAGES:
        return []
    return [("", NameRank.SLUG if name == FOLDER_PAGES[0] else NameRank.STEM)]


def stem(path: str) -> str:
    """A path without the extension of its last element."""
    return posixpath.splitext(path)[0]


def aliases_of(names: Iterable[NameRow]) -> list[str]:
    """The aliases as written, in their order."""
    return _spelled(names, NameRank.ALIAS)


def addresses_of(names: Iterable[NameRow]) -> list[str]:
    """The addresses as written, in their order."""
    return _spelled(names, NameRank.ADDRESS)


def _spelled(names: Iterable[NameRow], rank: NameRank) -> list[str]:
    ordered = sorted(names, key=lambda row: row.nth)
    return [row.name for row in ordered if row.rank == rank and row.name is not None]


def content_texts(title: str, row: SectionRow) -> tuple[str, str, str, str]:
    """What the full text holds of a section: title, ancestors, heading, body."""
    return title, row.ancestors, row.heading, row.body
