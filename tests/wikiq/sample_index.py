"""A small index for the reader's tests, written straight into the schema without the writer.

Real builds are tested elsewhere; this one lets a test say exactly what is in the file. Sections are
cut at lines that start with `#`, which is enough for pages that a test writes itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexerd.contract.file import (
    APPLICATION_ID,
    CONTRACT_MAJOR,
    CONTRACT_MINOR,
    PAGE_SIZE,
    PROJECTION_VERSION,
    SCHEMA_VERSION,
)
from indexerd.contract.terms import fold_path, fold_title, grams
from indexerd.store.file.schema import SCHEMA

_HEADING = re.compile(r"(#{1,6}) (.*)")


@dataclass(frozen=True, slots=True)
class SamplePage:
    """One page as a test says it; `links` are (target path, label) from its first section."""

    path: str
    text: str
    title: str | None = None
    summary: str | None = None
    updated_at: str = "2026-01-01T00:00:00.000Z"
    topics: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    mentions: tuple[tuple[str, bool], ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SampleIndex:
    """What `write_sample` leaves on the disk: a root with the pages and the index of it."""

    root: Path
    db: Path
    rowids: Mapping[str, list[int]] = field(default_factory=dict)

    def alter(self, statement: str, *values: Any) -> None:
        """Change the file behind the reader's back, as the writer or a fault would."""
        connection = sqlite3.connect(self.db)
        connection.execute("PRAGMA synchronous = OFF")
        with connection:
            connection.execute(statement, values)
        connection.close()


def write_sample(
    folder: Path,
    pages: Iterable[SamplePage],
    *,
    name: str = "sample",
    topics: Mapping[str, tuple[str, ...]] | None = None,
) -> SampleIndex:
    """Write the pages below `folder`/root and an index of them; `topics` are topic -> parents."""
    root = folder / name
    place = folder / "state" / "indexerd" / f"{name}-1"
    place.mkdir(parents=True)
    db = place / "index.db"
    connection = sqlite3.connect(db)
    connection.execute("PRAGMA synchronous = OFF")  # the disk of a busy machine takes seconds
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    with connection:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", _meta(root, name).items())
        connection.execute("INSERT INTO commits VALUES (1, '2026-01-02T00:00:00.000Z')")
        ordered = sorted(pages, key=lambda page: page.path)
        rowids = {page.path: _insert_page(connection, root, page) for page in ordered}
        _insert_links(connection, ordered, rowids)
        _insert_topics(connection, topics or {})
    connection.close()
    (place / "index.lock").touch()  # as every writer leaves it
    return SampleIndex(root=root, db=db, rowids=rowids)


def _meta(root: Path, name: str) -> dict[str, Any]:
    return {
        "contract": f"{CONTRACT_MAJOR}.{CONTRACT_MINOR}",
        "index_id": f"id-of-{name}",
        "generation": 1,
        "committed_at": "2026-01-02T00:00:00.000Z",
        "projection_version": PROJECTION_VERSION,
        "terms_version": 1,
        "root": os.path.realpath(root),
        "name": name,
        "created_at": "2026-01-02T00:00:00.000Z",
        "building": 0,
        "writer": "sample 0",
        "host": "sample-host",
        "changes_floor": 0,
    }


def _insert_page(connection: sqlite3.Connection, root: Path, page: SamplePage) -> list[int]:
    file = root / page.path
    file.parent.mkdir(parents=True, exist_ok=True)
    data = page.text.encode()
    file.write_bytes(data)
    stat = file.stat()
    slug = re.sub(r"(/(README|index))?\.(md|markdown)$", "", page.path)
    stem = slug.rpartition("/")[2]
    lead, sections = _cut(page.text)
    title = page.title or next((s[1] for s in sections if s[0] == 1), stem)
    columns = {
        "slug": slug,
        "path": page.path,
        "base_slug": slug,
        "title": title,
        "title_origin": "front_matter" if page.title else "heading",
        "title_key": fold_title(title),
        "summary": page.summary,
        "names": "\n".join((slug, *page.aliases)),
        "updated_at": page.updated_at,
        "device": stat.st_dev,
        "inode": stat.st_ino,
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "ctime_ns": stat.st_ctime_ns,
        "racy": 0,
        "content_hash": hashlib.sha256(data).hexdigest(),
        "projection": "sample",
        "sections": len(sections),
        "generation": 1,
        "front_matter": "{}",
        "lead": lead,
    }
    page_id = _insert(connection, "page", columns)
    _insert(connection, "names_fts", {"rowid": page_id, "names": columns["names"], "title": title})
    change = {"generation": 1, "slug": slug, "op": "upsert", "path": page.path}
    _insert(connection, "change", change | {"content_hash": columns["content_hash"]})
    _insert_names(connection, page_id, page, slug, title)
    for topic in page.topics:
        _insert(connection, "page_topic", {"topic": topic, "page_id": page_id, "origin": "topics"})
        connection.execute("INSERT OR IGNORE INTO topic(slug, declared) VALUES (?, 0)", (topic,))
    for nth, (path, is_dir) in enumerate(page.mentions):
        paths = {"path": path, "original_path": path, "is_dir": is_dir, "origin": "source"}
        _insert(connection, "mention", {"page_id": page_id, "nth": nth} | paths)
    return _insert_sections(connection, page_id, title, lead, sections)


def _insert_names(
    connection: sqlite3.Connection, page_id: int, page: SamplePage, slug: str, title: str
) -> None:
    file_name = page.path.rpartition("/")[2]
    stem = file_name.rpartition(".")[0]
    spelled = [
        (0, page.path),
        (1, slug),
        *((3, alias) for alias in page.aliases),
        (4, file_name),
        (4, stem),
        (5, title),
    ]
    best: dict[str, int] = {}
    for rank, name in spelled:
        best.setdefault(fold_path(name), rank)
    for nth, (key, rank) in enumerate(best.items()):
        spelled_out = key if rank == 3 else None
        _insert(
            connection,
            "name",
            {"key": key, "rank": rank, "page_id": page_id, "nth": nth, "name": spelled_out},
        )


def _insert_sections(
    connection: sqlite3.Connection,
    page_id: int,
    title: str,
    lead: str,
    sections: list[tuple[int, str, str, str]],
) -> list[int]:
    above: list[tuple[int, str]] = []
    line = lead.count("\n") + 1
    rowids = []
    for ordinal, (level, heading, source, body) in enumerate(sections):
        above = [(depth, name) for depth, name in above if 0 < depth < level]
        ancestors = " ".join(name for _, name in above if name != title)
        above.append((level, heading or title))
        columns = {
            "page_id": page_id,
            "level": level,
            "heading": heading or title,
            "heading_path": json.dumps(
                [name for _, name in above], ensure_ascii=False, separators=(",", ":")
            ),
            "cut": 0,
            "guarded": 0,
            "ancestors": ancestors,
            "anchor": re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")),
            "heading_source": source,
            "body": body,
        }
        rowid = _insert(connection, "section", columns)
        texts = {"title": title, "ancestors": ancestors, "heading": heading or title, "body": body}
        _insert(connection, "sections_fts", {"rowid": rowid} | texts)
        folded = {column: grams(text) for column, text in texts.items()}
        if any(folded.values()):
            _insert(connection, "sections_grams", {"rowid": rowid} | folded)
        end = line + max((source + body).rstrip("\n").count("\n"), 0)
        place = {"ordinal": ordinal, "section_rowid": rowid, "start_line": line, "end_line": end}
        _insert(connection, "place", {"page_id": page_id} | place)
        line += (source + body).count("\n")
        rowids.append(rowid)
    return rowids


def _insert_links(
    connection: sqlite3.Connection, pages: Iterable[SamplePage], rowids: Mapping[str, list[int]]
) -> None:
    for page in pages:
        for nth, (target, label) in enumerate(page.links):
            found = connection.execute("SELECT page_id FROM page WHERE path = ?", (target,)).fetchone()
            connection.execute(
                """INSERT INTO target(way, folder, path, written, whole_name, label, page_id, how, ambiguous,
                  whole)
                VALUES (0, '', ?, ?, '', '', ?, ?, 0, 0)""",
                (target, target, found and found[0], found and "relative"),
            )
            target_id = connection.execute(
                "SELECT target_id FROM target WHERE path = ?", (target,)
            ).fetchone()[0]
            written = {"line": 1, "kind": "inline", "target": target, "label": label, "external": 0}
            place = {"section_rowid": rowids[page.path][0], "nth": nth, "target_id": target_id}
            _insert(connection, "link", place | written)


def _insert_topics(connection: sqlite3.Connection, declared: Mapping[str, tuple[str, ...]]) -> None:
    for topic, parents in declared.items():
        connection.execute(
            "INSERT INTO topic VALUES (?, ?, NULL, 1) ON CONFLICT(slug) DO UPDATE SET declared = 1",
            (topic, topic.title()),
        )
        connection.executemany("INSERT INTO topic_parent VALUES (?, ?)", [(topic, up) for up in parents])
    connection.execute(
        """INSERT INTO topic_tree WITH RECURSIVE tree(under, topic) AS (
             SELECT slug, slug FROM topic
             UNION SELECT p.parent, t.topic FROM tree t JOIN topic_parent p ON p.child = t.under)
           SELECT under, topic FROM tree"""
    )


def _cut(text: str) -> tuple[str, list[tuple[int, str, str, str]]]:
    """The lead and the sections of a text: level, heading, heading line, body."""
    sections: list[tuple[int, str, str, str]] = []
    before = ""
    for line in text.splitlines(keepends=True):
        found = _HEADING.match(line)
        if found:
            sections.append((len(found[1]), found[2].strip(), line, ""))
        elif sections:
            level, heading, source, body = sections[-1]
            sections[-1] = (level, heading, source, body + line)
        else:
            before += line
    if before.strip() or not sections:
        return "", [(0, "", "", before), *sections]
    return before, sections


def _insert(connection: sqlite3.Connection, table: str, columns: Mapping[str, Any]) -> int:
    marks = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})"
    rowid = connection.execute(statement, tuple(columns.values())).lastrowid
    assert rowid is not None
    return rowid
