"""Every SELECT of the reader, side by side, over the public part of the index only.

Values are always bound. Nothing here runs a statement.
"""

from __future__ import annotations

SELECT_META = "SELECT key, value FROM meta"
SELECT_GENERATION = "SELECT value FROM meta WHERE key = 'generation'"

# SQLite keeps any kind of value in any column; the writer keeps these kinds in these.
SELECT_WRONG_ROWS = """
SELECT 'v1_pages' FROM v1_pages WHERE typeof(page_id) || typeof(size) || typeof(sections)
  || typeof(mtime_ns) || typeof(generation) <> 'integerintegerintegerintegerinteger'
  OR typeof(slug) || typeof(path) || typeof(title) || typeof(updated_at) || typeof(lead)
  <> 'texttexttexttexttext' OR typeof(summary) NOT IN ('text', 'null')
UNION ALL SELECT 'v1_sections' FROM v1_sections
  WHERE typeof(section_rowid) || typeof(ordinal) || typeof(level) || typeof(start_line) || typeof(end_line)
  <> 'integerintegerintegerintegerinteger'
  OR typeof(section_id) || typeof(heading) || typeof(heading_path) || typeof(anchor)
  || typeof(heading_source) || typeof(body) <> 'texttexttexttexttexttext'
UNION ALL SELECT 'v1_section_pages' FROM v1_section_pages
  WHERE section_rowid NOT IN (SELECT section_rowid FROM v1_sections)
UNION ALL SELECT 'v1_topics' FROM v1_topics WHERE typeof(slug) <> 'text'
UNION ALL SELECT 'v1_page_topics' FROM v1_page_topics WHERE typeof(topic) <> 'text'
UNION ALL SELECT 'v1_names' FROM v1_names WHERE typeof(key) || typeof(kind) <> 'texttext'
UNION ALL SELECT 'v1_changes' FROM v1_changes
  WHERE typeof(generation) || typeof(slug) || typeof(path) <> 'integertexttext'
LIMIT 1"""

SELECT_LAST_SCAN = """
SELECT started_at, finished_at, reason, pages_seen, pages_changed, missed_by_events
FROM v1_scans ORDER BY finished_at DESC LIMIT 1"""

# Conditions on `p`, a row of v1_pages; filters.py puts them together.
HAS_TOPIC = "p.page_id IN (SELECT page_id FROM v1_page_topics WHERE topic = ?)"
IS_UNDER_TOPIC = """p.page_id IN (
  SELECT t.page_id FROM v1_topic_tree x JOIN v1_page_topics t ON t.topic = x.topic WHERE x.under = ?)"""
MENTIONS_FILE = """p.page_id IN (
  SELECT page_id FROM v1_mentions WHERE path = ? OR is_dir AND path IN ({above}))"""
MENTIONS_FOLDER = "p.page_id IN (SELECT page_id FROM v1_mentions WHERE path = ? OR path >= ? AND path < ?)"
LINKS_TO = "p.page_id IN (SELECT page_id FROM v1_links WHERE target_slug = ?)"
LINKED_BY = "p.slug IN (SELECT target_slug FROM v1_links WHERE slug = ?)"

SELECT_PAGE_EXACTLY = """
SELECT page_id, slug, path, title, sections FROM v1_pages WHERE slug = :name OR path = :name
ORDER BY slug <> :name LIMIT 1"""

SELECT_PAGES_NAMED = """
SELECT p.page_id, p.slug, p.path, p.title, p.sections, n.kind
FROM v1_names n JOIN v1_pages p ON p.page_id = n.page_id WHERE n.key IN (?, ?)
GROUP BY p.page_id, p.slug, p.path, p.title, p.sections, n.kind ORDER BY length(p.path), p.path"""

# Names that hold what was typed come first: the miss is then most likely a beginning or an end.
SELECT_SIMILAR_NAMES = """
SELECT n.key FROM v1_names n WHERE n.kind <> 'path' AND
  (instr(n.key, ?1) > 0 OR length(n.key) BETWEEN ?2 AND ?3)
ORDER BY instr(n.key, ?1) = 0, n.key LIMIT ?4"""

SELECT_SECTION_NAMES = """
SELECT section_rowid, ordinal, section_id, anchor, heading, level, heading_path, start_line, end_line
FROM v1_sections WHERE page_id = ? ORDER BY ordinal"""

SELECT_TOPIC_EXISTS = """
SELECT 1 FROM v1_topics WHERE slug = :topic
UNION ALL SELECT 1 FROM v1_page_topics WHERE topic = :topic
UNION ALL SELECT 1 FROM v1_topic_tree WHERE under = :topic LIMIT 1"""

# What begins with a text, for completion.
SELECT_SLUGS_FROM = """
SELECT slug, title FROM v1_pages WHERE slug >= ?1 AND slug < ?1 || char(1114111) ORDER BY slug LIMIT ?2"""
SELECT_NAMES_FROM = """
SELECT n.key, p.title FROM v1_names n JOIN v1_pages p ON p.page_id = n.page_id
WHERE n.key >= ?1 AND n.key < ?1 || char(1114111)
  AND n.kind IN ('alias', 'file_name', 'title') AND p.path NOT LIKE '%' || n.key
ORDER BY n.key LIMIT ?2"""
SELECT_TOPICS_FROM = """
SELECT slug, coalesce(title, '') FROM v1_topics
WHERE slug >= ?1 AND slug < ?1 || char(1114111) ORDER BY slug LIMIT ?2"""

SELECT_TOPIC_NAMES = "SELECT slug FROM v1_topics UNION SELECT under FROM v1_topic_tree ORDER BY 1"

# `{condition}` is what filters.page_condition gives; the same three statements for any number of pages.
_LISTED = "FROM v1_pages p WHERE {condition}"
_NEWEST = "ORDER BY p.updated_at DESC, p.slug LIMIT ?"
_STORED_PAGE = """
SELECT p.page_id, p.slug, p.title, p.path, p.summary, p.updated_at, p.generation, p.size, p.mtime_ns,
  p.content_hash"""
SELECT_PAGES = f"{_STORED_PAGE} {_LISTED} {_NEWEST}"
COUNT_PAGES = f"SELECT count(*) {_LISTED}"
SELECT_ANY_PAGE = f"SELECT 1 {_LISTED} LIMIT 1"
SELECT_TOPICS_OF_PAGES = f"""
SELECT DISTINCT t.page_id, t.topic FROM v1_page_topics t
WHERE t.page_id IN (SELECT p.page_id {_LISTED} {_NEWEST}) ORDER BY t.page_id, t.topic"""

SELECT_PAGE = f"{_STORED_PAGE} FROM v1_pages p WHERE p.page_id = ?"
SELECT_TOPICS_OF_PAGE = """
SELECT DISTINCT page_id, topic FROM v1_page_topics WHERE page_id = ? ORDER BY topic"""
SELECT_SECTION = """
SELECT section_id, level, heading, heading_path, anchor, start_line, end_line, heading_source || body
FROM v1_sections WHERE page_id = ? AND ordinal = ?"""
# What is before the first section, then every section, gives the decoded file back (spec 1.5).
SELECT_SOURCE = """
SELECT text FROM (
  SELECT -1 AS ordinal, lead AS text FROM v1_pages WHERE page_id = :page_id
  UNION ALL SELECT ordinal, heading_source || body FROM v1_sections WHERE page_id = :page_id) AS parts
ORDER BY ordinal"""

# Structure. Paths are JSON arrays as the index writes them. `section_path` leaves off a first heading
# that only names the page, so a path resolves with and without it.
SELECT_OUTLINE = """
SELECT section_id, level, heading, heading_path, section_path, anchor, start_line, end_line
FROM v1_sections WHERE page_id = ? ORDER BY ordinal"""
_TOLD = """
SELECT section_id, level, heading, heading_path, anchor, start_line, end_line, heading_source || body
FROM v1_sections WHERE page_id = :page_id"""
SELECT_SECTIONS_AT = f"""{_TOLD} AND (section_path = :path OR heading_path = :path)
ORDER BY level = 0, ordinal"""
# `beginning` is the path with a comma in the place of its closing bracket.
SELECT_SECTIONS_UNDER = f"""{_TOLD}
AND (section_path = :path OR substr(section_path, 1, length(:beginning)) = :beginning) ORDER BY ordinal"""

_LINKS = """
SELECT p.page_id, p.slug, p.title, p.path, l.line, l.section_id, l.kind, l.target, l.label, l.target_path,
  l.fragment, l.target_slug, l.external, l.how, l.ambiguous
FROM v1_links l JOIN v1_pages p ON p.page_id = l.page_id"""
SELECT_LINKS = f"{_LINKS} WHERE l.page_id = ? ORDER BY l.line, l.target"
SELECT_BACKLINKS = f"""{_LINKS} WHERE l.target_slug = :slug AND l.slug <> :slug
ORDER BY p.path, l.line, l.target"""
SELECT_LINKS_TO_NO_PAGE = f"""{_LINKS}
WHERE l.target_slug IS NULL AND NOT l.external ORDER BY p.path, l.line, l.target"""
SELECT_AMBIGUOUS_LINKS = f"{_LINKS} WHERE l.ambiguous ORDER BY p.path, l.line, l.target"
SELECT_LINKS_INTO_PAGES = f"""{_LINKS}
WHERE l.target_slug IS NOT NULL AND l.fragment <> '' ORDER BY l.target_slug, p.path, l.line"""

# What `wikiq check` looks for beside links.
SELECT_ORPHANS = """
SELECT p.slug, p.path FROM v1_pages p WHERE p.slug NOT IN (
  SELECT target_slug FROM v1_links WHERE target_slug IS NOT NULL AND slug <> target_slug)
ORDER BY p.path"""
SELECT_EMPTY_PAGES = """
SELECT p.slug, p.path FROM v1_pages p
WHERE p.content_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM v1_chunks c WHERE c.page_id = p.page_id)
ORDER BY p.path"""
SELECT_MENTIONS = """
SELECT p.slug, p.path, m.path, m.original_path, m.origin, v.start_line
FROM v1_mentions m JOIN v1_pages p ON p.page_id = m.page_id
LEFT JOIN v1_sections v ON v.page_id = m.page_id AND v.ordinal = CAST(m.section_id AS INTEGER)
ORDER BY p.path, m.path"""
SELECT_MENTIONS_OF_PAGE = """
SELECT path || CASE WHEN is_dir THEN '/' ELSE '' END, min(original_path) FROM v1_mentions
WHERE page_id = ? GROUP BY 1 ORDER BY 1"""
SELECT_SHARED_ALIASES = """
SELECT n.key, p.slug, p.path FROM v1_names n JOIN v1_pages p ON p.page_id = n.page_id
WHERE n.kind = 'alias' AND EXISTS (
  SELECT 1 FROM v1_names o WHERE o.key = n.key AND o.kind = 'alias' AND o.page_id <> n.page_id)
ORDER BY n.key, p.path"""
SELECT_DIAGNOSTICS = (
    "SELECT kind, path, slug, line, message FROM v1_diagnostics ORDER BY kind, path, line NULLS FIRST"
)

# A page's chunks at once, pages in the order of their ids; `{condition}` as for SELECT_PAGES.
SELECT_PAGES_TO_EMBED = """
SELECT p.page_id, p.slug, p.path, p.generation, {condition} FROM v1_pages p
WHERE p.page_id > ? AND p.generation > ? ORDER BY p.page_id LIMIT ?"""
SELECT_CHUNKS = """
SELECT chunk_key, page_id, slug, section_id, part, parts, kind, section_path, heading_path, content, tokens,
  embed_text, source_text, breadcrumb, href, start_line, end_line, generation
FROM v1_chunks WHERE page_id = ? ORDER BY section_id, part"""
SELECT_PAGES_GONE = """
SELECT DISTINCT c.slug, max(c.generation) FROM v1_changes c
WHERE c.generation > ? AND NOT EXISTS (SELECT 1 FROM v1_pages p WHERE p.slug = c.slug)
GROUP BY c.slug ORDER BY c.slug"""

SELECT_TOPICS = """
SELECT t.slug, t.title, t.description, t.page_count,
  (SELECT count(DISTINCT u.page_id) FROM v1_topic_tree x JOIN v1_page_topics u ON u.topic = x.topic
   WHERE x.under = t.slug)
FROM v1_topics t
WHERE :topic IS NULL OR t.slug = :topic
  OR t.slug IN (SELECT child FROM v1_topic_parents WHERE parent = :topic)
ORDER BY t.slug <> coalesce(:topic, t.slug), t.slug"""
SELECT_TOPIC_PARENTS = "SELECT child, parent FROM v1_topic_parents ORDER BY child, parent"

SELECT_CHANGES = """
SELECT generation, committed_at, op, slug, path, content_hash
FROM v1_changes WHERE generation > ? ORDER BY generation, slug LIMIT ?"""
SELECT_CHANGES_OF = """
SELECT generation, committed_at, op, slug, path, content_hash
FROM v1_changes WHERE generation = ? ORDER BY slug"""
SELECT_CHANGES_FLOOR = "SELECT generation FROM v1_changes_floor"

COUNT_ALL = "SELECT count(*), coalesce(sum(sections), 0) FROM v1_pages"
COUNT_DIAGNOSTICS = "SELECT kind, count(*) FROM v1_diagnostics GROUP BY kind ORDER BY kind"

# The search, in the order its statements run. Lists of values come as JSON arrays.
COUNT_TERMS = "SELECT term, doc FROM terms WHERE term IN (SELECT value FROM json_each(?))"
# What begins with a text lies between it and it followed by the last code point.
SELECT_BEGINNINGS = """
SELECT value FROM json_each(?) WHERE EXISTS (
  SELECT 1 FROM terms WHERE term > value AND term < value || char(1114111))"""
SELECT_VOCABULARY = """
SELECT j.value, t.term, t.doc FROM json_each(?) j
CROSS JOIN terms t ON t.term >= j.value AND t.term < j.value || char(1114111)
WHERE length(t.term) BETWEEN ? AND ?"""

SELECT_HOLDS_PHRASE = "SELECT 1 FROM sections_fts WHERE sections_fts MATCH ? LIMIT 1"

# Two words as they were typed, sign between them and all, in a section that holds them side by side, up to
# four blanks apart. So many sections are looked at: a pair that is common without the sign need not be read
# everywhere.
SELECT_HOLDS_BESIDE = """
SELECT 1 FROM (SELECT rowid FROM sections_fts WHERE sections_fts MATCH ?1 LIMIT 1000) f
JOIN v1_sections v ON v.section_rowid = f.rowid
WHERE instr(lower(replace(replace(v.heading || char(10) || v.body, '  ', ' '), '  ', ' ')), lower(?2))
LIMIT 1"""

# One part of a section's score, by its number; `{table}` is a full-text table, the weights are its columns'.
SCORED_PART = """
SELECT {part} AS part, rowid AS section_rowid, -bm25({table}, ?, ?, ?, ?) * ? AS score
FROM {table} WHERE {table} MATCH ?"""
PART_SUM = "coalesce(sum(score) FILTER (WHERE part = {part}), 0.0)"
WHOLE_SUM = "sum(score)"
NO_PART = "SELECT 0 AS part, NULL AS section_rowid, 0.0 AS score WHERE 0"
HOLDS_WORDS = "section_rowid IN (SELECT rowid FROM sections_fts WHERE sections_fts MATCH ?)"
HOLDS_PIECES = "section_rowid IN (SELECT rowid FROM sections_grams WHERE sections_grams MATCH ?)"
# A word with signs as it was typed, in a section that is known to hold its terms.
HOLDS_SIGNS = """EXISTS (
  SELECT 1 FROM v1_sections v JOIN v1_pages p ON p.page_id = v.page_id
  WHERE v.section_rowid = found.section_rowid AND instr(lower({text}), lower(?)))"""
SIGNS_IN = {
    None: "p.title || char(10) || v.heading || char(10) || v.body",
    "title": "p.title",
    "heading": "v.heading",
}
NAMED_PAGES = "SELECT rowid AS page_id, -bm25(names_fts) AS score FROM names_fts WHERE names_fts MATCH ?"
NO_NAMED_PAGES = "SELECT NULL AS page_id, 0.0 AS score WHERE 0"
# Verbatim and without regard to ASCII case; past that many characters nobody waits for it. A scalar
# subquery, like the ordinal: an outer join to the view would be made for all sections of the wiki.
HOLDS_LITERAL = """
(SELECT (instr(lower(v.heading), lower(?)) > 0) + (instr(
     lower(p.title || char(10) || v.heading || char(10) || substr(v.body, 1, 1000000)), lower(?)) > 0)
 FROM v1_sections v WHERE v.section_rowid = k.section_rowid)"""

# What is worth ranking: the best sections, the best section of the best pages and of those whose name
# was typed, and pages found by their name alone (kind 1). Each cut is a score, and all that reach it
# are taken: which of several equals is newer is not known before the last lines.
SELECT_RANKED = """
WITH found AS MATERIALIZED ({parts}),
matched AS MATERIALIZED (
  SELECT section_rowid, sum(score) AS score, {sums},
    (SELECT page_id FROM v1_section_pages s WHERE s.section_rowid = found.section_rowid) AS page_id
  FROM found WHERE {clauses} GROUP BY section_rowid),
passed AS MATERIALIZED (
  SELECT section_rowid, score, page_id, {own} FROM matched
  WHERE {everything} OR page_id IN (SELECT p.page_id FROM v1_pages p WHERE {condition})),
best AS MATERIALIZED (SELECT page_id, max(score) AS score FROM passed GROUP BY page_id),
exact AS MATERIALIZED (
  SELECT page_id, max(kind IN ('path', 'slug', 'stem')) AS is_identity
  FROM v1_names WHERE key IN (?, ?) GROUP BY page_id),
named AS MATERIALIZED (
  SELECT page_id, score FROM ({names}) n
  WHERE page_id NOT IN (SELECT page_id FROM best)
    AND ({everything} OR page_id IN (SELECT p.page_id FROM v1_pages p WHERE {condition}))),
picked AS (
  SELECT 0 AS kind, section_rowid, page_id, score, {own} FROM passed
  WHERE score >= (SELECT min(score) FROM (SELECT score FROM passed ORDER BY score DESC LIMIT ?))
  UNION
  SELECT 0, section_rowid, page_id, score, {own} FROM passed JOIN best USING (page_id, score)
  WHERE page_id IN (SELECT page_id FROM exact) OR score >= (
    SELECT min(score) FROM (SELECT score FROM best ORDER BY score DESC LIMIT ?))
  UNION ALL
  SELECT 1, (SELECT section_rowid FROM v1_sections v WHERE v.page_id = named.page_id
             ORDER BY ordinal LIMIT 1), page_id, score, 0.0, 0.0, 0.0, 0.0, 0.0
  FROM named WHERE page_id IN (SELECT page_id FROM exact) OR score >= (
    SELECT min(score) FROM (SELECT score FROM named ORDER BY score DESC LIMIT ?)))
SELECT k.kind, k.section_rowid, k.page_id, e.is_identity, p.slug, p.updated_at, p.sections,
  (SELECT ordinal FROM v1_sections v WHERE v.section_rowid = k.section_rowid),
  (SELECT heading FROM v1_sections v WHERE v.section_rowid = k.section_rowid),
  k.score, {own}, {literals},
  (SELECT count(*) FROM {counted}) + (SELECT count(*) FROM named)
FROM picked k JOIN v1_pages p ON p.page_id = k.page_id
LEFT JOIN exact e ON e.page_id = k.page_id"""

# The row of averages that FTS5 keeps of each full-text table.
SELECT_AVERAGES = """
SELECT (SELECT block FROM sections_fts_data WHERE id = 1),
  (SELECT block FROM sections_grams_data WHERE id = 1)"""
# Sections as they are searched, of a long body the beginning.
SELECT_FIELDS = """
SELECT rowid, title, ancestors, heading, substr(body, 1, ?) FROM sections_fts
WHERE rowid IN (SELECT value FROM json_each(?))"""

# What tells copies apart, by place in the answer.
SELECT_SECTION_TEXTS = """
SELECT j.key, p.path, p.title, v.heading_path, v.body
FROM json_each(:pages) j JOIN json_each(:sections) k ON k.key = j.key
CROSS JOIN v1_pages p ON p.page_id = j.value CROSS JOIN v1_sections v ON v.section_rowid = k.value"""

BEGINNING_SECTIONS = 8  # of a page, in which the first words are looked for
_SHOWN_PAGE = """
SELECT j.key, p.title, p.path, p.summary,
  (SELECT json_group_array(topic) FROM (
     SELECT DISTINCT topic FROM v1_page_topics t WHERE t.page_id = p.page_id ORDER BY topic)),
  p.size, p.mtime_ns, p.content_hash"""
SELECT_SHOWN = f"""
WITH shown AS MATERIALIZED (
  SELECT j.key, j.value AS page_id, k.value AS section_rowid
  FROM json_each(:pages) j JOIN json_each(:sections) k ON k.key = j.key)
{_SHOWN_PAGE}, v.section_id, v.heading, v.heading_path, v.anchor, v.start_line, v.end_line,
  v.heading_source, CASE WHEN length(v.body) <= :most THEN '' ELSE
    substr(v.body, 1, max(1, instr(lower(v.body), :rarest) - :before) - 1) END,
  CASE WHEN length(v.body) <= :most THEN v.body
    ELSE substr(v.body, max(1, instr(lower(v.body), :rarest) - :before), :most) END
FROM shown j JOIN v1_pages p ON p.page_id = j.page_id
JOIN v1_sections v ON v.section_rowid = j.section_rowid
UNION ALL {_SHOWN_PAGE}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM shown j JOIN v1_pages p ON p.page_id = j.page_id WHERE j.section_rowid IS NULL"""

# How pages begin, for hits whose own section has no text.
SELECT_PAGE_BEGINNINGS = f"""
SELECT v.page_id, v.ordinal, substr(v.body, 1, :most) FROM json_each(:pages) j
JOIN v1_sections v ON v.page_id = j.value WHERE v.ordinal < {BEGINNING_SECTIONS}"""

# A statement of the user that names what there is not.
SELECT_VIEWS = "SELECT name FROM sqlite_master WHERE type = 'view' AND name GLOB 'v1_*' ORDER BY name"

# An evaluation: what right answers are compared with, and how its own copy loses a heading.
SELECT_PATHS = "SELECT page_id, path, title FROM v1_pages"
SELECT_SECTION_PATHS = """
SELECT v.section_rowid, p.path, p.title, v.heading_path
FROM v1_sections v JOIN v1_pages p ON p.page_id = v.page_id"""
SELECT_INDEXED_TEXTS = "SELECT title, ancestors, heading, body FROM sections_fts WHERE rowid = ?"
BLANK_WORDS = "UPDATE sections_fts SET heading = '' WHERE rowid = ?"
BLANK_HEADING = "UPDATE section SET heading = '' WHERE section_rowid = ?"
REMOVE_PIECES = """
INSERT INTO sections_grams(sections_grams, rowid, title, ancestors, heading, body)
VALUES ('delete', ?, ?, ?, ?, ?)"""
ADD_PIECES = "INSERT INTO sections_grams(rowid, title, ancestors, heading, body) VALUES (?, ?, ?, '', ?)"
