"""Ranks chunks for judged questions, in memory: with their path in the indexed text, and without it.

What a consumer of the chunks gets from words alone: bm25 over one column, any of the words. The
index is only read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from indexerd.contract.file import TOKENIZER
from indexerd.contract.terms import grams
from wikiq.errors import UsageError
from wikiq.eval.judged import JudgedQuestion
from wikiq.eval.rankers import Ranked
from wikiq.index.database import Snapshot
from wikiq.query.match import Use, match_expressions
from wikiq.query.parse import analyze_question

_COPY_CHUNKS = """
SELECT s.section_rowid, c.embed_text, c.content
FROM v1_chunks c JOIN v1_sections s ON s.page_id = c.page_id AND s.ordinal = CAST(c.section_id AS INTEGER)
ORDER BY c.page_id, c.section_id, c.part"""
_SELECT_PATHS_OF_SECTIONS = """
SELECT o.section_rowid, p.path FROM v1_section_pages o JOIN v1_pages p ON p.page_id = o.page_id"""
if TYPE_CHECKING:
    from wikiq.eval.rankers import Ranker

WITH_PATH, WITHOUT_PATH = "with-path", "text-only"
CHUNK_RANKINGS = (WITH_PATH, WITHOUT_PATH)
CHUNKS_RANKED = 200  # no measure looks deeper than 12, and some pages are left out afterwards

_TABLES = {WITH_PATH: "with_path", WITHOUT_PATH: "without_path"}


class ChunkBench:
    """The chunks of an index, searchable. Good for one evaluation; nothing of it outlives `close`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._sections: list[int] = []  # the section of each chunk, by its row id
        self._pages: Mapping[int, str] = dict(snapshot.rows(_SELECT_PATHS_OF_SECTIONS))
        run = self._connection.execute
        for table in _TABLES.values():
            run(f'CREATE VIRTUAL TABLE {table} USING fts5(words, pieces, tokenize="{TOKENIZER}")')
        run("BEGIN")
        for rowid, (section_rowid, embed_text, content) in enumerate(snapshot.rows(_COPY_CHUNKS)):
            self._sections.append(section_rowid)
            for table, text in (("with_path", embed_text), ("without_path", content)):
                run(f"INSERT INTO {table}(rowid, words, pieces) VALUES (?, ?, ?)", (rowid, text, grams(text)))
        run("COMMIT")

    def close(self) -> None:
        """Drop the copy."""
        self._connection.close()

    def ranker(self, name: str) -> Ranker:
        """One of CHUNK_RANKINGS. A section stands once for each of its chunks, so each takes a rank."""
        select = f"SELECT rowid FROM {_TABLES[name]} WHERE {_TABLES[name]} MATCH ? ORDER BY rank, rowid"

        def rank(_: Snapshot, asked: JudgedQuestion, blanked: Sequence[int]) -> Ranked:
            if blanked:
                raise UsageError(asked.number, "is the heading of its section", "leave it out")
            scope, match = asked.scope_page, _match(asked.text)
            rowids = self._connection.execute(select, (match,)) if match else ()
            sections = [self._sections[rowid] for (rowid,) in rowids]
            if scope is not None:
                sections = [section for section in sections if self._pages[section] == scope]
            sections = sections[:CHUNKS_RANKED]
            return Ranked(
                sections=tuple(sections),
                pages=tuple(dict.fromkeys(self._pages[section] for section in sections)),
            )

        return rank


def _match(text: str) -> str:
    question = analyze_question(text)
    found = match_expressions(question, {term.text: Use(text=term.text) for term in question.terms})
    columns = (("words", found.words), ("pieces", found.pieces))
    return " OR ".join(f"{column} : ({expression})" for column, expression in columns if expression)
