"""The row changes of one transaction: gathered first, then written table by table.

Gathering reads and writing writes, so the full text can take its old values before any row changes,
each statement runs over many rows, and nothing flushes FTS5's buffer in between (spec 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import apsw

Texts = tuple[str, str, str, str]

# What to run for each list of RowChanges, in this order: what goes makes room for what comes. A slug
# that moves is first set to what no page can have, since two pages may swap theirs.
_STATEMENTS: Final = {
    "pages_deleted": "DELETE FROM page WHERE page_id = ?",
    "slugs_vacated": "UPDATE page SET slug = '//' || page_id WHERE page_id = ?",
    "sections_deleted": "DELETE FROM section WHERE section_rowid = ?",
    "places_deleted": "DELETE FROM place WHERE page_id = ? AND ordinal = ?",
    "chunks_cleared": "DELETE FROM chunk WHERE section_rowid = ?",
    "links_cleared": "DELETE FROM link WHERE section_rowid = ?",
    "names_deleted": "DELETE FROM name WHERE page_id = ? AND key = ? AND rank = ? AND nth = ?",
    "topics_cleared": "DELETE FROM page_topic WHERE page_id = ?",
    "mentions_cleared": "DELETE FROM mention WHERE page_id = ?",
    "sources_cleared": "DELETE FROM source WHERE page_id = ?",
    "pages_updated": """UPDATE page SET slug = ?, path = ?, base_slug = ?, title = ?, title_origin = ?,
        title_key = ?, summary = ?, names = ?, updated_at = ?, updated = ?, device = ?, inode = ?,
        size = ?, mtime_ns = ?, ctime_ns = ?, racy = ?, content_hash = ?, projection = ?,
        sections = ?, generation = ?, front_matter = ?, raw_front_matter = ?, lead = ?
        WHERE page_id = ?""",
    "pages_inserted": f"INSERT INTO page VALUES({','.join('?' * 24)})",
    "sections_updated": """UPDATE section SET level = ?, heading = ?, heading_path = ?, cut = ?,
        path_text = ?, guarded = ?, guarded_text = ?, ancestors = ?, anchor = ?, cover_key = ?,
        heading_source = ?, body = ? WHERE section_rowid = ?""",
    "sections_inserted": f"INSERT INTO section VALUES({','.join('?' * 14)})",
    "places_written": "INSERT OR REPLACE INTO place VALUES(?, ?, ?, ?, ?)",
    "chunks_inserted": f"INSERT INTO chunk VALUES({','.join('?' * 17)})",
    "names_inserted": "INSERT INTO name(page_id, key, rank, nth, name) VALUES(?, ?, ?, ?, ?)",
    "topics_inserted": "INSERT INTO page_topic(page_id, topic, origin) VALUES(?, ?, ?)",
    "mentions_inserted": f"INSERT INTO mention VALUES({','.join('?' * 7)})",
    "sources_inserted": f"INSERT INTO source VALUES({','.join('?' * 7)})",
}


@dataclass(slots=True)
class RowChanges:
    """Rows to write. `full_text`: new texts of sections already there, None where they go."""

    full_text: dict[int, Texts | None] = field(default_factory=dict)
    full_text_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    grams_deleted: list[tuple[Any, ...]] = field(default_factory=list)
    grams_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    name_texts: dict[int, tuple[str, str] | None] = field(default_factory=dict)
    name_texts_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    pages_deleted: list[tuple[Any, ...]] = field(default_factory=list)
    slugs_vacated: list[tuple[Any, ...]] = field(default_factory=list)
    sections_deleted: list[tuple[Any, ...]] = field(default_factory=list)
    places_deleted: list[tuple[Any, ...]] = field(default_factory=list)
    chunks_cleared: list[tuple[Any, ...]] = field(default_factory=list)
    links_cleared: list[tuple[Any, ...]] = field(default_factory=list)
    names_deleted: list[tuple[Any, ...]] = field(default_factory=list)
    topics_cleared: list[tuple[Any, ...]] = field(default_factory=list)
    mentions_cleared: list[tuple[Any, ...]] = field(default_factory=list)
    sources_cleared: list[tuple[Any, ...]] = field(default_factory=list)
    pages_updated: list[tuple[Any, ...]] = field(default_factory=list)
    pages_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    sections_updated: list[tuple[Any, ...]] = field(default_factory=list)
    sections_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    places_written: list[tuple[Any, ...]] = field(default_factory=list)
    chunks_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    links_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    names_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    topics_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    mentions_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    sources_inserted: list[tuple[Any, ...]] = field(default_factory=list)
    # Targets that lost a link, and topics that a page lost: they may be nobody's now.
    targets_released: set[int] = field(default_factory=set)
    topics_released: set[str] = field(default_factory=set)


def write_rows(connection: apsw.Connection, changes: RowChanges) -> None:
    """Write all but the full text (before this) and the links (after, see `links`)."""
    for name, statement in _STATEMENTS.items():
        rows = getattr(changes, name)
        if rows:
            connection.executemany(statement, rows)
