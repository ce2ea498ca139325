"""Statements that PostgreSQL is asked in words of its own, beside those of `wikiq.index.sql` they stand for.

`{tables}` is the schema and `{wiki}` the number of the wiki; values are bound. Nothing here runs one.
"""

from __future__ import annotations

from wikiq.index import sql

SELECT_WIKI = """
SELECT wiki_id, name, format, index_id, generation, meta, sections, words, piece_sections, piece_words,
  name_words, heading_words, heading_pieces, extract(epoch FROM now() - seen_at)::float8
FROM {tables}.wiki WHERE wiki_id = %s"""
SELECT_WIKIS = "SELECT wiki_id, name, format FROM {tables}.wiki ORDER BY name"
SELECT_GENERATION = "SELECT generation FROM {tables}.wiki WHERE wiki_id = %s"
BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {milliseconds}"
SET_TIMEOUT = "SET LOCAL statement_timeout = {milliseconds}"
ROLLBACK = "ROLLBACK"

# A page that is shown, with its topics as JSON.
_SHOWN_PAGE = """
SELECT j.key, p.title, p.path, p.summary,
  (SELECT coalesce(json_agg(topic ORDER BY topic), '[]')::text FROM (
     SELECT DISTINCT topic FROM v1_page_topics t WHERE t.page_id = p.page_id) AS topics),
  p.size, p.mtime_ns, p.content_hash"""
_PLACES = """
SELECT (j.nth - 1)::int AS key, j.value::bigint AS page_id, k.value::bigint AS section_rowid
FROM json_array_elements_text((:pages)::json) WITH ORDINALITY AS j(value, nth)
JOIN json_array_elements_text((:sections)::json) WITH ORDINALITY AS k(value, nth) ON k.nth = j.nth"""
_BEFORE = "greatest(1, strpos(lower(v.body), :rarest) - :before)"

IN_POSTGRES = {
    sql.COUNT_TERMS: """
SELECT term, doc FROM terms WHERE term IN (SELECT json_array_elements_text((?)::json))""",
    sql.SELECT_BEGINNINGS: """
SELECT j.value FROM json_array_elements_text((?)::json) AS j(value) WHERE EXISTS (
  SELECT 1 FROM terms t WHERE t.term > j.value COLLATE "C" AND
    t.term < (j.value || char(1114111)) COLLATE "C")""",
    # OFFSET keeps the planner from reading all terms once for all ranges (46 ms, not 5).
    sql.SELECT_VOCABULARY: """
SELECT j.value, t.term, t.doc FROM json_array_elements_text((?)::json) AS j(value)
CROSS JOIN LATERAL (
  SELECT term, doc FROM terms WHERE term >= j.value COLLATE "C"
    AND term < (j.value || char(1114111)) COLLATE "C" OFFSET 0) AS t
WHERE length(t.term) BETWEEN ? AND ?""",
    sql.SELECT_FIELDS: """
SELECT rowid, title, ancestors, heading, left(body, ?) FROM sections_fts
WHERE rowid IN (SELECT json_array_elements_text((?)::json)::bigint)""",
    sql.SELECT_SECTION_TEXTS: f"""
SELECT j.key, p.path, p.title, v.heading_path, v.body FROM ({_PLACES}) AS j
JOIN v1_pages p ON p.page_id = j.page_id JOIN v1_sections v ON v.section_rowid = j.section_rowid""",
    sql.SELECT_SHOWN: f"""
WITH shown AS MATERIALIZED ({_PLACES})
{_SHOWN_PAGE}, v.section_id, v.heading, v.heading_path, v.anchor, v.start_line, v.end_line,
  v.heading_source, CASE WHEN length(v.body) <= :most THEN '' ELSE substr(v.body, 1, {_BEFORE} - 1) END,
  CASE WHEN length(v.body) <= :most THEN v.body ELSE substr(v.body, {_BEFORE}, :most) END
FROM shown j JOIN v1_pages p ON p.page_id = j.page_id
JOIN v1_sections v ON v.section_rowid = j.section_rowid
UNION ALL {_SHOWN_PAGE}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM shown j JOIN v1_pages p ON p.page_id = j.page_id WHERE j.section_rowid IS NULL""",
    sql.SELECT_PAGE_BEGINNINGS: f"""
SELECT v.page_id, v.ordinal, substr(v.body, 1, :most)
FROM json_array_elements_text((:pages)::json) AS j(value)
JOIN v1_sections v ON v.page_id = j.value::bigint WHERE v.ordinal < {sql.BEGINNING_SECTIONS}""",
}

# Whether a phrase is anywhere, and whether two words stand together as they were typed: `{found}` selects the
# sections that hold the words.
HOLDING = {
    sql.SELECT_HOLDS_PHRASE: "SELECT 1 FROM ({found}) AS found LIMIT 1",
    sql.SELECT_HOLDS_BESIDE: """
SELECT 1 FROM (SELECT section_rowid FROM ({found}) AS found LIMIT 1000) AS f
JOIN v1_sections v ON v.section_rowid = f.section_rowid
WHERE strpos(lower(replace(replace(v.heading || chr(10) || v.body, '  ', ' '), '  ', ' ')),
  lower({beside})) > 0 LIMIT 1""",
}

# The ranked search. What a term is, and in how many sections; a beginning is all terms between two texts.
SELECT_TERM_IDS = """
SELECT term, term_id, df FROM {tables}.term
WHERE wiki_id = {wiki} AND is_piece = %(is_piece)s AND term = ANY(%(terms)s)"""
SELECT_TERM_IDS_FROM = """
SELECT term_id FROM {tables}.term WHERE wiki_id = {wiki} AND is_piece = %(is_piece)s
  AND term >= %(begin)s AND term < %(end)s"""

# Single words: each posting with what it adds. The numbers are those of FTS5's bm25.
SCORED_WORDS = """
SELECT q.part, t.section_rowid, t.page_id,
  q.factor * t.f / (t.f + {k1} * (1 - {b} + {b} * t.length / {average})) AS score
FROM (VALUES {terms}) AS q(part, term_id, factor)
JOIN {tables}.posting t ON t.term_id = q.term_id AND t.wiki_id = {wiki}"""
# A beginning or a phrase: what has it is known only once it was found, and so is how rare it is.
SCORED_FOUND = """
SELECT {part} AS part, section_rowid, page_id,
  {factor} * greatest(ln(({rows} - count(*) OVER () + 0.5) / (count(*) OVER () + 0.5)), 1e-6)
  * f / (f + {k1} * (1 - {b} + {b} * length / {average})) AS score
FROM ({found}) AS found{number}"""
FOUND_BEGINNING = """
SELECT section_rowid, min(page_id) AS page_id, sum(f) AS f, max(length) AS length
FROM {tables}.posting WHERE wiki_id = {wiki} AND term_id = ANY(ARRAY[{terms}]::int[])
GROUP BY section_rowid"""
# OFFSET keeps the planner from counting a phrase wherever its number is used.
FOUND_PHRASE = """
SELECT t.section_rowid, t.page_id, t.length, {frequency} AS f
FROM {tables}.posting t {further}
JOIN {tables}.section s ON s.wiki_id = {wiki} AND s.section_rowid = t.section_rowid
WHERE t.wiki_id = {wiki} AND t.term_id = {first} AND {holds} OFFSET 0"""
FURTHER_WORD = """JOIN {tables}.posting t{number} ON t{number}.wiki_id = {wiki}
  AND t{number}.term_id = {term} AND t{number}.section_rowid = t.section_rowid"""
# The words of a section are kept with a blank before and after each, a column a line; a phrase written so
# is found and counted as it is.
HOLDS_PHRASE = "strpos({words}, {phrase}) > 0"
COLUMN_OF_WORDS = "split_part({words}, chr(10), {place})"
COUNTED_IN_COLUMN = """
({weight} * (octet_length({words}) - octet_length(replace({words}, {phrase}, '')))
 / octet_length({phrase}))"""
NOTHING_FOUND = "SELECT 0 AS part, 0 AS section_rowid, 0 AS page_id, 0.0::float8 AS score WHERE false"
HOLDS_CLAUSE = """EXISTS (SELECT 1 FROM {tables}.section s JOIN v1_pages p ON p.page_id = s.page_id
  WHERE s.wiki_id = {wiki} AND s.section_rowid = m.section_rowid AND {condition})"""
HOLDS_SIGNS = "strpos(lower({text}), lower({sign})) > 0"
SIGNS_IN = {
    None: "p.title || chr(10) || s.heading || chr(10) || s.body",
    "title": "p.title",
    "heading": "s.heading",
}
PART_SUM = "coalesce(sum(score) FILTER (WHERE part = {part}), 0.0)"

# Names of pages, ranked like sections; there are few, so what has a word is counted when it is looked for.
NAMED = """
SELECT page_id, greatest(ln(({rows} - count(*) OVER () + 0.5) / (count(*) OVER () + 0.5)), 1e-6)
  * ({k1} + 1) * f / (f + {k1} * (1 - {b} + {b} * length / {average})) AS score
FROM (SELECT page_id, sum(f) AS f, max(length) AS length FROM {tables}.name_posting
      WHERE wiki_id = {wiki} AND {condition} GROUP BY page_id) AS named{number}"""
NO_NAMES = "SELECT 0 AS page_id, 0.0::float8 AS score WHERE false"

HOLDS_LITERAL = """
((strpos(lower(v.heading), lower({sign})) > 0)::int + (strpos(
  lower(p.title || chr(10) || v.heading || chr(10) || substr(v.body, 1, 1000000)),
  lower({sign})) > 0)::int)"""

# The columns and the meaning of `sql.SELECT_RANKED`.
SELECT_RANKED = """
WITH found AS MATERIALIZED ({parts}),
matched AS MATERIALIZED (
  SELECT section_rowid, min(page_id) AS page_id, sum(score) AS score, {sums} FROM found
  GROUP BY section_rowid),
passed AS MATERIALIZED (
  SELECT section_rowid, score, page_id, {own} FROM matched m
  WHERE {clauses} AND ({everything} OR page_id IN (SELECT p.page_id FROM v1_pages p WHERE {condition}))),
best AS MATERIALIZED (SELECT page_id, max(score) AS score FROM passed GROUP BY page_id),
exact AS MATERIALIZED (
  SELECT page_id, max((kind IN ('path', 'slug', 'stem'))::int) AS is_identity
  FROM v1_names WHERE key IN ({path}, {title}) GROUP BY page_id),
named AS MATERIALIZED (
  SELECT page_id, sum(score) AS score FROM ({names}) AS n
  WHERE page_id NOT IN (SELECT page_id FROM best)
    AND ({everything} OR page_id IN (SELECT p.page_id FROM v1_pages p WHERE {condition}))
  GROUP BY page_id),
picked AS MATERIALIZED (
  SELECT 0 AS kind, section_rowid, page_id, score, {own} FROM passed
  WHERE score >= (SELECT min(score) FROM (SELECT score FROM passed ORDER BY score DESC LIMIT {pool}) AS top)
  UNION
  SELECT 0, section_rowid, page_id, score, {own} FROM passed JOIN best USING (page_id, score)
  WHERE page_id IN (SELECT page_id FROM exact) OR score >= (
    SELECT min(score) FROM (SELECT score FROM best ORDER BY score DESC LIMIT {pages}) AS top)
  UNION ALL
  SELECT 1, (SELECT section_rowid FROM {tables}.section s WHERE s.wiki_id = {wiki}
             AND s.page_id = named.page_id ORDER BY ordinal LIMIT 1), page_id, score, 0, 0, 0, 0, 0
  FROM named WHERE page_id IN (SELECT page_id FROM exact) OR score >= (
    SELECT min(score) FROM (SELECT score FROM named ORDER BY score DESC LIMIT {pages}) AS top))
SELECT k.kind, k.section_rowid, k.page_id, e.is_identity, p.slug, p.updated_at, p.sections,
  v.ordinal, v.heading, k.score, {own_picked}, {literals},
  (SELECT count(*) FROM {counted}) + (SELECT count(*) FROM named)
FROM picked k JOIN v1_pages p ON p.page_id = k.page_id
LEFT JOIN {tables}.section v ON v.wiki_id = {wiki} AND v.section_rowid = k.section_rowid
LEFT JOIN exact e ON e.page_id = k.page_id"""
