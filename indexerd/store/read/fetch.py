"""Reading back what the index holds, for comparing with the tree and with new projections.

The only reading side of the writer; what readers of the file see are the views. Nothing is changed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

import apsw

from indexerd.core.model import Diagnostic, Stamp
from indexerd.core.sync.model import IndexedPage
from indexerd.store.file.select import select_row, select_rows
from indexerd.store.read.rows import ChunkRow, LinkRow, NameRow, PageRow, SectionRow

_PAGE: Final = "SELECT * FROM page WHERE path = ?"
_SECTIONS: Final = """SELECT pl.start_line, pl.end_line, s.section_rowid, s.level, s.heading,
      s.heading_path, s.cut, s.path_text, s.guarded, s.guarded_text, s.ancestors, s.anchor, s.cover_key,
      s.heading_source, s.body
    FROM place pl JOIN section s ON s.section_rowid = pl.section_rowid
    WHERE pl.page_id = ? ORDER BY pl.ordinal"""
_CHUNKS: Final = """SELECT c.* FROM place pl JOIN chunk c ON c.section_rowid = pl.section_rowid
    WHERE pl.page_id = ? ORDER BY pl.ordinal, c.part"""
_LINKS: Final = """SELECT l.section_rowid, l.target_id, l.line, l.kind, l.target, l.fragment, l.label,
      l.external, t.path
    FROM place pl JOIN link l ON l.section_rowid = pl.section_rowid
    LEFT JOIN target t ON t.target_id = l.target_id
    WHERE pl.page_id = ? ORDER BY pl.ordinal, l.nth"""
_NAMES: Final = "SELECT key, rank, nth, name FROM name WHERE page_id = ? ORDER BY key, rank, nth"
_TOPICS: Final = "SELECT topic, origin FROM page_topic WHERE page_id = ? ORDER BY topic, origin"
_MENTIONS: Final = """SELECT path, original_path, is_dir, origin, ordinal FROM mention
    WHERE page_id = ? ORDER BY nth"""
_SOURCES: Final = "SELECT source_id, type, target, title, note FROM source WHERE page_id = ? ORDER BY nth"
_INDEXED: Final = """SELECT path, slug, device, inode, size, mtime_ns, ctime_ns, racy, content_hash,
    projection FROM page"""
_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM page LIMIT ?)"
_BELOW: Final = "path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')"  # '0' follows '/' in ASCII
_GIVEN: Final = "(SELECT value FROM json_each(?))"
_NEIGHBOURS: Final = f"SELECT path FROM page WHERE base_slug IN {_GIVEN}"
_SAID_OF_PATHS: Final = """SELECT path, kind, message, line FROM diagnostic WHERE origin = 1 {}
    ORDER BY path, nth"""
_FEW_PREFIXES: Final = 16  # looked up one by one; more are cheaper in one query


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page with all its rows, each in the order of the page. Chunks and links by section id."""

    page_id: int
    row: PageRow
    names: tuple[NameRow, ...]
    section_ids: list[int]
    sections: list[SectionRow]
    lines: list[tuple[int, int]]
    chunks: dict[int, list[ChunkRow]]
    links: dict[int, list[LinkRow]]
    target_ids: dict[int, list[int]]
    topics: list[tuple[str, str]]
    mentions: list[tuple[Any, ...]]
    sources: list[tuple[Any, ...]]


def fetch_page(connection: apsw.Connection, path: str) -> StoredPage | None:
    """All rows of the page at `path`."""
    found = select_row(connection, _PAGE, (path,))
    if found is None:
        return None
    page_id = found[0]
    section_ids, sections, lines = [], [], []
    for start, end, rowid, *rest in select_rows(connection, _SECTIONS, (page_id,)):
        lines.append((start, end))
        section_ids.append(rowid)
        sections.append(SectionRow(*rest))
    chunks = defaultdict(list)
    for rowid, *chunk in select_rows(connection, _CHUNKS, (page_id,)):
        chunks[rowid].append(tuple(chunk))
    links, target_ids = defaultdict(list), defaultdict(list)
    for rowid, target_id, *link in select_rows(connection, _LINKS, (page_id,)):
        links[rowid].append(tuple(link))
        if target_id is not None:
            target_ids[rowid].append(target_id)
    return StoredPage(
        page_id=page_id,
        row=PageRow(*found[1:]),
        names=fetch_names(connection, page_id),
        section_ids=section_ids,
        sections=sections,
        lines=lines,
        chunks=chunks,
        links=links,
        target_ids=target_ids,
        topics=[(topic, origin) for topic, origin in select_rows(connection, _TOPICS, (page_id,))],
        mentions=select_rows(connection, _MENTIONS, (page_id,)),
        sources=select_rows(connection, _SOURCES, (page_id,)),
    )


def fetch_page_row(connection: apsw.Connection, path: str) -> tuple[int, PageRow] | None:
    """The row of the page at `path` and its id."""
    found = select_row(connection, _PAGE, (path,))
    return None if found is None else (found[0], PageRow(*found[1:]))


def fetch_names(connection: apsw.Connection, page_id: int) -> tuple[NameRow, ...]:
    """What the page may be called."""
    return tuple(NameRow(*row) for row in select_rows(connection, _NAMES, (page_id,)))


def fetch_indexed(
    connection: apsw.Connection, paths: Iterable[str] | None, prefix: str
) -> dict[str, IndexedPage]:
    """The indexed pages at these paths, or all at or below `prefix` ('' for everything)."""
    if paths is not None:
        rows = select_rows(connection, f"{_INDEXED} WHERE path IN {_GIVEN}", (json.dumps(list(paths)),))
    elif prefix:
        rows = select_rows(connection, f"{_INDEXED} WHERE {_BELOW}", (prefix.rstrip("/"),))
    else:
        rows = select_rows(connection, _INDEXED)
    return {
        row[0]: IndexedPage(row[0], row[1], Stamp._make(row[2:7]), bool(row[7]), row[8], row[9])
        for row in rows
    }


def count_pages(connection: apsw.Connection, at_most: int) -> int:
    """How many pages there are, counted no further than `at_most`."""
    ((pages,),) = select_rows(connection, _COUNT, (at_most,))
    return int(pages)


def fetch_shown_paths(connection: apsw.Connection) -> set[str]:
    """The paths of all pages that readers see, be the tables of another version.

    The public part outlives them: its columns are only ever added to (contract.COLUMNS).
    """
    try:
        return {path for (path,) in select_rows(connection, "SELECT path FROM v1_pages")}
    except apsw.SQLError:  # another contract, of which nothing is known
        return set()


def fetch_neighbours(connection: apsw.Connection, base_slugs: Collection[str]) -> set[str]:
    """The paths of the pages whose base slug is one of these."""
    return {path for (path,) in select_rows(connection, _NEIGHBOURS, (json.dumps(sorted(base_slugs)),))}


def fetch_diagnostics(
    connection: apsw.Connection, prefixes: Collection[str]
) -> dict[str, tuple[Diagnostic, ...]]:
    """The diagnostics of the paths at or below these ('' for everything), or of all where they are many."""
    if "" in prefixes or len(prefixes) > _FEW_PREFIXES:
        return _diagnostics(connection, "", ())
    found: dict[str, tuple[Diagnostic, ...]] = {}
    for prefix in prefixes:
        found |= _diagnostics(connection, f"AND ({_BELOW})", (prefix.rstrip("/"),))
    return found


def _diagnostics(
    connection: apsw.Connection, where: str, values: tuple[str, ...]
) -> dict[str, tuple[Diagnostic, ...]]:
    found: dict[str, list[Diagnostic]] = defaultdict(list)
    for path, kind, message, line in select_rows(connection, _SAID_OF_PATHS.format(where), values):
        found[path].append(Diagnostic(kind, message, line))
    return {path: tuple(said) for path, said in found.items()}
