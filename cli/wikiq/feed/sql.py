"""Every statement of the feed: what it reads of the index, and what it writes into PostgreSQL.

Of the index only the public part is read. `{tables}` is the schema; values are bound.
"""

from __future__ import annotations

# Of the index (SQLite).
SELECT_STAMPS = "SELECT page_id, updated_at, mtime_ns FROM v1_pages"
SELECT_CHANGED = "SELECT page_id FROM v1_pages WHERE generation > ? ORDER BY page_id"
SELECT_ROWS = "SELECT {columns} FROM {view}"
SELECT_ROWS_OF = "SELECT {columns} FROM {view} WHERE page_id IN ({pages})"
SELECT_TEXTS = "SELECT rowid, title, ancestors, heading, body FROM sections_fts WHERE rowid IN ({rows})"
SELECT_NAMES = "SELECT rowid, names, title FROM names_fts WHERE rowid IN ({pages})"
SELECT_CHANGES = """
SELECT generation, committed_at, op, slug, path, content_hash FROM v1_changes WHERE generation > ?"""
SELECT_FLOOR = "SELECT generation FROM v1_changes_floor"

# Of PostgreSQL.
SELECT_HAS_TABLES = "SELECT to_regclass(%s) IS NOT NULL"
# Held by this connection until it ends, however it ends.
TRY_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
SELECT_WIKI = """
SELECT wiki_id, format, index_id, generation, sections, words, piece_sections, piece_words, name_words,
  heading_words, heading_pieces
FROM {tables}.wiki WHERE name = %s FOR UPDATE"""
INSERT_WIKI = """
INSERT INTO {tables}.wiki(name, format, index_id, generation, changes_floor, meta, sections, words,
  piece_sections, piece_words, name_words, heading_words, heading_pieces, seen_at, note)
VALUES (%(name)s, 0, '', 0, 0, '{{}}', 0, 0, 0, 0, 0, 0, 0, now(), '') RETURNING wiki_id"""
UPDATE_WIKI = """
UPDATE {tables}.wiki SET format = %(format)s, index_id = %(index_id)s, generation = %(generation)s,
  changes_floor = %(floor)s, meta = %(meta)s, sections = %(sections)s, words = %(words)s,
  piece_sections = %(piece_sections)s, piece_words = %(piece_words)s, name_words = %(name_words)s,
  heading_words = %(heading_words)s, heading_pieces = %(heading_pieces)s,
  seen_at = now(), note = %(note)s WHERE wiki_id = %(wiki_id)s"""
TOUCH_WIKI = "UPDATE {tables}.wiki SET seen_at = now() WHERE wiki_id = %s"
SELECT_FED_STAMPS = "SELECT page_id, updated_at, mtime_ns FROM {tables}.page WHERE wiki_id = %s"
SELECT_FED_ROWS = "SELECT {columns} FROM {tables}.{table} WHERE wiki_id = %s"
SELECT_FED_PAGES = "SELECT {columns} FROM {tables}.{table} WHERE wiki_id = %s AND page_id = ANY(%s)"
DELETE_WIKI_ROWS = "DELETE FROM {tables}.{table} WHERE wiki_id = %s"
DELETE_ROWS = "DELETE FROM {tables}.{table} WHERE wiki_id = %s AND {key} = ANY(%s)"
UPDATE_STAMP = """
UPDATE {tables}.page SET updated_at = %s, mtime_ns = %s WHERE wiki_id = %s AND page_id = %s"""
DELETE_CHANGES = "DELETE FROM {tables}.change WHERE wiki_id = %s AND generation <= %s"
# Postings of a whole wiki are sorted before they go in: the index is packed, and built without moving about.
MAKE_LOADED = "CREATE TEMPORARY TABLE loaded ON COMMIT DROP AS TABLE {tables}.posting WITH NO DATA"
MOVE_LOADED = "INSERT INTO {tables}.posting SELECT * FROM pg_temp.loaded ORDER BY term_id, section_rowid"
COPY_ROWS = "COPY {tables}.{table}({columns}) FROM STDIN"

# By whole keys of the index on postings, which begins with the term.
DELETE_POSTINGS = """
DELETE FROM {tables}.posting t USING unnest(%s::int[], %s::int[]) AS gone(term_id, section_rowid)
WHERE t.wiki_id = %s AND t.term_id = gone.term_id AND t.section_rowid = gone.section_rowid"""
# is_piece stands in the key between the two others: without it, each term reads all of the key.
SELECT_TERM_IDS = """
SELECT is_piece, term, term_id FROM {tables}.term
WHERE wiki_id = %s AND is_piece = ANY(ARRAY[false, true]) AND term = ANY(%s)"""
SELECT_NEW_IDS = """
SELECT nextval(pg_get_serial_sequence(%s, 'term_id')) FROM generate_series(1, %s)"""
UPDATE_COUNTS = """
UPDATE {tables}.term t SET df = df + c.more FROM unnest(%s::int[], %s::int[]) AS c(term_id, more)
WHERE t.wiki_id = %s AND t.term_id = c.term_id RETURNING t.term_id, t.df"""
DELETE_TERMS = """
DELETE FROM {tables}.term WHERE wiki_id = %s AND term_id = ANY(%s) RETURNING is_piece, term"""
NOTIFY = "SELECT pg_notify('wikiq', %s)"
VACUUM = "VACUUM (ANALYZE) {tables}.{table}"
