"""Small wikis that were once read wrongly, each a kind, with what is right (tests/cases).

A case is `pages` (path: text), `queries` (a SELECT over the public part: its rows), `searches` (a question:
the places of its hits in their order) and `broken` (what `wikiq check` reports as broken: path, line). A test
keeps the copies of shared cases equal to them.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import SHARED, shared_folder
from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.running import run_wikiq

FOLDER = Path(__file__).parent / "cases"
CASES = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))}
# Written down, and not right yet; a case that has become right must be taken off.
KNOWN_FAILING: frozenset[str] = frozenset()

_NAMES = [
    pytest.param(name, marks=[pytest.mark.xfail(strict=True)] if name in KNOWN_FAILING else [])
    for name in CASES
]


@pytest.mark.parametrize("name", _NAMES)
def test_case(name: str, tmp_path: Path) -> None:
    case: dict[str, Any] = CASES[name]
    files = case["pages"]
    wiki = build_wiki(tmp_path, {path: text for path, text in files.items() if path.endswith(".md")})
    for path in (path for path in files if not path.endswith(".md")):
        (wiki.index.root / path).parent.mkdir(parents=True, exist_ok=True)
        (wiki.index.root / path).write_text(files[path], "utf-8", newline="")
    with closing(sqlite3.connect(f"file:{wiki.index.db}?mode=ro", uri=True)) as connection:
        for select, rows in case.get("queries", {}).items():
            assert [list(row) for row in connection.execute(select)] == rows, select
    for query, places in case.get("searches", {}).items():
        done = run_wikiq("search", "--format", "{path}:{line}", query, index=wiki.index)
        assert done.out.splitlines() == places, query
    if "broken" in case:
        done = run_wikiq("check", "--ndjson", index=wiki.index)
        said = [json.loads(line) for line in done.out.splitlines()]
        broken = [[row["path"], row["line"]] for row in said if row["kind"].startswith("broken_")]
        assert sorted(broken) == case["broken"], done.out


@pytest.mark.parametrize("name", [name for name in CASES if (SHARED / "cases" / name).is_dir()])
def test_the_copy_of_a_case_is_what_is_shared(name: str) -> None:
    tree = SHARED / "cases" / name / "tree"
    files = (path for path in tree.rglob("*") if path.is_file())
    shared = {str(file.relative_to(tree)): file.read_bytes().decode() for file in files}
    assert CASES[name]["pages"] == shared


def test_every_shared_case_is_written_down() -> None:
    shared = {folder.name for folder in shared_folder("cases").iterdir() if folder.is_dir()}
    assert shared == CASES.keys()
    assert CASES.keys() >= KNOWN_FAILING
