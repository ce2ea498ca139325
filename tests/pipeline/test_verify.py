"""verify: silent when index and tree agree, one line a difference, and not in a writer's way."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexerd.contract.file import COLUMNS
from indexerd.pipeline import verify
from indexerd.pipeline.verify import check_integrity, compare_rows, find_differences
from indexerd.store.read.public_rows import column_names
from tests.another_user import as_nobody, needs_open_installation
from tests.building import Bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(verify, "PAUSE_S", 0.01)
    found = Bench(tmp_path)
    found.write(a="# A\n\nSome text.\n\n## Deep\n\nMore [b](b.md).\n", b="---\ntags: [t]\n---\n# B\n")
    found.build()
    return found


def differences(bench: Bench) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder, bench.opened(Path(folder) / "index.db") as (indexer, store):
        return find_differences(bench.db, store.path, indexer)


def tamper(bench: Bench, *statements: str) -> None:
    connection = sqlite3.connect(bench.db)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_an_index_that_agrees_with_its_tree_gives_nothing(bench: Bench, tmp_path: Path) -> None:
    assert differences(bench) == ()
    assert check_integrity(bench.db, tmp_path / "copy.db") == ()


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("UPDATE page SET title = 'X' WHERE path = 'a.md'", "v1_pages a.md: 1 of 1 rows differ in title"),
        ("UPDATE section SET body = 'x' WHERE heading = 'Deep'", "v1_sections a: 1 of 2 rows differ in body"),
        (
            "UPDATE place SET start_line = 9 WHERE ordinal = 1",
            "v1_sections a: 1 of 2 rows differ in start_line",
        ),
        ("DELETE FROM link", "v1_links a: in the tree, not in the index"),
        ("DELETE FROM page_topic", "v1_page_topics b: in the tree, not in the index"),
        ("UPDATE page SET path = 'z.md' WHERE path = 'a.md'", "v1_pages a.md: in the tree, not in the index"),
        ("UPDATE page SET path = 'z.md' WHERE path = 'a.md'", "v1_pages z.md: in the index, not in the tree"),
    ],
)
def test_a_row_that_differs_is_one_line(bench: Bench, statement: str, expected: str) -> None:
    tamper(bench, statement)
    assert expected in differences(bench)


def test_a_change_that_was_not_indexed_is_a_difference(bench: Bench) -> None:
    bench.write(c="# C\n")
    (bench.root / "b.md").unlink()
    found = differences(bench)
    assert "v1_pages c.md: in the tree, not in the index" in found
    assert "v1_pages b.md: in the index, not in the tree" in found


def test_full_text_that_does_not_hold_what_the_rows_say_is_found(bench: Bench, tmp_path: Path) -> None:
    tamper(bench, "INSERT INTO sections_fts(sections_fts) VALUES('delete-all')")
    assert differences(bench) == ()
    (problem,) = check_integrity(bench.db, tmp_path / "copy.db")
    assert "sections_fts" in problem


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM change WHERE slug = 'a'",
        "UPDATE change SET op = 'delete' WHERE slug = 'a'",
        "UPDATE change SET slug = 'c' WHERE slug = 'a'",
        "UPDATE change SET path = 'c.md' WHERE slug = 'a'",
        "UPDATE change SET content_hash = 'x' WHERE slug = 'a'",
        "UPDATE change SET generation = 7 WHERE slug = 'a'",
        "UPDATE commits SET generation = 7",
        "UPDATE page SET generation = 7 WHERE path = 'a.md'",
        "INSERT INTO change VALUES(1, 'gone', 'upsert', 'gone.md', 'x')",
    ],
)
def test_a_change_feed_that_leads_elsewhere_is_found(bench: Bench, tmp_path: Path, statement: str) -> None:
    tamper(bench, statement)
    found = check_integrity(bench.db, tmp_path / "copy.db")
    assert found
    assert all(problem.startswith("v1_changes ") for problem in found)


def test_a_trimmed_feed_tells_nothing_of_the_pages_behind_its_floor(bench: Bench, tmp_path: Path) -> None:
    tamper(
        bench,
        "DELETE FROM change",
        "DELETE FROM commits",
        "UPDATE meta SET value = 1 WHERE key = 'changes_floor'",
    )
    assert check_integrity(bench.db, tmp_path / "copy.db") == ()


def test_every_public_column_is_compared_but_ids_generations_and_times() -> None:
    left_out = {"page_id", "section_rowid", "generation", "since_generation"}
    of_the_feed = {"v1_changes", "v1_changes_floor", "v1_scans"}
    for view in COLUMNS.keys() - of_the_feed:
        assert set(COLUMNS[view]) - set(column_names(view)) <= left_out


def test_it_goes_on_beside_a_writer_that_brings_the_index_up_to_date(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(c="# C\n")
    looks: list[int] = []
    with bench.opened() as (writing, _):

        def catch_up(_: float) -> None:
            looks.append(1)
            writing.apply(writing.scan())

        monkeypatch.setattr(time, "sleep", catch_up)
        assert differences(bench) == ()
    assert looks == [1]


def test_it_changes_neither_the_index_nor_the_tree(bench: Bench, tmp_path: Path) -> None:
    def facts() -> list[tuple[str, int, int]]:
        paths = [*bench.db.parent.iterdir(), *bench.root.iterdir()]
        return sorted(
            (str(path), path.stat().st_size, path.stat().st_mtime_ns)
            for path in paths
            if path.suffix != ".db-shm"  # every reader takes its locks there
        )

    before = facts()
    assert differences(bench) == ()
    assert check_integrity(bench.db, tmp_path / "copy.db") == ()
    assert facts() == before


@pytest.fixture
def open_bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Bench(Path(name))


@needs_open_installation
def test_pages_that_cannot_be_read_now_are_left_out(open_bench: Bench) -> None:
    open_bench.write(a="# A\n", closed__b="# B\n\n#tag\n", c="# C\n")
    os.chmod(open_bench.root / "c.md", 0o666)
    with as_nobody():
        open_bench.build()
        os.chmod(open_bench.db.parent, 0o777)
    os.chmod(open_bench.root / "closed", 0o000)
    os.chmod(open_bench.root / "c.md", 0o000)
    with as_nobody():
        found = differences(open_bench)
    os.chmod(open_bench.root / "closed", 0o777)
    assert found == ()


def test_rows_of_one_page_may_come_in_any_order() -> None:
    rows = [("a", 1), ("a", 2), ("b", 1)]
    assert list(compare_rows("v1_aliases", rows, [rows[1], rows[0], rows[2]])) == []
    assert list(compare_rows("v1_aliases", rows, [rows[0], *rows])) == [
        "v1_aliases a: 2 rows in the index, 3 expected"
    ]


def test_a_page_name_cannot_break_a_line() -> None:
    assert list(compare_rows("v1_pages", [("", "a\n\x1b[2J")], [])) == [
        r"v1_pages a\x0a\x1b[2J: in the index, not in the tree"
    ]
