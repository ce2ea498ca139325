"""A copy of an index in memory, for what an evaluation must change or arrange in another way.

It holds the public tables that a search reads, under their own names, so that the same statements
run on it; and the rows of the reference policies, which no index has. The index is only read.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager

from indexerd.contract.file import TOKENIZER
from indexerd.contract.terms import grams
from wikiq.index import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wikiq.index.database import Snapshot

_COLUMNS = "title, ancestors, heading, body"
# The reference policy searches with the tokenizer as SQLite has it when nothing is said.
_TABLES = (
    f'CREATE VIRTUAL TABLE sections_fts USING fts5({_COLUMNS}, tokenize="{TOKENIZER}")',
    f'CREATE VIRTUAL TABLE sections_grams USING fts5({_COLUMNS}, tokenize="{TOKENIZER}")',
    f'CREATE VIRTUAL TABLE names_fts USING fts5(names, title, tokenize="{TOKENIZER}")',
    "CREATE VIRTUAL TABLE terms USING fts5vocab('sections_fts', 'row')",
    "CREATE TABLE v1_pages(page_id INTEGER PRIMARY KEY, slug, path, title, updated_at, sections)",
    """CREATE TABLE v1_sections(section_rowid INTEGER PRIMARY KEY, page_id, ordinal, heading, heading_path,
         heading_source, body)""",
    "CREATE INDEX of_page ON v1_sections(page_id, ordinal)",
    "CREATE VIEW v1_section_pages AS SELECT section_rowid, page_id FROM v1_sections",
    "CREATE TABLE v1_names(key, kind, page_id)",
    "CREATE INDEX names_key ON v1_names(key)",
    "CREATE VIRTUAL TABLE reference_sections USING fts5(slug, title, path, body)",
    "CREATE VIRTUAL TABLE reference_pages USING fts5(slug, title, body)",
)


class Workbench:
    """The copy. Good for one evaluation; nothing of it outlives `close`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self.snapshot = snapshot.onto(self._connection)
        for statement in _TABLES:
            self._connection.execute(statement)
        self._connection.execute("BEGIN")
        self._copy(snapshot)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Drop the copy."""
        self._connection.close()

    @contextmanager
    def without_headings(self, section_rowids: list[int]) -> Iterator[None]:
        """Take the own headings of some sections out of what is searched, for a while."""
        run = self._connection.execute
        run("BEGIN")
        try:
            for rowid in section_rowids:
                run("UPDATE sections_fts SET heading = '' WHERE rowid = ?", (rowid,))
                run("UPDATE sections_grams SET heading = '' WHERE rowid = ?", (rowid,))
                run("UPDATE v1_sections SET heading = '' WHERE section_rowid = ?", (rowid,))
                page_id, path, source = run(sql.SELECT_COPIED_HEADING, (rowid,)).fetchone()
                above = " ".join(json.loads(path)[:-1])
                run("UPDATE reference_sections SET path = ? WHERE rowid = ?", (above, rowid))
                run(
                    "UPDATE reference_pages SET body = replace(body, ?, char(10)) WHERE rowid = ?",
                    (source, page_id),
                )
            yield
        finally:
            run("ROLLBACK")

    def _copy(self, snapshot: Snapshot) -> None:
        run = self._connection.execute
        many = self._connection.executemany
        many("INSERT INTO v1_pages VALUES (?, ?, ?, ?, ?, ?)", snapshot.rows(sql.COPY_PAGES))
        many("INSERT INTO v1_names VALUES (?, ?, ?)", snapshot.rows(sql.COPY_NAMES))
        many(
            "INSERT INTO names_fts(rowid, names, title) VALUES (?, ?, ?)", snapshot.rows(sql.COPY_NAME_WORDS)
        )
        for row in snapshot.connection.execute(sql.COPY_SECTIONS):
            rowid, page_id, slug, title, ancestors, ordinal, heading, path, source, body = row
            columns = (title, ancestors, heading, body)
            run(
                "INSERT INTO v1_sections VALUES (?, ?, ?, ?, ?, ?, ?)",
                (rowid, page_id, ordinal, heading, path, source, body),
            )
            run(f"INSERT INTO sections_fts(rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (rowid, *columns))
            pieces = [grams(column) for column in columns]
            if any(pieces):
                run(f"INSERT INTO sections_grams(rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (rowid, *pieces))
            run(
                "INSERT INTO reference_sections(rowid, slug, title, path, body) VALUES (?, ?, ?, ?, ?)",
                (rowid, slug, title, " ".join(json.loads(path)), body),
            )
        many(
            "INSERT INTO reference_pages(rowid, slug, title, body) VALUES (?, ?, ?, ?)",
            snapshot.rows(sql.COPY_PAGE_TEXTS),
        )
