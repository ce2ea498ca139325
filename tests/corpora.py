"""Whole wikis held against their index by other means than ours: find, sha256, stock SQLite.

`python -m tests.corpora FOLDER…` copies each folder, builds, checks, edits, rebuilds, and prints what
it counted; tests/test_corpora.py does the same with a part of two real wikis.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import select
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from indexerd.command.logs import configure_logs
from indexerd.core import project as project_module
from indexerd.pipeline.verify import check_integrity, find_differences
from indexerd.store import Snapshot
from indexerd.store.read.public_rows import PUBLIC_ROWS
from tests.building import REPOSITORY, Bench, count_pages

TOKEN_CATEGORIES = {"Co", "Mn", "Mc"}  # beside L* and N*, as the contract's tokenizer has it

TWICE_THE_TARGET = 800  # tokens, as docs/decisions has them
SELECT_CHUNKS = """SELECT section_id, start_line, end_line, part, tokens, section_path, content
FROM v1_chunks WHERE page_id = ? ORDER BY section_id, part"""
SELECT_SECTIONS = """SELECT section_id, start_line, end_line, heading_source, heading_path, section_path
FROM v1_sections WHERE page_id = ? ORDER BY ordinal"""


def find_pages(root: Path) -> set[str]:
    """Every regular, not hidden file with a page extension. The wikis hold no ignore files."""
    found = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        for name in names:
            path = Path(folder, name)
            named_so = name.lower().endswith((".md", ".markdown")) and not name.startswith(".")
            if named_so and path.is_file() and not path.is_symlink():
                found.add(path.relative_to(root).as_posix())
    return found


def decode(data: bytes) -> str:
    """What a page's bytes mean (spec 1.2), said again in a few lines."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").replace("\0", "\ufffd")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").replace("\0", "\ufffd")


def split_lines(text: str) -> list[str]:
    """The lines of a text, which end nowhere but at these three (spec 1.2)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def words(text: str) -> Iterator[str]:
    """The tokens of unicode61 under the contract's categories, unfolded."""
    word = ""
    for mark in text:
        category = unicodedata.category(mark)
        if category[0] in "LN" or category in TOKEN_CATEGORIES:
            word += mark
        elif word:
            yield word
            word = ""
    if word:
        yield word


def check_against_the_disk(bench: Bench) -> dict[str, int]:
    """Files, hashes and texts of the index are those of the tree; gives what was counted."""
    found = find_pages(bench.root)
    indexed = dict(bench.fetch("SELECT path, content_hash FROM v1_pages"))
    diagnosed = {path for (path,) in bench.fetch("SELECT path FROM v1_diagnostics")}
    assert found - indexed.keys() <= diagnosed
    assert indexed.keys() <= found
    texts = {
        path: lead + (sections or "")
        for path, lead, sections in bench.fetch(
            """SELECT p.path, p.lead, (SELECT group_concat(text, '') FROM (
                 SELECT s.heading_source || s.body AS text FROM v1_sections s
                 WHERE s.page_id = p.page_id ORDER BY s.ordinal)) FROM v1_pages p"""
        )
    }
    for path, content_hash in indexed.items():
        data = (bench.root / path).read_bytes()
        assert hashlib.sha256(data).hexdigest() == content_hash, path
        assert texts[path] == decode(data), path
    return {"files": len(found), "pages": len(indexed), "hashes and texts equal": len(texts)}


def check_last_sections_are_found(bench: Bench) -> dict[str, int]:
    """A word of each page's last section is found in it through the standard library's SQLite."""
    connection = sqlite3.connect(f"file:{bench.db}?mode=ro", uri=True)
    last = connection.execute(
        """SELECT s.slug, s.section_rowid, s.heading || char(10) || s.body FROM v1_sections s
        JOIN (SELECT page_id, max(ordinal) AS ordinal FROM v1_sections GROUP BY page_id)
        USING(page_id, ordinal)"""
    ).fetchall()
    asked = 0
    for slug, rowid, text in last:
        word = max(words(text), key=len, default=None)
        if word is None:
            continue
        hits = connection.execute(
            "SELECT count(*) FROM sections_fts WHERE sections_fts MATCH ? AND rowid = ?", (f'"{word}"', rowid)
        ).fetchone()
        assert hits == (1,), (slug, word)
        asked += 1
    connection.close()
    return {"last sections": len(last), "found by a word": asked}


def check_chunks_hold_every_line(bench: Bench) -> dict[str, int]:
    """Chunks, in order, hold every line of a page that is neither blank nor a heading.

    None is twice as long as the target, and each section path is one of its section's.
    """
    counted = {"chunks": 0, "lines": 0}
    with closing(sqlite3.connect(f"file:{bench.db}?mode=ro", uri=True)) as connection:
        for page_id, path, lead in connection.execute("SELECT page_id, path, lead FROM v1_pages").fetchall():
            lines = split_lines(decode((bench.root / path).read_bytes()))
            chunks = connection.execute(SELECT_CHUNKS, (page_id,)).fetchall()
            assert [start for _, start, *_ in chunks] == sorted(start for _, start, *_ in chunks), path
            sections = connection.execute(SELECT_SECTIONS, (page_id,)).fetchall()
            for section_id, start, end, heading, *paths in sections:
                headed = start + len(split_lines(heading.rstrip("\r\n"))) if heading else start
                first = max(headed, len(split_lines(lead)))
                own = [chunk[1:] for chunk in chunks if chunk[0] == section_id]
                counted["lines"] += check_section(lines, first, end, own, paths)
            counted["chunks"] += len(chunks)
            assert {chunk[0] for chunk in chunks} <= {section[0] for section in sections}, path
    return counted


def check_section(
    lines: list[str], first: int, last: int, chunks: list[tuple[Any, ...]], paths: list[str]
) -> int:
    """The chunks of one section against lines `first` to `last` of the file; gives how many they hold."""
    assert [chunk[2] for chunk in chunks] == list(range(1, len(chunks) + 1))
    for start, end, _, tokens, path, _ in chunks:
        assert first <= start <= end <= last
        assert tokens <= TWICE_THE_TARGET
        assert path in paths
    held = "".join("".join(content.split()) for *_, content in chunks)
    numbers = [number for number in range(first, last + 1) if lines[number - 1].strip()]
    for number in numbers:
        assert any(start <= number <= end for start, end, *_ in chunks), lines[number - 1]
        # A line that was torn stands in several chunks; between those of a table its header stands too.
        parts = lines[number - 1].split()
        assert "".join(parts) in held or all(part in held for part in parts), lines[number - 1]
    return len(numbers)


def check_verify_is_silent(bench: Bench) -> dict[str, int]:
    """A verify builds a second index from nothing and finds no difference in any public row."""
    with tempfile.TemporaryDirectory() as folder:
        with bench.opened(Path(folder) / "index.db") as (indexer, fresh):
            differences = find_differences(bench.db, fresh.path, indexer)
        problems = check_integrity(bench.db, Path(folder) / "copy.db")
    assert (differences, problems) == ((), ())
    return {"differences": 0}


def check_one_edit(bench: Bench) -> dict[str, int]:
    """One changed paragraph: one page projected, one change entry, one row of full text."""
    paths = bench.fetch("SELECT path FROM v1_pages WHERE sections > 5 ORDER BY path LIMIT 1")
    page = bench.root / paths[0][0]
    page.write_bytes(page.read_bytes() + b"\nOne more paragraph.\n")
    update = bench.build()
    assert (update.projected, update.changed, update.full_text) == (1, 1, 1)
    entries = bench.fetch("SELECT path FROM v1_changes WHERE generation = ?", update.generation)
    assert entries == paths
    return {"projected": 1, "change entries": 1, "full text rows": 1}


def watch_pages(db: str) -> None:
    """Count the pages as a reader does until stdin closes, then print the fewest and how many looks."""
    fewest, looks = count_pages(db), 1
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        fewest, looks = min(fewest, count_pages(db)), looks + 1
    print(fewest, looks)


@contextmanager
def watched(bench: Bench) -> Iterator[dict[str, int]]:
    """Another process looks on; what it saw is in the dictionary afterwards."""
    code = "import sys; from tests.corpora import watch_pages; watch_pages(sys.argv[1])"
    watcher = subprocess.Popen(
        [sys.executable, "-c", code, str(bench.db)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    seen: dict[str, int] = {}
    try:
        yield seen
    finally:
        out, _ = watcher.communicate(timeout=60)
    fewest, looks = out.split()
    seen.update({"fewest pages": int(fewest), "looks of a reader": int(looks)})


def fingerprint(bench: Bench) -> dict[str, str]:
    """A hash of the public rows of each view: all of a large wiki's rows at once are too much."""
    found = {}
    with Snapshot.open(bench.db) as snapshot:
        for view in PUBLIC_ROWS:
            digest = hashlib.sha256()
            for row in snapshot.public_rows(view):
                digest.update(repr(row).encode())
            found[view] = digest.hexdigest()
    return found


def check_new_versions(bench: Bench) -> dict[str, int]:
    """Another projection version and another schema version: the same rows, never fewer pages."""
    before, pages = fingerprint(bench), len(bench.paths())
    with watched(bench) as seen:
        with patch.object(project_module, "PROJECTION_VERSION", 999):
            update = bench.build()
        assert update.projected == pages
        assert fingerprint(bench) == before
        bench.set_schema_version(999)
        bench.build()
        assert fingerprint(bench) == before
    assert seen["fewest pages"] == pages
    return {"projected anew": update.projected, **seen}


CHECKS = (
    check_against_the_disk,
    check_last_sections_are_found,
    check_chunks_hold_every_line,
    check_verify_is_silent,
    check_one_edit,
    check_new_versions,
)


def main() -> None:
    """Run every check on whole copies of the folders named on the command line."""
    configure_logs(quiet=True)
    for folder in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            bench = Bench(Path(name), workers=2)
            shutil.copytree(folder, bench.root, symlinks=True, dirs_exist_ok=True)
            start = time.perf_counter()
            update = bench.build()
            print(f"{folder.name}: {update.upserted} pages built in {time.perf_counter() - start:.1f} s")
            for check in CHECKS:
                start = time.perf_counter()
                counted = ", ".join(f"{what} {count}" for what, count in check(bench).items())
                print(f"  {check.__name__}: {counted} ({time.perf_counter() - start:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
