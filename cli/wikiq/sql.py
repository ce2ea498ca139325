"""Every SELECT of the reader, side by side, over the public part of the index only.

Values are always bound. Nothing here runs a statement.
"""

from __future__ import annotations

SELECT_META = "SELECT key, value FROM meta"

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
SELECT DISTINCT p.page_id, p.slug, p.path, p.title, p.sections, n.kind
FROM v1_names n JOIN v1_pages p ON p.page_id = n.page_id
WHERE n.key IN (?, ?) ORDER BY length(p.path), p.path"""

# Names that hold what was typed come first: the miss is then most likely a beginning or an end.
SELECT_SIMILAR_NAMES = """
SELECT n.key FROM v1_names n WHERE n.kind <> 'path' AND
  (instr(n.key, ?1) > 0 OR length(n.key) BETWEEN ?2 AND ?3)
ORDER BY instr(n.key, ?1) = 0, n.key LIMIT ?4"""

SELECT_SECTION_NAMES = """
SELECT section_rowid, ordinal, section_id, anchor, heading FROM v1_sections
WHERE page_id = ? ORDER BY ordinal"""

SELECT_TOPIC_EXISTS = """
SELECT 1 FROM v1_topics WHERE slug = :topic
UNION ALL SELECT 1 FROM v1_page_topics WHERE topic = :topic
UNION ALL SELECT 1 FROM v1_topic_tree WHERE under = :topic LIMIT 1"""

SELECT_TOPIC_NAMES = "SELECT slug FROM v1_topics UNION SELECT under FROM v1_topic_tree ORDER BY 1"
