"""The DDL of the file: private tables, full-text tables, public views; and the writer's pragmas.

Only the store runs it; what readers go by stands in the contract. No SQL newer than SQLite 3.31 in
a view, and no JSON function, so that any stock SQLite reads the file (spec 2). Nothing here opens it.
"""

from __future__ import annotations

import re
from typing import Final

from indexerd.contract.file import TOKENIZER

TABLES: Final = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    # names: path without extension and aliases, one a line, for names_fts.
    # base_slug: the slug before collisions are settled; pages that share one are neighbours.
    """CREATE TABLE page(
        page_id INTEGER PRIMARY KEY AUTOINCREMENT,
        slug TEXT NOT NULL UNIQUE,
        path TEXT NOT NULL UNIQUE,
        base_slug TEXT NOT NULL,
        title TEXT NOT NULL,
        title_origin TEXT NOT NULL,
        title_key TEXT NOT NULL,
        summary TEXT,
        names TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        updated TEXT,
        device INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        racy INTEGER NOT NULL,
        content_hash TEXT,
        projection TEXT NOT NULL,
        sections INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        front_matter TEXT NOT NULL,
        raw_front_matter TEXT,
        lead TEXT NOT NULL)""",
    "CREATE INDEX page_base_slug ON page(base_slug)",
    "CREATE INDEX page_updated ON page(updated_at)",
    "CREATE INDEX page_generation ON page(generation)",
    "CREATE INDEX page_title_key ON page(title_key) WHERE title_origin = 'front_matter'",
    # heading_path: JSON array. cut: where its second element starts, counted from 1, 0 without one.
    # path_text, guarded_text: joined by ' > ', whole and without the first element; only where the
    # JSON holds a backslash, else the views derive them without a JSON function.
    # heading_source: NULL for '## ' and the heading, as most are written (.04 x source).
    """CREATE TABLE section(
        section_rowid INTEGER PRIMARY KEY AUTOINCREMENT,
        page_id INTEGER NOT NULL,
        level INTEGER NOT NULL,
        heading TEXT NOT NULL,
        heading_path TEXT NOT NULL,
        cut INTEGER NOT NULL,
        path_text TEXT,
        guarded INTEGER NOT NULL,
        guarded_text TEXT,
        ancestors TEXT NOT NULL,
        anchor TEXT NOT NULL,
        cover_key TEXT,
        heading_source TEXT,
        body TEXT NOT NULL)""",
    "CREATE INDEX section_cover_key ON section(cover_key) WHERE cover_key IS NOT NULL",
    # What moves when a line is added far above, apart from what does not.
    """CREATE TABLE place(
        page_id INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        section_rowid INTEGER NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        PRIMARY KEY(page_id, ordinal)) WITHOUT ROWID""",
    """CREATE TABLE chunk(
        section_rowid INTEGER NOT NULL,
        part INTEGER NOT NULL,
        parts INTEGER NOT NULL,
        kind TEXT NOT NULL,
        start INTEGER NOT NULL,
        length INTEGER NOT NULL,
        lead_start INTEGER NOT NULL,
        lead_length INTEGER NOT NULL,
        header_start INTEGER NOT NULL,
        header_length INTEGER NOT NULL,
        tail_start INTEGER NOT NULL,
        tail_length INTEGER NOT NULL,
        line INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        key BLOB NOT NULL,
        text TEXT,
        PRIMARY KEY(section_rowid, part)) WITHOUT ROWID""",
    # One row a distinct thing looked up (link_steps.Sought). page_id: the page it means now, kept by the
    # writer when pages come, go or are renamed; how and ambiguous: by which step, and whether others
    # were as near; whole: its name holds the `#`.
    """CREATE TABLE target(
        target_id INTEGER PRIMARY KEY,
        way INTEGER NOT NULL,
        folder TEXT NOT NULL,
        path TEXT NOT NULL,
        written TEXT NOT NULL,
        whole_name TEXT NOT NULL,
        label TEXT NOT NULL,
        page_id INTEGER,
        how TEXT,
        ambiguous INTEGER NOT NULL,
        whole INTEGER NOT NULL)""",
    "CREATE INDEX target_sought ON target(path, folder)",
    "CREATE INDEX target_page ON target(page_id)",
    # The names whose coming or going decides anew what a target means. Further than the first key only
    # once the first steps found no page: most targets have one.
    """CREATE TABLE target_key(
        key TEXT NOT NULL,
        target_id INTEGER NOT NULL,
        PRIMARY KEY(key, target_id)) WITHOUT ROWID""",
    """CREATE TABLE link(
        section_rowid INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        line INTEGER NOT NULL,
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        target_id INTEGER,
        fragment TEXT,
        label TEXT NOT NULL,
        external INTEGER NOT NULL,
        PRIMARY KEY(section_rowid, nth)) WITHOUT ROWID""",
    "CREATE INDEX link_target ON link(target_id) WHERE target_id IS NOT NULL",
    # What a page may be called, folded; the best rank of a key only, and every alias as written.
    # rank: 0 path, 1 slug, 2 path without extension, 3 alias, 4 file name, 5 title; for links alone
    # 6 file name with its separators as one, 7 address (page_names.NameRank).
    """CREATE TABLE name(
        key TEXT NOT NULL,
        rank INTEGER NOT NULL,
        page_id INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        name TEXT,
        PRIMARY KEY(key, rank, page_id, nth)) WITHOUT ROWID""",
    "CREATE INDEX name_page ON name(page_id)",
    """CREATE TABLE topic(
        slug TEXT PRIMARY KEY,
        title TEXT,
        description TEXT,
        declared INTEGER NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE topic_parent(
        child TEXT NOT NULL,
        parent TEXT NOT NULL,
        PRIMARY KEY(child, parent)) WITHOUT ROWID""",
    # Every topic under itself and all that is above it.
    """CREATE TABLE topic_tree(
        under TEXT NOT NULL,
        topic TEXT NOT NULL,
        PRIMARY KEY(under, topic)) WITHOUT ROWID""",
    """CREATE TABLE page_topic(
        topic TEXT NOT NULL,
        page_id INTEGER NOT NULL,
        origin TEXT NOT NULL,
        PRIMARY KEY(topic, page_id, origin)) WITHOUT ROWID""",
    "CREATE INDEX page_topic_page ON page_topic(page_id)",
    """CREATE TABLE mention(
        page_id INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        path TEXT NOT NULL,
        original_path TEXT NOT NULL,
        is_dir INTEGER NOT NULL,
        origin TEXT NOT NULL,
        ordinal INTEGER,
        PRIMARY KEY(page_id, nth)) WITHOUT ROWID""",
    "CREATE INDEX mention_path ON mention(path)",
    """CREATE TABLE source(
        page_id INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        source_id TEXT NOT NULL,
        type TEXT NOT NULL,
        target TEXT NOT NULL,
        title TEXT,
        note TEXT,
        PRIMARY KEY(page_id, nth)) WITHOUT ROWID""",
    # origin: 0 said by the projection of the page, 1 by the look at its path (model.PathDiagnostics).
    """CREATE TABLE diagnostic(
        path TEXT NOT NULL,
        origin INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        kind TEXT NOT NULL,
        line INTEGER,
        message TEXT NOT NULL,
        since_generation INTEGER NOT NULL,
        PRIMARY KEY(path, origin, nth)) WITHOUT ROWID""",
    "CREATE TABLE commits(generation INTEGER PRIMARY KEY, committed_at TEXT NOT NULL)",
    """CREATE TABLE change(
        generation INTEGER NOT NULL,
        slug TEXT NOT NULL,
        op TEXT NOT NULL,
        path TEXT NOT NULL,
        content_hash TEXT,
        PRIMARY KEY(generation, slug)) WITHOUT ROWID""",
    """CREATE TABLE scan(
        scan_id INTEGER PRIMARY KEY,
        started_at TEXT NOT NULL,
        finished_at TEXT NOT NULL,
        reason TEXT NOT NULL,
        pages_seen INTEGER NOT NULL,
        pages_changed INTEGER NOT NULL,
        missed_by_events INTEGER NOT NULL)""",
)

# The content of the external-content tables. A delete reads the old values through these, so it
# runs before the row changes (https://sqlite.org/fts5.html#external_content_tables).
CONTENT_VIEWS: Final = (
    """CREATE VIEW section_text AS
       SELECT s.section_rowid, p.title, s.ancestors, s.heading, s.body
       FROM section s JOIN page p ON p.page_id = s.page_id""",
    "CREATE VIEW page_names AS SELECT page_id, names, title FROM page",
)

GRAMS_TABLE: Final = f"""CREATE VIRTUAL TABLE sections_grams USING fts5(title, ancestors, heading, body,
        content='', tokenize="{TOKENIZER}")"""

FULL_TEXT: Final = (
    f"""CREATE VIRTUAL TABLE sections_fts USING fts5(title, ancestors, heading, body,
        content='section_text', content_rowid='section_rowid', tokenize="{TOKENIZER}")""",
    GRAMS_TABLE,
    f"""CREATE VIRTUAL TABLE names_fts USING fts5(names, title,
        content='page_names', content_rowid='page_id', tokenize="{TOKENIZER}")""",
    "CREATE VIRTUAL TABLE terms USING fts5vocab('sections_fts', 'row')",
)

_SECTION_ID = "printf(CASE WHEN p.sections > 9999 THEN '%06d' ELSE '%04d' END, pl.ordinal)"
_HEADING_SOURCE = (
    "CASE WHEN s.heading_source IS NOT NULL THEN s.heading_source"
    " ELSE substr('######', 1, s.level) || ' ' || s.heading || '\n' END"
)
_PATH_TEXT = (
    "CASE WHEN s.heading_path = '[]' THEN '' WHEN s.path_text IS NOT NULL THEN s.path_text"
    " ELSE replace(substr(s.heading_path, 3, length(s.heading_path) - 4), '\",\"', ' > ') END"
)
_SECTION_PATH = (
    "CASE WHEN NOT s.guarded THEN s.heading_path WHEN s.cut = 0 THEN '[]'"
    " ELSE '[' || substr(s.heading_path, s.cut) END"
)
# Both conditions on place let the planner go from a page to its sections and from a section to
# its page; page_id comes from page (65 ms a look-up otherwise, spec 2.4).
_PLACED = """page p
       JOIN place pl ON pl.page_id = p.page_id
       JOIN section s ON s.section_rowid = pl.section_rowid AND s.page_id = p.page_id"""

_CHUNK_PARTS = f"""
       SELECT lower(hex(c.key)) AS chunk_key, p.page_id, p.slug, p.path, p.title, p.generation,
         {_SECTION_ID} AS section_id, c.part, c.parts, c.kind, c.tokens, s.anchor,
         pl.start_line + c.line - 1 AS start_line,
         pl.start_line + c.line + c.lines - 2 AS end_line,
         {_SECTION_PATH} AS section_path,
         CASE WHEN NOT s.guarded THEN {_PATH_TEXT} WHEN s.cut = 0 THEN ''
           WHEN s.guarded_text IS NOT NULL THEN s.guarded_text
           ELSE replace(substr(s.heading_path, s.cut + 1, length(s.heading_path) - s.cut - 2),
             '","', ' > ') END AS section_text,
         CASE WHEN s.level = 0 AND p.sections = 1
             THEN 'lines ' || (pl.start_line + c.line - 1) || '–' || (pl.start_line + c.line + c.lines - 2)
           WHEN c.parts > 1 THEN 'part ' || c.part || ' of ' || c.parts ELSE '' END AS label,
         CASE WHEN c.text IS NOT NULL THEN c.text
           ELSE substr(s.body, c.lead_start + 1, c.lead_length)
             || substr(s.body, c.header_start + 1, c.header_length)
             || substr(s.body, c.start + 1, c.length)
             || substr(s.body, c.tail_start + 1, c.tail_length) END AS content
       FROM {_PLACED}
       JOIN chunk c ON c.section_rowid = pl.section_rowid"""

_LINK_COLUMNS = f"""p.page_id, p.slug, {_SECTION_ID} AS section_id, pl.start_line + l.line - 1 AS line,
         l.kind, l.target, t.path AS target_path,
         CASE WHEN t.whole THEN NULL ELSE l.fragment END AS fragment, l.label"""

# DuckDB parses these with its own grammar (tests/readers/test_duckdb.py): a line feed is written as it is
# (no `char`), `max` of two values is a CASE, and a value of an untyped column is cast to TEXT first.
VIEWS: Final = {
    "v1_pages": """CREATE VIEW v1_pages AS
       SELECT page_id, slug, path, title, title_origin, summary, updated_at, size, content_hash,
         front_matter, raw_front_matter, lead, sections, generation, mtime_ns FROM page""",
    "v1_sections": f"""CREATE VIEW v1_sections AS
       SELECT s.section_rowid, p.page_id, p.slug, {_SECTION_ID} AS section_id, pl.ordinal, s.level,
         s.heading, s.heading_path, {_PATH_TEXT} AS path_text, s.anchor, pl.start_line, pl.end_line,
         {_HEADING_SOURCE} AS heading_source, s.body, {_SECTION_PATH} AS section_path
       FROM {_PLACED}""",
    # A search counts the pages of 50,000 matching sections through it in 20 ms, not in 125.
    "v1_section_pages": "CREATE VIEW v1_section_pages AS SELECT section_rowid, page_id FROM section",
    "v1_chunks": f"""CREATE VIEW v1_chunks AS
       SELECT chunk_key, page_id, slug, section_id, part, parts, kind, section_path,
         heading_path, content, tokens,
         title || CASE section_text WHEN '' THEN '' ELSE ' > ' || section_text END
           || '\n\n' || content AS embed_text,
         title || CASE path_text WHEN '' THEN '' ELSE ' — ' || path_text END
           || '\n' || content AS source_text,
         heading_path AS breadcrumb,
         path || CASE anchor WHEN '' THEN '' ELSE '#' || anchor END AS href,
         start_line, end_line, generation
       FROM (
         SELECT *,
           CASE WHEN label = '' THEN section_path WHEN section_path = '[]' THEN '["' || label || '"]'
             ELSE substr(section_path, 1, length(section_path) - 1) || ',"' || label || '"]'
             END AS heading_path,
           CASE WHEN label = '' THEN section_text WHEN section_text = '' THEN label
             ELSE section_text || ' > ' || label END AS path_text
         FROM ({_CHUNK_PARTS}))""",
    # Two halves, since an outer join to the target page makes backlinks a scan (95 ms, spec 2.3).
    "v1_links": f"""CREATE VIEW v1_links AS
       SELECT {_LINK_COLUMNS}, tp.slug AS target_slug, l.external, t.how, t.ambiguous
       FROM {_PLACED} JOIN link l ON l.section_rowid = pl.section_rowid
       JOIN target t ON t.target_id = l.target_id JOIN page tp ON tp.page_id = t.page_id
       UNION ALL
       SELECT {_LINK_COLUMNS}, NULL AS target_slug, l.external, NULL AS how, 0 AS ambiguous
       FROM {_PLACED} JOIN link l ON l.section_rowid = pl.section_rowid
       LEFT JOIN target t ON t.target_id = l.target_id WHERE t.page_id IS NULL""",
    "v1_topics": """CREATE VIEW v1_topics AS
       SELECT slug, title, description,
         (SELECT count(DISTINCT page_id) FROM page_topic WHERE topic = t.slug) AS page_count
       FROM topic t""",
    "v1_topic_parents": "CREATE VIEW v1_topic_parents AS SELECT child, parent FROM topic_parent",
    "v1_topic_tree": "CREATE VIEW v1_topic_tree AS SELECT topic, under FROM topic_tree",
    "v1_page_topics": """CREATE VIEW v1_page_topics AS
       SELECT p.page_id, p.slug, t.topic, t.origin
       FROM page p JOIN page_topic t ON t.page_id = p.page_id""",
    "v1_mentions": f"""CREATE VIEW v1_mentions AS
       SELECT p.page_id, p.slug, pl.path, pl.original_path, pl.is_dir, pl.origin,
         CASE WHEN pl.ordinal IS NOT NULL THEN {_SECTION_ID} END AS section_id
       FROM page p JOIN mention pl ON pl.page_id = p.page_id""",
    "v1_sources": """CREATE VIEW v1_sources AS
       SELECT page_id, source_id, type, target, title, note FROM source""",
    "v1_aliases": """CREATE VIEW v1_aliases AS
       SELECT page_id, name AS alias FROM name WHERE rank = 3""",
    "v1_names": """CREATE VIEW v1_names AS
       SELECT p.page_id, p.slug, n.key, CASE n.rank WHEN 0 THEN 'path' WHEN 1 THEN 'slug'
         WHEN 2 THEN 'stem' WHEN 3 THEN 'alias' WHEN 4 THEN 'file_name' ELSE 'title' END AS kind
       FROM name n JOIN page p ON p.page_id = n.page_id WHERE n.rank <= 5""",
    "v1_diagnostics": """CREATE VIEW v1_diagnostics AS
       SELECT d.path, p.slug, d.kind, d.line, d.message, d.since_generation
       FROM diagnostic d LEFT JOIN page p ON p.path = d.path
       UNION ALL
       SELECT p.path, p.slug, 'suspicious_heading', pl.start_line,
         'the heading "' || s.heading || '" is the title of ' || o.path
           || '; if it names what the page is about, put it in the front matter',
         CASE WHEN p.generation > o.generation THEN p.generation ELSE o.generation END
       FROM section s JOIN page p ON p.page_id = s.page_id
       JOIN place pl ON pl.page_id = p.page_id AND pl.section_rowid = s.section_rowid
       JOIN page o ON o.title_key = s.cover_key AND o.page_id <> p.page_id
       WHERE s.cover_key IS NOT NULL AND o.title_origin = 'front_matter'""",
    "v1_changes": """CREATE VIEW v1_changes AS
       SELECT c.generation, g.committed_at, c.op, c.slug, c.path, c.content_hash
       FROM change c JOIN commits g ON g.generation = c.generation""",
    "v1_changes_floor": """CREATE VIEW v1_changes_floor AS
       SELECT CAST(CAST(value AS TEXT) AS INTEGER) AS generation FROM meta WHERE key = 'changes_floor'""",
    "v1_scans": """CREATE VIEW v1_scans AS
       SELECT started_at, finished_at, reason, pages_seen, pages_changed, missed_by_events
       FROM scan""",
}

SCHEMA: Final = (*TABLES, *CONTENT_VIEWS, *FULL_TEXT, *VIEWS.values())

# Names of tables and views in the order they are made, for a rebuild to drop backwards.
SCHEMA_OBJECTS: Final = tuple(
    found[1] for found in map(re.compile(r"CREATE (?:VIRTUAL )?(?:TABLE|VIEW) (\w+)").match, SCHEMA) if found
)

# Set on the writer's connection once the file exists.
WRITER_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # until the first commit has said that the index is open
    "PRAGMA wal_autocheckpoint = 0",  # checkpoints run between batches, off the commit path
    "PRAGMA journal_size_limit = 4194304",  # bytes kept of the WAL once it has been truncated
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16384",  # KiB; 64 MiB build no faster and stay with an idle daemon
    "PRAGMA trusted_schema = OFF",
)
