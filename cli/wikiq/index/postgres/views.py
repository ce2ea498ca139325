"""The public views of an index (docs/database.md) over the tables of a PostgreSQL schema.

They are put before a statement and not into the database: a view there would read with the rights of
its owner before version 15, past every row-level policy.
"""

from __future__ import annotations

import re

_JSON = "array_to_json({0})::text"
_TITLED = "p.title || CASE WHEN cardinality({0}) = 0 THEN '' ELSE '{1}' || array_to_string({0}, ' > ') END"

# A view, and what it selects; `{tables}` is the schema, `{wiki}` the number of the wiki.
_VIEWS = {
    "v1_pages": """SELECT page_id, slug, path, title, title_origin, summary, updated_at, size, content_hash,
  front_matter, raw_front_matter, lead, sections, generation, mtime_ns
  FROM {tables}.page WHERE wiki_id = {wiki}""",
    "v1_sections": f"""SELECT section_rowid, page_id, slug, section_id, ordinal, level, heading,
  {_JSON.format("heading_path")} AS heading_path, array_to_string(heading_path, ' > ') AS path_text, anchor,
  start_line, end_line, heading_source, body, {_JSON.format("section_path")} AS section_path
  FROM {{tables}}.section WHERE wiki_id = {{wiki}}""",
    "v1_section_pages": "SELECT section_rowid, page_id FROM {tables}.section WHERE wiki_id = {wiki}",
    "v1_chunks": f"""SELECT c.chunk_key, c.page_id, p.slug, c.section_id, c.part, c.parts, c.kind,
  {_JSON.format("c.section_path")} AS section_path, {_JSON.format("c.heading_path")} AS heading_path,
  c.content, c.tokens,
  {_TITLED.format("c.section_path", " > ")} || chr(10) || chr(10) || c.content AS embed_text,
  {_TITLED.format("c.heading_path", " — ")} || chr(10) || c.content AS source_text,
  {_JSON.format("c.heading_path")} AS breadcrumb, c.href, c.start_line, c.end_line, p.generation
  FROM {{tables}}.chunk c JOIN {{tables}}.page p ON p.wiki_id = c.wiki_id AND p.page_id = c.page_id
  WHERE c.wiki_id = {{wiki}}""",
    "v1_links": """SELECT page_id, slug, section_id, line, kind, target, target_path, fragment, label,
  target_slug, external, how, ambiguous FROM {tables}.link WHERE wiki_id = {wiki}""",
    "v1_topics": "SELECT slug, title, description, page_count FROM {tables}.topic WHERE wiki_id = {wiki}",
    "v1_topic_parents": "SELECT child, parent FROM {tables}.topic_parent WHERE wiki_id = {wiki}",
    "v1_topic_tree": "SELECT topic, under FROM {tables}.topic_tree WHERE wiki_id = {wiki}",
    "v1_page_topics": "SELECT page_id, slug, topic, origin FROM {tables}.page_topic WHERE wiki_id = {wiki}",
    "v1_mentions": """SELECT page_id, slug, path, original_path, is_dir, origin, section_id
  FROM {tables}.mention WHERE wiki_id = {wiki}""",
    "v1_sources": """SELECT page_id, source_id, type, target, title, note
  FROM {tables}.source WHERE wiki_id = {wiki}""",
    "v1_aliases": "SELECT page_id, alias FROM {tables}.alias WHERE wiki_id = {wiki}",
    "v1_names": "SELECT page_id, slug, key, kind FROM {tables}.name WHERE wiki_id = {wiki}",
    "v1_diagnostics": """SELECT path, slug, kind, line, message, since_generation
  FROM {tables}.diagnostic WHERE wiki_id = {wiki}""",
    "v1_changes": """SELECT generation, committed_at, op, slug, path, content_hash
  FROM {tables}.change WHERE wiki_id = {wiki}""",
    "v1_changes_floor": """SELECT changes_floor AS generation FROM {tables}.wiki WHERE wiki_id = {wiki}""",
    # The scans of the tree are not fed: what a reader here can know is when the feeder last looked.
    "v1_scans": """SELECT NULL::text AS started_at, NULL::text AS finished_at, NULL::text AS reason,
  0 AS pages_seen, 0 AS pages_changed, 0 AS missed_by_events WHERE false""",
    # Of titles and headings the words as they are indexed, which say the same as the text.
    "sections_fts": """SELECT section_rowid AS rowid, split_part(words, chr(10), 1) AS title,
  split_part(words, chr(10), 2) AS ancestors, split_part(words, chr(10), 3) AS heading, body
  FROM {tables}.section WHERE wiki_id = {wiki}""",
    "terms": """SELECT term, df AS doc FROM {tables}.term WHERE wiki_id = {wiki} AND NOT is_piece""",
}
_NAME = re.compile(r"\b(?:v1_\w+|terms|sections_fts)\b")
_WITH = re.compile(r"\s*WITH\b")


def with_views(statement: str, *, schema: str, wiki_id: int) -> str:
    """Put the views that a statement speaks of before it."""
    used = dict.fromkeys(name for name in _NAME.findall(statement) if name in _VIEWS)
    if not used:
        return statement
    views = ",\n".join(
        f"{name} AS NOT MATERIALIZED ({_VIEWS[name].format(tables=schema, wiki=wiki_id)})" for name in used
    )
    begun = _WITH.match(statement)
    rest = f",{statement[begun.end() :]}" if begun else f"\n{statement}"
    return f"WITH {views}{rest}"
