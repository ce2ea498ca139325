"""The public rows without what differs between two equal indexes: ids, generations, times of commits.

Two indexes of the same tree give the same rows in the same order; that is what `verify` and the
tests go by. The page's slug stands for its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import apsw

# One SELECT a view, ordered by what identifies a row for a person.
PUBLIC_ROWS: Final = {
    "v1_pages": """SELECT slug, path, title, title_origin, summary, updated_at, size, content_hash,
        front_matter, raw_front_matter, lead, sections, mtime_ns FROM v1_pages ORDER BY path""",
    "v1_sections": """SELECT slug, section_id, ordinal, level, heading, heading_path, path_text, anchor,
        start_line, end_line, heading_source, body, section_path
        FROM v1_sections ORDER BY slug, ordinal""",
    "v1_section_pages": """SELECT p.slug, count(s.section_rowid) AS sections
        FROM v1_section_pages s JOIN v1_pages p USING(page_id) GROUP BY p.slug ORDER BY p.slug""",
    "v1_chunks": """SELECT slug, section_id, part, parts, kind, chunk_key, section_path, heading_path,
        content, tokens, embed_text, source_text, breadcrumb, href, start_line, end_line
        FROM v1_chunks ORDER BY slug, section_id, part""",
    "v1_links": """SELECT slug, section_id, line, kind, target, target_path, fragment, label, target_slug,
        external, how, ambiguous FROM v1_links ORDER BY slug, section_id, line, target, label, kind""",
    "v1_topics": "SELECT slug, title, description, page_count FROM v1_topics ORDER BY slug",
    "v1_topic_parents": "SELECT child, parent FROM v1_topic_parents ORDER BY child, parent",
    "v1_topic_tree": "SELECT topic, under FROM v1_topic_tree ORDER BY under, topic",
    "v1_page_topics": "SELECT slug, topic, origin FROM v1_page_topics ORDER BY slug, topic, origin",
    "v1_mentions": """SELECT slug, path, original_path, is_dir, origin, section_id FROM v1_mentions
        ORDER BY slug, path, original_path, origin, section_id""",
    "v1_sources": """SELECT p.slug, s.source_id, s.type, s.target, s.title, s.note
        FROM v1_sources s JOIN v1_pages p USING(page_id) ORDER BY p.slug, s.source_id, s.type, s.target""",
    "v1_aliases": """SELECT p.slug, a.alias FROM v1_aliases a JOIN v1_pages p USING(page_id)
        ORDER BY p.slug, a.alias""",
    "v1_names": "SELECT slug, key, kind FROM v1_names ORDER BY slug, key, kind",
    "v1_diagnostics": """SELECT path, slug, kind, line, message FROM v1_diagnostics
        ORDER BY path, kind, line, message""",
}


def column_names(view: str) -> tuple[str, ...]:
    """What `public_rows` gives of a view, in order."""
    listed = PUBLIC_ROWS[view].partition("FROM")[0].removeprefix("SELECT")
    return tuple(re.split(r"[ .]", column.strip())[-1] for column in listed.split(","))


def public_rows(connection: apsw.Connection, view: str) -> Iterator[tuple[object, ...]]:
    """The rows of one view, in an order that does not depend on how they came to be."""
    yield from connection.execute(PUBLIC_ROWS[view])
