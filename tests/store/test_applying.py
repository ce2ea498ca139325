"""What a plan writes: the rows that differ and no others, with generation and change feed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from indexerd.contract.file import CHANGES_KEPT
from indexerd.core.model import Diagnostic
from indexerd.core.sync.model import Applied, PathDiagnostics, Plan, ScanRecord, Touch, Upsert
from indexerd.store import Store
from indexerd.store import store as store_module
from indexerd.store.write import change_feed
from indexerd.store.write.change_feed import SCANS_KEPT
from tests.store.wiki import MTIME_NS, NOON, bring, open_store, plan_for, project, rows_of, stamp_of

LONG = "".join(f"## Part {number}\n\nwords of part {number}\n\n" for number in range(100))
PAGE = f"---\ntitle: Long page\n---\n# Start\n\n{LONG}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path) as opened:
        yield opened


def select(store: Store, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
    """Ask the writer's own connection: a second one in this process would drop its locks."""
    return store._connection.execute(statement, values).fetchall()


def changes(store: Store, generation: int) -> list[tuple[str, str]]:
    return [
        (op, slug)
        for op, slug in select(
            store, "SELECT op, slug FROM v1_changes WHERE generation = ? ORDER BY slug", generation
        )
    ]


def rowids(store: Store, slug: str) -> list[int]:
    statement = "SELECT section_rowid FROM v1_sections WHERE slug = ? ORDER BY ordinal"
    return [rowid for (rowid,) in select(store, statement, slug)]


def sections(applied: Applied) -> tuple[int, int, int, int]:
    return (
        applied.sections_inserted,
        applied.sections_updated,
        applied.sections_deleted,
        applied.full_text,
    )


def part(number: int) -> str:
    return f"## Part {number}\n\nwords of part {number}\n\n"


def edited(before: str, after: str) -> str:
    assert PAGE.count(before) == 1
    return PAGE.replace(before, after)


# What an edit of a page with 101 sections costs: inserted, updated, deleted, full-text rows touched.
EDITS = {
    "a body": (edited("words of part 50\n", "other words\n"), (0, 1, 0, 1)),
    "a line above everything": (edited("# Start\n", "# Start\n\nnew\n"), (0, 1, 0, 1)),
    "a heading": (edited("## Part 50\n", "## Fifty\n"), (1, 0, 1, 2)),
    "heading and body": (edited(part(7), "## New\n\nnew\n"), (1, 0, 1, 2)),
    "a section taken out": (edited(part(50), ""), (0, 0, 1, 1)),
    "a section put in": (edited(part(50), f"## Extra\n\n{part(50)}"), (1, 0, 0, 1)),
    "a section moved": (edited(part(3), "") + part(3), (0, 0, 0, 0)),
    "the title": (edited("title: Long page", "title: Other"), (0, 0, 0, 101)),
    "front matter that no text shows": (edited("---\n#", "status: draft\n---\n#"), (0, 0, 0, 0)),
    "nothing": (PAGE, (0, 0, 0, 0)),
}


@pytest.mark.parametrize("text, cost", EDITS.values(), ids=EDITS)
def test_an_edit_writes_the_rows_that_differ(
    store: Store, text: str, cost: tuple[int, int, int, int]
) -> None:
    bring(store, {"long.md": PAGE, "other.md": "# Other\n"})
    assert sections(bring(store, {"long.md": text, "other.md": "# Other\n"})) == cost
    assert store.check_integrity() == ()


def test_sections_that_stay_keep_their_rows(store: Store) -> None:
    bring(store, {"a.md": "# A\n\none\n\n## Same\n\nx\n\n## Same\n\nx\n\n## Last\n\nz\n"})
    top, first, second, last = rowids(store, "a")
    bring(store, {"a.md": "# A\n\ntwo\n\n## New\n\n## Same\n\nx\n\n## Same\n\nx\n\n## Last\n\nz\n"})
    after = rowids(store, "a")
    assert [after[0], *after[2:]] == [top, first, second, last]
    assert after[1] > last


def test_ids_are_never_given_twice(store: Store) -> None:
    bring(store, {"a.md": "# A\n\n## B\n"})
    pages, gone = select(store, "SELECT max(page_id) FROM v1_pages"), max(rowids(store, "a"))
    bring(store, {})
    bring(store, {"a.md": "# A\n\n## B\n"})
    assert select(store, "SELECT min(page_id) FROM v1_pages")[0] > pages[0]
    assert min(rowids(store, "a")) > gone


def test_one_edit_is_one_generation_and_one_change_entry(store: Store) -> None:
    wiki = {f"{number}.md": f"# Page {number}\n" for number in range(50)}
    bring(store, wiki)
    applied = bring(store, wiki | {"7.md": "# Page 7\n\nmore\n"})
    assert (applied.generation, applied.upserted, applied.deleted) == (2, 1, 0)
    assert changes(store, 2) == [("upsert", "7")]
    assert select(store, "SELECT slug FROM v1_pages WHERE generation = 2") == [("7",)]


def test_a_touched_page_gets_its_time_and_no_change_entry(store: Store) -> None:
    bring(store, {"a.md": "# A\n"})
    stamp = stamp_of("# A\n", MTIME_NS + 1_500_000_000)
    applied = store.apply(Plan(touches=(Touch("a.md", stamp, racy=True),)), committed_at=NOON)
    assert (applied.generation, applied.touched, applied.upserted) == (2, 1, 0)
    assert changes(store, 2) == []
    assert select(store, "SELECT updated_at, generation FROM v1_pages") == [("2026-01-01T12:00:01.500Z", 1)]
    assert store.fetch_indexed()["a.md"].stamp == stamp
    assert store.fetch_indexed()["a.md"].racy


def test_a_stamp_that_no_reader_sees_moves_no_generation(store: Store) -> None:
    bring(store, {"a.md": "# A\n"})
    stamp = stamp_of("# A\n")._replace(inode=99, ctime_ns=5)
    applied = store.apply(Plan(touches=(Touch("a.md", stamp, racy=False),)), committed_at=NOON)
    assert (applied.generation, applied.committed) == (1, True)
    again = store.apply(Plan(touches=(Touch("a.md", stamp, racy=False),)), committed_at=NOON)
    assert again.committed is False


def test_a_page_that_says_when_it_was_updated_ignores_its_file(store: Store) -> None:
    text = "---\nupdated: 2024-05-06\n---\n# A\n"
    bring(store, {"a.md": text})
    touch = Touch("a.md", stamp_of(text, MTIME_NS + 10**10), racy=False)
    assert store.apply(Plan(touches=(touch,)), committed_at=NOON).touched == 1
    assert select(store, "SELECT updated_at FROM v1_pages") == [("2024-05-06T00:00:00.000Z",)]


@pytest.mark.parametrize(
    "mtime_ns, shown",
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (10**21, "9999-12-31T23:59:59.000Z"),
        (-(10**21), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_any_time_of_a_file_can_be_shown(store: Store, mtime_ns: int, shown: str) -> None:
    upsert = Upsert(project("a.md", "# A\n"), "a", stamp_of("# A\n", mtime_ns % 2**63), racy=False)
    stamp = upsert.stamp._replace(mtime_ns=max(-(2**63), min(mtime_ns, 2**63 - 1)))
    store.apply(Plan(upserts=(replace(upsert, stamp=stamp),)), committed_at=NOON)
    found = select(store, "SELECT updated_at FROM v1_pages")[0][0]
    assert len(found) == 24
    if abs(mtime_ns) < 2**63:
        assert found == shown


def test_projecting_anew_under_another_version_changes_no_public_row(store: Store, tmp_path: Path) -> None:
    wiki = {"a.md": PAGE, "b.md": "# B\n\n[a](a.md)\n"}
    bring(store, wiki)
    applied = store.apply(plan_for(store, wiki, projection="p2"), committed_at=NOON)
    assert (applied.generation, applied.upserted, applied.committed) == (1, 0, True)
    assert {page.projection for page in store.fetch_indexed().values()} == {"p2"}


def test_pages_can_swap_their_slugs(store: Store) -> None:
    bring(store, {"a.md": "# File\n", "a.markdown": "# Other\n"})
    assert select(store, "SELECT path, slug FROM v1_pages ORDER BY path") == [
        ("a.markdown", "a.markdown"),
        ("a.md", "a"),
    ]
    applied = store.apply(Plan(renamed=(("a.md", "a.markdown"), ("a.markdown", "a"))), committed_at=NOON)
    assert changes(store, applied.generation) == [("upsert", "a"), ("upsert", "a.markdown")]
    assert select(store, "SELECT path, slug FROM v1_pages ORDER BY path") == [
        ("a.markdown", "a"),
        ("a.md", "a.markdown"),
    ]


def test_a_page_may_lose_its_slug_and_get_another_stamp_in_one_plan(store: Store) -> None:
    bring(store, {"a.md": "# A\n"})
    stamp = stamp_of("# A\n", MTIME_NS + 1_000_000_000)
    plan = Plan(renamed=(("a.md", "a.md"),), touches=(Touch("a.md", stamp, racy=True),))
    assert store.apply(plan, committed_at=NOON).touched == 1
    page = store.fetch_indexed()["a.md"]
    assert (page.slug, page.stamp, page.racy) == ("a.md", stamp, True)
    assert changes(store, 2) == [("delete", "a"), ("upsert", "a.md")]


def test_a_winner_that_comes_moves_both_pages_in_one_commit(store: Store) -> None:
    bring(store, {"a.md": "# File\n"})
    applied = bring(store, {"a.md": "# File\n", "a/README.md": "# Folder\n"})
    assert changes(store, applied.generation) == [("upsert", "a"), ("upsert", "a.md")]
    assert select(store, "SELECT kind FROM v1_diagnostics WHERE path = 'a.md'") == [("slug_collision",)]
    applied = bring(store, {"a.md": "# File\n"})
    assert changes(store, applied.generation) == [("upsert", "a"), ("delete", "a.md")]
    assert select(store, "SELECT count(*) FROM v1_diagnostics") == [(0,)]


def test_a_deleted_page_leaves_no_row_behind(store: Store) -> None:
    front_matter = "aliases: [x]\ntopics: [t]\nsources: [{id: s, path: src/a.py}]"
    wiki = {"a.md": f"---\n{front_matter}\n---\n# A\n\n[[b]] `src/x.py`\n"}
    bring(store, {})
    empty = {table: select(store, f"SELECT count(*) FROM {table}") for table in private_tables(store)}
    bring(store, wiki)
    full = {table: select(store, f"SELECT count(*) FROM {table}") for table in private_tables(store)}
    assert bring(store, {}).deleted == 1
    left = {table: select(store, f"SELECT count(*) FROM {table}") for table in private_tables(store)}
    assert full != empty
    assert {table for table in left if left[table] != empty[table]} == {"change", "commits"}


def private_tables(store: Store) -> list[str]:
    statement = """SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
        AND name NOT LIKE '%\\_fts%' ESCAPE '\\' AND name NOT LIKE '%grams%' AND name NOT LIKE 'sqlite%'"""
    return [name for (name,) in select(store, statement)]


def test_a_plan_about_what_is_not_there_does_nothing(store: Store) -> None:
    plan = Plan(
        deletes=("gone.md",),
        renamed=(("gone.md", "x"),),
        touches=(Touch("gone.md", stamp_of(""), racy=False),),
    )
    assert store.apply(plan, committed_at=NOON).committed is False


def test_a_plan_that_fails_half_way_leaves_no_trace(store: Store, tmp_path: Path) -> None:
    bring(store, {"a.md": "# A\n", "b.md": "# B\n"})
    good = Upsert(project("c.md", "# C\n"), "c", stamp_of(""), racy=False)
    clash = Upsert(project("d.md", "# D\n"), "a", stamp_of(""), racy=False)
    with pytest.raises(Exception, match="UNIQUE"):
        store.apply(Plan(upserts=(good, clash), deletes=("b.md",)), committed_at=NOON)
    assert store.generation == 1
    assert set(store.fetch_indexed()) == {"a.md", "b.md"}
    assert store.check_integrity() == ()
    assert bring(store, {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"}).generation == 2


def said(store: Store) -> list[tuple[Any, ...]]:
    return select(
        store, "SELECT path, kind, line, since_generation FROM v1_diagnostics ORDER BY path, kind, line"
    )


def test_a_diagnostic_keeps_its_age_while_it_persists(store: Store) -> None:
    broken = "---\ntitle: x\nbroken: [\n---\n"
    bring(store, {"a.md": f"{broken}# A\n"})
    bring(store, {"a.md": f"{broken}# A\n\nmore\n"})
    assert {since for *_, since in said(store)} == {1}
    bring(store, {"a.md": "# A\n"})
    assert said(store) == []
    bring(store, {"a.md": f"{broken}# A\n"})
    assert {since for *_, since in said(store)} == {4}


def test_diagnostics_alone_move_the_generation_without_a_change_entry(store: Store) -> None:
    bring(store, {"a.md": "# A\n"})
    unreadable = Diagnostic("unreadable", "may not be read; give the daemon the right to")
    plan = Plan(diagnostics=(PathDiagnostics("a.md", (unreadable,)), PathDiagnostics("b.md", (unreadable,))))
    applied = store.apply(plan, committed_at=NOON)
    assert (applied.generation, applied.upserted) == (2, 0)
    assert [row[0] for row in said(store)] == ["a.md", "b.md"]
    assert store.apply(plan, committed_at=NOON).committed is False
    assert store.fetch_diagnostics() == {"a.md": (unreadable,), "b.md": (unreadable,)}
    assert store.fetch_diagnostics(["b.md"]) == {"b.md": (unreadable,)}


def test_what_a_look_said_and_what_a_projection_says_do_not_overwrite_each_other(store: Store) -> None:
    text = "---\ntitle: x\nbroken: [\n---\n# A\n"
    bring(store, {"a.md": text})
    by_projection = said(store)
    unreadable = PathDiagnostics("a.md", (Diagnostic("unreadable", "may not be read"),))
    store.apply(Plan(diagnostics=(unreadable,)), committed_at=NOON)
    assert len(said(store)) == len(by_projection) + 1
    store.apply(Plan(diagnostics=(PathDiagnostics("a.md", ()),)), committed_at=NOON)
    assert said(store) == by_projection
    store.apply(Plan(diagnostics=(unreadable,)), committed_at=NOON)
    upsert = Upsert(project("a.md", text), "a", stamp_of(text), racy=False)
    store.apply(Plan(upserts=(upsert,)), committed_at=NOON)
    assert said(store) == by_projection


def test_a_heading_that_is_another_pages_title_is_reported_while_that_page_is_there(store: Store) -> None:
    wiki = {"a.md": "---\ntitle: Acme\n---\n# Acme\n", "b.md": "# Notes\n\n# Acme\n"}
    bring(store, wiki)
    assert [row[:2] for row in said(store)] == [("b.md", "suspicious_heading")]
    bring(store, {"b.md": wiki["b.md"]})
    assert said(store) == []


def test_the_change_feed_is_trimmed_by_whole_generations(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CHANGES_KEPT == 100_000
    for module in (change_feed, store_module):
        monkeypatch.setattr(module, "CHANGES_KEPT", 5)
    bring(store, {"a.md": "# 1\n", "b.md": "# 1\n", "c.md": "# 1\n"})
    bring(store, {"a.md": "# 2\n", "b.md": "# 2\n", "c.md": "# 1\n"})
    assert select(store, "SELECT generation FROM v1_changes_floor") == [(0,)]
    assert select(store, "SELECT count(*) FROM v1_changes") == [(5,)]
    bring(store, {"a.md": "# 3\n", "b.md": "# 2\n", "c.md": "# 1\n"})
    assert select(store, "SELECT generation FROM v1_changes_floor") == [(1,)]
    assert select(store, "SELECT DISTINCT generation FROM v1_changes") == [(2,), (3,)]
    bring(store, {f"{number}.md": "# x\n" for number in range(9)})
    assert select(store, "SELECT DISTINCT generation FROM v1_changes") == [(4,)]
    assert select(store, "SELECT generation FROM v1_changes_floor") == [(3,)]


def test_scans_that_found_nothing_cost_no_commit_and_the_others_are_bounded(store: Store) -> None:
    quiet = ScanRecord(NOON, NOON, "interval", 5, 0)
    store.record_scan(quiet)
    store.record_scan(quiet)
    assert select(store, "SELECT count(*) FROM v1_scans") == [(1,)]
    for number in range(SCANS_KEPT + 5):
        store.record_scan(ScanRecord(NOON, NOON, "interval", 5, number + 1, missed_by_events=1))
    assert select(store, "SELECT count(*), max(pages_changed) FROM v1_scans") == [
        (SCANS_KEPT, SCANS_KEPT + 5)
    ]
    assert store.generation == 0


def test_what_the_index_knows_is_fetched_whole_by_path_and_below_a_folder(store: Store) -> None:
    wiki = dict.fromkeys(("a.md", "d/a.md", "d/e/f.md", "d0.md", "d.md", "d-x/a.md"), "# X\n")
    bring(store, wiki)
    assert set(store.fetch_indexed()) == set(wiki)
    assert set(store.fetch_indexed(["a.md", "none.md"])) == {"a.md"}
    assert set(store.fetch_indexed(prefix="d")) == {"d/a.md", "d/e/f.md"}
    assert set(store.fetch_indexed(prefix="d/")) == {"d/a.md", "d/e/f.md"}
    assert set(store.fetch_indexed(prefix="d/a.md")) == {"d/a.md"}


def test_neighbours_are_the_pages_with_the_same_base_slug(store: Store) -> None:
    bring(store, {"a.md": "", "a/README.md": "", "a/index.md": "", "b.md": ""})
    assert store.fetch_neighbours({"a", "none"}) == {"a.md", "a/README.md", "a/index.md"}


def test_topics_come_go_and_stand_under_each_other(store: Store) -> None:
    bring(store, {"a.md": "---\ntopics: [x/y]\n---\n", "b.md": "---\ntags: x/y\n---\n#x\n"})
    assert select(store, "SELECT slug, page_count FROM v1_topics ORDER BY slug") == [("x", 1), ("x/y", 2)]
    assert select(store, "SELECT child, parent FROM v1_topic_parents") == [("x/y", "x")]
    assert select(store, "SELECT topic FROM v1_topic_tree WHERE under = 'x' ORDER BY topic") == [
        ("x",),
        ("x/y",),
    ]
    bring(store, {"b.md": "#x\n"})
    assert select(store, "SELECT slug, page_count FROM v1_topics ORDER BY slug") == [("x", 1)]


def test_the_full_text_holds_bigrams_of_scripts_without_blanks_only(store: Store, tmp_path: Path) -> None:
    wiki: Mapping[str, str] = {"a.md": "# 日本語\n\n文章です\n", "b.md": "# Latin\n\nonly\n"}
    bring(store, wiki)
    found = select(store, "SELECT rowid FROM sections_grams WHERE sections_grams MATCH '\"文章\"'")
    assert [rowid for (rowid,) in found] == rowids(store, "a")
    assert select(store, "SELECT count(*) FROM sections_grams_docsize") == [(1,)]
    bring(store, {"a.md": "# Latin now\n", "b.md": wiki["b.md"]})
    assert select(store, "SELECT count(*) FROM sections_grams_docsize") == [(0,)]


def test_a_merge_ends_and_says_when_there_is_nothing_left(store: Store) -> None:
    for number in range(12):
        bring(store, {"a.md": f"# A\n\nword{number} and others\n"})
    merges = 0
    while store.merge():
        merges += 1
        assert merges < 100
    assert merges > 0
    assert store.merge() is False
    assert store.check_integrity() == ()


def test_a_checkpoint_moves_the_log_and_truncates_it_when_idle(store: Store) -> None:
    bring(store, {"a.md": PAGE})
    assert store.wal_pages > 0
    assert store.checkpoint().complete
    assert store.wal_pages == 0
    assert store.wal_bytes > 0
    assert store.checkpoint(truncate=True).complete
    assert store.wal_bytes == 0


def test_a_reader_that_holds_a_moment_keeps_the_log_and_no_commit_waits(store: Store, tmp_path: Path) -> None:
    bring(store, {"a.md": "# A\n"})
    store.checkpoint(truncate=True)
    reader = apsw.Connection(str(tmp_path / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN; SELECT count(*) FROM v1_pages").fetchall()
    bring(store, {"a.md": PAGE})
    assert not store.checkpoint(truncate=True).complete
    assert store.wal_pages > 0
    reader.close()
    assert store.checkpoint(truncate=True).complete
    assert (store.wal_pages, store.wal_bytes) == (0, 0)


def test_drift_of_the_full_text_is_found(store: Store, tmp_path: Path) -> None:
    bring(store, {"a.md": PAGE, "b.md": "# 日本語\n"})
    assert store.check_integrity() == ()
    for statement, table in (
        ("UPDATE section SET body = 'changed by hand' WHERE section_rowid = 1", "sections_fts"),
        ("UPDATE page SET names = 'changed by hand'", "names_fts"),
        ("INSERT INTO sections_grams(rowid, body) VALUES(1, 'gram')", "sections_grams"),
    ):
        store._connection.execute(statement)
        assert any(problem.startswith(table) for problem in store.check_integrity())
    with store.rebuilding():
        bring(store, {"a.md": PAGE})
    assert store.check_integrity() == ()


def test_another_version_of_terms_fills_the_bigrams_anew(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        bring(store, {"b.md": "# 日本語\n"})
        store._connection.execute("UPDATE meta SET value = 0 WHERE key = 'terms_version'")
        store._connection.execute("INSERT INTO sections_grams(sections_grams) VALUES('delete-all')")
        assert store.check_integrity() != ()
    with open_store(tmp_path) as store:
        assert store.check_integrity() == ()
        assert store.generation == 1
    assert rows_of(tmp_path)
