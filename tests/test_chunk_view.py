"""`v1_chunks` as any SQLite reads it: every column, against the same thing said in Python.

Pages go through the projection and the store; what the view says of them is read with the standard
library's SQLite and composed anew here from the page's text, without the store's columns.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indexerd.contract.file import COLUMNS, READER_PRAGMAS
from indexerd.core.chunks.chunks import SPAN_LIMIT_BYTES
from indexerd.core.model import Chunk, Page, ProjectionOptions, Section, Stamp
from indexerd.core.project import project_page
from indexerd.core.sync.model import Plan, Upsert
from indexerd.store import Store
from tests.shared_data import shared_folder

TABLE = "| a | b |\n|---|---|\n" + "\n".join(f"| row {number} | some words |" for number in range(200))
LINES = "".join(f"Line {number} says a little.\n\n" for number in range(200))

PAGES = {
    "plain.md": "# Plain\n\nIntro.\n\n## One\n\ntext\n\n## Two\n\n### Deep\n\nmore\n",
    "quotes.md": '---\ntitle: Said "so"\n---\n# A "b" c\n\nx\n\n## "\n\ny\n\n## ","\n\nz\n\n### a","b\n\nw\n',
    "own.md": '---\ntitle: Said "so"\n---\n# Said "so"\n\nx\n\n## back\\\\slash\n\ny\n\n### ","\n\nz\n',
    "backslash.md": "# back\\\\slash\n\nx\n\n## C:\\\\dir\\\\\n\n" + LINES,
    "empty.md": "---\ntitle: Empty\n---\n#\n\nx\n\n## A\n\ny\n\n##\n\nz\n\n#\n\nw\n\n### B\n\nv\n",
    "arrows.md": "# a > b\n\nx\n\n## c > d — e\n\ny\n\n## [x], 'y'\n\nz\n",
    "windows.md": "# W\r\n\r\nIntro.\r\n\r\n## T\r\n\r\nLead:\r\n\r\n" + TABLE.replace("\n", "\r\n"),
    "mac.md": "# W\r\rIntro.\r\r## T\r\rLead:\r\r" + TABLE.replace("\n", "\r") + "\r\rTable: rates\r\rx\r",
    "headless.md": "---\ntitle: Headless\n---\n\n" + LINES,
    "short.md": "just text\n\nmore text\n",
    "intro.md": LINES + "# Later\n\nx\n",
    "huge.md": "# H\n\n" + LINES * (SPAN_LIMIT_BYTES // len(LINES) + 1) + TABLE + "\n\n## 日本語\n\n文章。\n",
    "wide.md": "# 表 \U0001f600\n\n" + "日本語の文章です。" * 300 + "\n\n" + TABLE + "\n",
    "setext.md": "Over\ntwo lines\n===\n\ntext\n\nTable: T\n\n" + TABLE + "\n",
    "cover.md": "---\ntitle: Contract\n---\n# Customer\n\nx\n\n## Terms\n\ny\n",
}


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    options = ProjectionOptions(identity_names=("customer",))
    return {path: project_page(text.encode(), path, options) for path, text in PAGES.items()}


@pytest.fixture(scope="module")
def connection(
    pages: dict[str, Page], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sqlite3.Connection]:
    db = tmp_path_factory.mktemp("index") / "index.db"
    _write(db, pages)
    with closing(_open(db)) as reader:
        yield reader


def _write(db: Path, pages: dict[str, Page]) -> None:
    upserts = tuple(
        Upsert(page, path.removesuffix(".md"), Stamp(1, number, page.size, 1, 1), racy=False)
        for number, (path, page) in enumerate(pages.items())
    )
    with Store.open(db, root="/wiki", name="wiki") as store:
        store.apply(Plan(projection="1", upserts=upserts), committed_at="2026-01-01T00:00:00.000Z")


def _open(db: Path) -> sqlite3.Connection:
    reader = sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)
    for pragma in READER_PRAGMAS:
        reader.execute(pragma)
    reader.row_factory = sqlite3.Row
    return reader


def _rows(connection: sqlite3.Connection, path: str) -> list[dict[str, Any]]:
    statement = "SELECT c.* FROM v1_chunks c JOIN v1_pages p USING (page_id) WHERE p.path = ? ORDER BY 4, 5"
    return [dict(row) for row in connection.execute(statement, (path,))]


def _content(section: Section, chunk: Chunk) -> str:
    if chunk.text is not None:
        return chunk.text
    spans = (
        (chunk.lead_start, chunk.lead_length),
        (chunk.header_start, chunk.header_length),
        (chunk.start, chunk.length),
        (chunk.tail_start, chunk.tail_length),
    )
    return "".join(section.body[start : start + length] for start, length in spans)


def _expected(page: Page, ordinal: int, section: Section, chunk: Chunk) -> dict[str, Any]:
    section_path = list(section.heading_path[1:] if section.guarded else section.heading_path)
    first = section.start_line + chunk.line - 1
    last = first + chunk.lines - 1
    label = f"part {chunk.part} of {chunk.parts}" if chunk.parts > 1 else ""
    if section.level == 0 and len(page.sections) == 1:
        label = f"lines {first}–{last}"
    heading_path = [*section_path, label] if label else section_path
    content = _content(section, chunk)
    embed_text = " > ".join([page.title, *section_path]) + "\n\n" + content
    shown = " > ".join(heading_path)
    return {
        "section_id": f"{ordinal:04d}",
        "part": chunk.part,
        "parts": chunk.parts,
        "kind": str(chunk.kind),
        "section_path": section_path,
        "heading_path": heading_path,
        "content": content,
        "embed_text": embed_text,
        "source_text": f"{page.title} — {shown}\n{content}" if shown else f"{page.title}\n{content}",
        "breadcrumb": heading_path,
        "href": f"{page.path}#{section.anchor}" if section.anchor else page.path,
        "chunk_key": hashlib.sha256(embed_text.encode()).hexdigest()[:32],
        "start_line": first,
        "end_line": last,
        "tokens": chunk.tokens,
        "slug": page.path.removesuffix(".md"),
    }


@pytest.mark.parametrize("path", PAGES)
def test_every_column_of_the_view_is_what_python_makes_of_the_page(
    connection: sqlite3.Connection, pages: dict[str, Page], path: str
) -> None:
    page = pages[path]
    expected = [
        _expected(page, ordinal, section, chunk)
        for ordinal, section in enumerate(page.sections)
        for chunk in section.chunks
    ]
    found = _rows(connection, path)
    assert len(found) == len(expected) > 0
    for row, said in zip(found, expected, strict=True):
        assert tuple(row) == COLUMNS["v1_chunks"]
        for column in ("section_path", "heading_path", "breadcrumb"):
            row[column] = json.loads(row[column])
        assert {column: row[column] for column in said} == said


@pytest.mark.parametrize("path", PAGES)
def test_a_chunk_begins_and_ends_on_its_lines_of_the_file(connection: sqlite3.Connection, path: str) -> None:
    lines = _lines(PAGES[path])
    for row in _rows(connection, path):
        content = _lines(row["content"])
        assert content[-1] in lines[row["end_line"] - 1]
        # A table may begin with its header again, or with the caption from below it.
        assert row["kind"] == "table" or content[0] in lines[row["start_line"] - 1]


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def test_every_shared_case_of_chunks_holds_in_the_view(tmp_path: Path) -> None:
    cases = json.loads((shared_folder("conformance") / "chunks.json").read_text(encoding="utf-8"))["cases"]
    assert len(cases) >= 13
    for number, case in enumerate(cases):
        names = tomllib.loads(case.get("config", "")).get("identity", {}).get("names", [])
        options = ProjectionOptions(identity_names=tuple(names))
        texts = {case["path"]: case["text"], **case.get("others", {})}
        db = tmp_path / str(number) / "index.db"
        _write(db, {path: project_page(text.encode(), path, options) for path, text in texts.items()})
        with closing(_open(db)) as reader:
            _assert_case(case, _rows(reader, case["path"]), reader)


def _assert_case(case: dict[str, Any], rows: list[dict[str, Any]], reader: sqlite3.Connection) -> None:
    name = case["name"]
    if "expect" in case:
        assert len(rows) == len(case["expect"]), name
    for row, expected in zip(rows, case.get("expect", ()), strict=False):
        path = json.loads(row["heading_path"])
        assert path == expected.get("path", path), name
        assert row["kind"] == expected.get("kind", row["kind"]), name
        assert row["embed_text"] == expected.get("embed_text", row["embed_text"]), name
        assert row["content"].startswith(expected.get("starts", "")), name
        assert expected.get("contains", "") in row["content"], name
    if parts := case.get("expect_parts"):
        labels = [parts["last"].format(i=index + 1, n=len(rows)) for index in range(len(rows))]
        shown = [json.loads(row["heading_path"]) for row in rows]
        assert len(rows) >= parts["min_parts"], name
        assert shown == [[*parts["path_prefix"], label] for label in labels], name
        assert all(parts.get("each_contains", "") in row["content"] for row in rows), name
    statement = "SELECT kind FROM v1_diagnostics WHERE path = ?"
    kinds = {row[0] for row in reader.execute(statement, (case["path"],))}
    assert {case["diagnostic"]} <= kinds if "diagnostic" in case else "suspicious_heading" not in kinds, name


def test_text_is_stored_twice_only_for_huge_sections(connection: sqlite3.Connection) -> None:
    stored = "SELECT DISTINCT p.path, c.text IS NULL FROM chunk c JOIN section USING (section_rowid)"
    rows = connection.execute(f"{stored} JOIN page p USING (page_id) ORDER BY 1, 2").fetchall()
    kept = {row[0] for row in rows if not row[1]}
    assert kept == {"huge.md"}
    assert {row[0] for row in rows if row[1]} == set(PAGES)
