"""The rankings that the default one is held against: `frozen`, the reference policy, and strict AND.

Both search tables that no index has, made in memory: the reference policy's rows have a slug column
and all headings in one, and its tokenizer is the one SQLite takes when nothing is said (spec 4.1).
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from wikiq.eval.judged import JudgedQuestion
from wikiq.eval.rankers import Ranked
from wikiq.index.database import Snapshot
from wikiq.query.match import quoted

REFERENCE, STRICT = "frozen", "strict"

_TABLES: Final = (
    "CREATE TABLE pages(page_id INTEGER PRIMARY KEY, slug, path, updated_at)",
    """CREATE TABLE sections(section_rowid INTEGER PRIMARY KEY, page_id, ordinal, heading_path,
         heading_source)""",
    "CREATE VIRTUAL TABLE reference_sections USING fts5(slug, title, path, body)",
    "CREATE VIRTUAL TABLE reference_pages USING fts5(slug, title, body)",
)
_COPY_PAGES: Final = "SELECT page_id, slug, path, updated_at FROM v1_pages"
_COPY_SECTIONS: Final = """
SELECT v.section_rowid, v.page_id, v.slug, p.title, v.ordinal, v.heading_path, v.heading_source, v.body
FROM v1_sections v JOIN v1_pages p ON p.page_id = v.page_id"""
_COPY_PAGE_TEXTS: Final = """
SELECT p.page_id, p.slug, p.title,
  (SELECT group_concat(text, '') FROM (
     SELECT v.heading_source || v.body AS text FROM v1_sections v
     WHERE v.page_id = p.page_id ORDER BY v.ordinal))
FROM v1_pages p"""
# A slug column of weight 0 still lengthens every row, and so ranks (spec 4.1).
_SELECT_SECTIONS: Final = """
SELECT r.rowid, p.path, p.slug, p.updated_at, bm25(reference_sections, 0, 5, 3, 1) AS score
FROM reference_sections r JOIN sections v ON v.section_rowid = r.rowid
JOIN pages p ON p.page_id = v.page_id
WHERE reference_sections MATCH ?1 AND (?2 IS NULL OR p.path = ?2)
ORDER BY score, p.slug, v.ordinal"""
_SELECT_PAGES: Final = """
SELECT p.path FROM reference_pages r JOIN pages p ON p.page_id = r.rowid
WHERE reference_pages MATCH ?1 AND (?2 IS NULL OR p.path = ?2) ORDER BY bm25(reference_pages), p.slug"""
_WORD: Final = re.compile(r"\w+")


class ReferenceTables:
    """The tables, good for one evaluation; nothing of them outlives `close`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        run, many = self._connection.execute, self._connection.executemany
        for statement in _TABLES:
            run(statement)
        run("BEGIN")
        many("INSERT INTO pages VALUES (?, ?, ?, ?)", snapshot.rows(_COPY_PAGES))
        for row in snapshot.connection.execute(_COPY_SECTIONS):
            rowid, page_id, slug, title, ordinal, path, source, body = row
            run("INSERT INTO sections VALUES (?, ?, ?, ?, ?)", (rowid, page_id, ordinal, path, source))
            run(
                "INSERT INTO reference_sections(rowid, slug, title, path, body) VALUES (?, ?, ?, ?, ?)",
                (rowid, slug, title, " ".join(json.loads(path)), body),
            )
        many(
            "INSERT INTO reference_pages(rowid, slug, title, body) VALUES (?, ?, ?, ?)",
            snapshot.rows(_COPY_PAGE_TEXTS),
        )
        run("COMMIT")

    def close(self) -> None:
        """Drop the tables."""
        self._connection.close()

    def rank_by_reference(self, _: Snapshot, asked: JudgedQuestion, blanked: Sequence[int]) -> Ranked:
        """Rank as the reference policy does: the OR of every word as a prefix, over sections."""
        words = [quoted(word, is_prefix=True) for word in _words(asked)]
        if not words:
            return Ranked(sections=(), pages=())
        with self._without_headings(blanked):
            values = (" OR ".join(words), asked.scope_page)
            rows = self._connection.execute(_SELECT_SECTIONS, values).fetchall()
        best: dict[str, tuple[float, str, str]] = {}
        for _, path, slug, updated_at, score in rows:
            best.setdefault(path, (score, updated_at, slug))
        pages = sorted(best, key=lambda path: best[path][2])
        pages.sort(key=lambda path: best[path][1], reverse=True)
        pages.sort(key=lambda path: best[path][0])
        return Ranked(sections=tuple(row[0] for row in rows), pages=tuple(pages))

    def rank_strictly(self, _: Snapshot, asked: JudgedQuestion, blanked: Sequence[int]) -> Ranked:
        """Rank pages that hold every word, by their whole text."""
        words = [quoted(word) for word in _words(asked)]
        if not words:
            return Ranked(sections=(), pages=())
        with self._without_headings(blanked):
            values = (" AND ".join(words), asked.scope_page)
            rows = self._connection.execute(_SELECT_PAGES, values).fetchall()
        return Ranked(sections=(), pages=tuple(path for (path,) in rows))

    @contextmanager
    def _without_headings(self, section_rowids: Sequence[int]) -> Iterator[None]:
        run = self._connection.execute
        run("BEGIN")
        try:
            for rowid in section_rowids:
                page_id, path, source = run(
                    "SELECT page_id, heading_path, heading_source FROM sections WHERE section_rowid = ?",
                    (rowid,),
                ).fetchone()
                above = " ".join(json.loads(path)[:-1])
                run("UPDATE reference_sections SET path = ? WHERE rowid = ?", (above, rowid))
                run(
                    "UPDATE reference_pages SET body = replace(body, ?, char(10)) WHERE rowid = ?",
                    (source, page_id),
                )
            yield
        finally:
            run("ROLLBACK")


def _words(asked: JudgedQuestion) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(asked.text.lower())))
