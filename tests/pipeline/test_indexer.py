"""From a folder of pages to an index and back to equal: only what changed is written, nothing is lost."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from indexerd.contract.file import SCHEMA_VERSION
from indexerd.core import project as project_module
from indexerd.core.markdown import read
from indexerd.core.model import Page, ProjectionOptions
from indexerd.core.project import project_page
from indexerd.core.sync.confirmation import CONFIRM_AFTER_S
from indexerd.core.sync.model import Plan
from indexerd.errors import RootError
from indexerd.pipeline import indexer as indexer_module
from indexerd.pipeline import page_task, workers
from indexerd.pipeline.whole_build import build_whole
from indexerd.store import Store
from indexerd.tree.openat import stamp_of
from indexerd.tree.scanner import Stopped, TreeSettings
from tests.another_user import as_nobody, needs_open_installation
from tests.building import Bench
from tests.tree.test_tree import linked_tree


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def open_bench() -> Iterator[Bench]:
    """Under a folder that every user may enter and write."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Bench(Path(name))


def test_every_page_is_in_and_a_second_build_commits_nothing(bench: Bench) -> None:
    bench.write(a="# A\n", b__c="# C\n\nSee [[a]].\n", d="")
    first = bench.build()
    assert (first.upserted, first.projected, first.generation) == (3, 3, 1)
    assert bench.paths() == ["a.md", "b/c.md", "d.md"]
    second = bench.build()
    assert (second.commits, second.projected, second.generation) == (0, 0, 1)


def test_an_edit_projects_one_page_and_writes_one_change_entry(bench: Bench) -> None:
    bench.write(a="# A\n\none\n\n## B\n\ntwo\n", b="# B\n")
    bench.build()
    bench.write(a="# A\n\none\n\n## B\n\nthree\n")
    update = bench.build()
    assert (update.projected, update.upserted, update.deleted, update.full_text) == (1, 1, 0, 1)
    assert bench.fetch("SELECT op, path FROM v1_changes WHERE generation = 2") == [("upsert", "a.md")]


def test_a_touched_page_gets_its_time_without_a_change_entry(bench: Bench) -> None:
    bench.write(a="# A\n")
    bench.build()
    os.utime(bench.root / "a.md", (0, 0))
    update = bench.build()
    assert (update.projected, update.upserted) == (0, 0)
    assert bench.fetch("SELECT updated_at FROM v1_pages") == [("1970-01-01T00:00:00.000Z",)]
    assert bench.public_rows() == bench.fresh_rows()


def test_a_rename_is_one_commit_with_both_ends(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    os.rename(bench.root / "a.md", bench.root / "z.md")
    update = bench.build()
    assert (update.commits, update.upserted, update.deleted) == (1, 1, 1)
    assert bench.fetch("SELECT op, path FROM v1_changes WHERE generation = 2 ORDER BY op") == [
        ("delete", "a.md"),
        ("upsert", "z.md"),
    ]


def test_a_part_of_the_tree_is_brought_up_to_date_alone(bench: Bench) -> None:
    bench.write(a="# A\n", sub__b="# B\n", sub__c="# C\n")
    bench.build()
    bench.write(a="# A2\n", sub__b="# B2\n")
    (bench.root / "sub/c.md").unlink()
    with bench.opened() as (indexer, _):
        update = indexer.apply(indexer.scan(("sub", "sub/c.md")))
        assert (update.upserted, update.deleted) == (1, 1)
        update = indexer.apply(indexer.scan(("a.md",)))
        assert (update.upserted, update.deleted) == (1, 0)
    assert bench.public_rows() == bench.fresh_rows()


def test_held_pages_and_doubted_deletions_stay_as_they_are(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    bench.write(a="")
    (bench.root / "b.md").unlink()
    with bench.opened() as (indexer, _):
        update = indexer.apply(indexer.scan(), hold={"a.md"}, keep_gone=True)
        assert update.commits == 0
    assert bench.fetch("SELECT title FROM v1_pages ORDER BY path") == [("A",), ("B",)]


def test_many_pages_go_in_several_commits_and_deletions_come_last(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer_module, "COMMIT_PAGES", 3)
    bench.write(**{f"old{n}": "# Old\n" for n in range(8)})
    first = bench.build()
    assert (first.commits, first.upserted) == (3, 8)
    for n in range(8):
        os.rename(bench.root / f"old{n}.md", bench.root / f"new{n}.md")
    bench.build()
    generations = bench.fetch("SELECT DISTINCT generation FROM v1_changes WHERE op = 'delete'")
    assert generations == [(6,)]


def test_pages_that_come_back_before_the_second_look_are_not_deleted(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    hidden = bench.root / ".hidden"
    os.makedirs(hidden)
    for name in ("a.md", "b.md"):
        os.rename(bench.root / name, hidden / name)
    pauses: list[float] = []

    def bring_back(pause: float) -> None:
        pauses.append(pause)
        os.rename(hidden / "a.md", bench.root / "a.md")

    with bench.opened() as (indexer, _):
        _, update = build_whole(indexer, sleep=bring_back)
    assert (pauses, update.deleted) == ([CONFIRM_AFTER_S], 1)
    assert bench.paths() == ["a.md"]


def test_an_empty_folder_where_another_was_is_refused_and_the_same_one_emptied_is_not(bench: Bench) -> None:
    """The first is what a disk looks like that is not mounted."""
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    os.rename(bench.root, bench.folder / "disk")
    bench.root.mkdir()
    with pytest.raises(RootError, match="mounted"):
        bench.build()
    assert bench.paths() == ["a.md", "b.md"]
    bench.root.rmdir()
    os.rename(bench.folder / "disk", bench.root)
    assert bench.build().commits == 0
    for path in bench.root.glob("*.md"):
        path.unlink()
    with bench.opened() as (indexer, _):
        assert build_whole(indexer, sleep=lambda _: None)[1].deleted == 2
    assert bench.paths() == []


def test_an_unmounted_disk_does_not_empty_an_index_of_another_version(bench: Bench) -> None:
    """Such an index is made anew from what is found, so nothing in it is deleted page by page."""
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    bench.set_schema_version(SCHEMA_VERSION + 1)
    os.rename(bench.root, bench.folder / "disk")
    bench.root.mkdir()
    pauses: list[float] = []

    def mount_again(pause: float) -> None:
        pauses.append(pause)
        bench.root.rmdir()
        os.rename(bench.folder / "disk", bench.root)

    with bench.opened() as (indexer, store):
        scanned = indexer.scan()
        assert indexer.is_surprising(scanned)
        indexer.record(scanned, indexer.apply(scanned, keep_gone=True), "start")
        assert (store.needs_rebuild, bench.count_pages_elsewhere()) == (True, 2)
        _, update = build_whole(indexer, sleep=mount_again)
        assert (pauses, update.projected, store.needs_rebuild) == ([CONFIRM_AFTER_S], 2, False)
    assert bench.public_rows() == bench.fresh_rows()


def test_an_index_of_another_version_without_pages_is_made_anew_at_once(bench: Bench) -> None:
    bench.build()
    bench.set_schema_version(SCHEMA_VERSION + 1)
    with sqlite3.connect(bench.db) as connection:
        connection.execute("DROP VIEW v1_pages")
    connection.close()
    with bench.opened() as (indexer, _):
        assert not indexer.is_surprising(indexer.scan())
    bench.build()
    assert bench.paths() == []


def test_a_disk_that_goes_while_pages_are_read_does_not_empty_the_index(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    bench.options = ProjectionOptions(identity_names=("every page is read",))
    empty = bench.folder / "mountpoint"
    empty.mkdir()
    with bench.opened() as (indexer, _):
        scanned = indexer.scan()
        os.rename(bench.root, bench.folder / "disk")
        os.rename(empty, bench.root)
        update = indexer.apply(scanned)
        assert (sorted(update.left), update.deleted) == (["a.md", "b.md"], 0)
        with pytest.raises(RootError, match="mounted"):
            build_whole(indexer)
        bench.root.rmdir()
        os.rename(bench.folder / "disk", bench.root)
        _, update = build_whole(indexer)
    assert (update.projected, update.deleted) == (2, 0)
    assert bench.paths() == ["a.md", "b.md"]


def test_a_page_that_is_deleted_while_it_is_to_be_read_is_gone_after_the_build(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n", c="# C\n")
    bench.build()
    bench.write(a="# A2\n", b="# B2\n")

    def delete_the_next(done: int, _: int) -> None:
        (bench.root / "b.md").unlink(missing_ok=True)

    with bench.opened() as (indexer, _):
        _, update = build_whole(indexer, progress=delete_the_next, sleep=lambda _: None)
    assert (update.upserted, update.deleted, update.left) == (1, 1, [])
    assert bench.paths() == ["a.md", "c.md"]


@needs_open_installation
def test_a_page_that_cannot_be_read_keeps_its_rows_and_says_why_until_it_can(open_bench: Bench) -> None:
    bench = open_bench
    bench.write(a="# A\n", closed__b="# B\n")
    os.chmod(bench.root / "a.md", 0o666)
    with as_nobody():
        bench.build()
        os.chmod(bench.db.parent, 0o777)
    os.chmod(bench.root / "a.md", 0o000)
    os.chmod(bench.root / "closed", 0o000)
    with as_nobody():
        update = bench.build()
    assert update.unread == ["a.md"]
    assert bench.paths() == ["a.md", "closed/b.md"]
    assert bench.kinds() == {"a.md": ["unreadable"], "closed": ["unreadable"]}
    with as_nobody():
        assert bench.build().commits == 0
    os.chmod(bench.root / "a.md", 0o666)
    os.chmod(bench.root / "closed", 0o777)
    with as_nobody():
        bench.build()
    assert bench.kinds() == {}


def test_a_folder_that_the_disk_refuses_once_is_in_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(a="# A", sub__b="# B")
    scandir, refusals = os.scandir, [OSError(errno.EIO, os.strerror(errno.EIO))]

    def refusing(folder: int) -> Any:
        if refusals and "b.md" in os.listdir(folder):
            raise refusals.pop()
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    bench.build()
    assert refusals == []
    assert bench.paths() == ["a.md", "sub/b.md"]
    assert bench.kinds() == {}


def test_a_page_over_the_limit_is_listed_and_read_once_the_limit_is_raised(bench: Bench) -> None:
    bench.write(big="# Big\n\nlong enough\n")
    bench.settings = TreeSettings(max_page_bytes=10)
    bench.build()
    assert bench.fetch("SELECT title, sections, content_hash FROM v1_pages") == [("big", 0, None)]
    assert bench.kinds() == {"big.md": ["too_large"]}
    assert bench.build().commits == 0
    bench.settings = TreeSettings()
    bench.build()
    assert bench.fetch("SELECT title, sections FROM v1_pages") == [("Big", 1)]
    assert bench.kinds() == {}
    bench.settings = TreeSettings(max_page_bytes=10)
    bench.build()
    assert bench.kinds() == {"big.md": ["too_large"]}


def test_a_page_that_breaks_the_parser_is_listed_and_tried_again_when_it_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_on_poison(data: bytes, path: str, options: ProjectionOptions, told: Any) -> Page:
        if b"poison" in data:
            raise ValueError("a bug")
        return project_page(data, path, options, told)

    monkeypatch.setattr(page_task, "project_page", break_on_poison)
    bench.write(a="# A\n", bad="# Bad\n\npoison\n", c="# C\n")
    bench.build()
    assert bench.paths() == ["a.md", "bad.md", "c.md"]
    assert bench.kinds() == {"bad.md": ["parser_failed"]}
    assert bench.fetch("SELECT title, sections FROM v1_pages WHERE path = 'bad.md'") == [("bad", 0)]
    assert bench.build().projected == 0
    bench.write(bad="# Good\n")
    bench.build()
    assert bench.kinds() == {}


def test_another_identity_projects_every_page_anew(bench: Bench) -> None:
    bench.write(a="# A\n\n# Acme\n", b="# B\n")
    bench.build()
    bench.options = ProjectionOptions(identity_names=("Acme",))
    assert bench.build().projected == 2
    assert bench.kinds() == {"a.md": ["suspicious_heading"]}


def test_another_projection_version_gives_the_same_rows_page_by_page(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(a="# A\n\n[b](b.md)\n", b="# B\n")
    bench.build()
    before = bench.public_rows()
    monkeypatch.setattr(project_module, "PROJECTION_VERSION", 999)
    update = bench.build()
    assert (update.projected, update.upserted, update.generation) == (2, 0, 1)
    assert bench.public_rows() == before


def test_another_schema_version_is_rebuilt_and_readers_see_the_old_rows_until_then(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n")
    bench.build()
    (old_id,) = bench.fetch("SELECT value FROM meta WHERE key = 'index_id'")
    bench.set_schema_version(999)
    seen: list[int] = []
    with bench.opened() as (indexer, _):
        indexer.apply(indexer.scan(), progress=lambda *_: seen.append(bench.count_pages_elsewhere()))
    assert seen == [2, 2]
    assert bench.paths() == ["a.md", "b.md"]
    assert bench.fetch("SELECT value FROM meta WHERE key = 'index_id'") != [old_id]
    assert bench.public_rows() == bench.fresh_rows()


def test_an_index_inside_the_tree_is_no_page_of_it(bench: Bench) -> None:
    bench.write(a="# A\n")
    db = bench.root / "index.md"
    bench.settings = TreeSettings(own_files=(str(db),))
    for commits in (1, 0):
        with bench.opened(db) as (indexer, _):
            assert build_whole(indexer)[1].commits == commits
    with bench.opened(db) as (_, store):
        assert set(store.fetch_indexed()) == {"a.md"}


def test_a_build_ends_when_it_is_told_to_and_the_next_one_finishes_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer_module, "COMMIT_PAGES", 2)
    bench.write(**{f"p{n}": f"# {n}\n" for n in range(6)})
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 5

    with bench.opened() as (indexer, store):
        scanned = indexer.scan()
        with pytest.raises(Stopped):
            indexer.apply(scanned, stop=stop)
        assert store.building
    assert len(bench.paths()) == 4
    bench.build()
    assert bench.public_rows() == bench.fresh_rows()


def test_an_edit_that_keeps_size_and_time_is_found_by_the_change_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_task, "is_racy", lambda stamp, now_ns: False)  # else it is hashed anyway
    bench.write(a="# One\n")
    os.utime(bench.root / "a.md", ns=(1, 1))
    bench.build()
    bench.write(a="# Two\n")
    os.utime(bench.root / "a.md", ns=(1, 1))
    assert bench.build().upserted == 1
    assert bench.fetch("SELECT title FROM v1_pages") == [("Two",)]


@pytest.mark.parametrize("seconds", [0, 4_102_444_800])
def test_a_page_moved_in_with_a_time_of_another_age_is_found(bench: Bench, seconds: int) -> None:
    bench.write(a="# One\n", z="# Other\n")
    os.utime(bench.root / "z.md", (seconds, seconds))
    bench.build()
    os.replace(bench.root / "z.md", bench.root / "a.md")
    update = bench.build()
    assert (update.upserted, update.deleted) == (1, 1)
    assert bench.fetch("SELECT path, title FROM v1_pages") == [("a.md", "Other")]


@pytest.mark.parametrize("year_s", [2**34, -(2**34)])
def test_a_page_with_a_date_that_sqlite_cannot_hold_is_a_page_like_others(bench: Bench, year_s: int) -> None:
    """Nanoseconds of 1970 in 64 bits end in the year 2262; ext4 goes on to 2446, tmpfs further."""
    page = bench.root / "a.md"
    page.write_text("# A")
    os.utime(page, (year_s, year_s))
    assert bench.build().upserted == 1
    assert bench.build().commits == 0
    page.write_text("# B")
    os.utime(page, (year_s, year_s))
    assert bench.build().upserted == 1


def test_an_inode_past_63_bits_is_a_stamp_like_others() -> None:
    """An overlayfs with xino=on numbers the second of two lower layers so."""
    facts = os.stat_result(
        (0o100644, 2**63 + 5, 1, 1, 0, 0, 7, 0, 0, 0), {"st_mtime_ns": 1, "st_ctime_ns": 2}
    )
    assert stamp_of(facts).inode == 5 - 2**63


def test_a_page_without_its_slug_that_becomes_a_link_leaves_nothing_said_of_it(bench: Bench) -> None:
    bench.write(a="# One\n")
    other = bench.root / "a.markdown"
    other.write_text("# Two\n")
    bench.build()
    assert bench.kinds() == {"a.markdown": ["slug_collision"]}
    other.unlink()
    other.symlink_to("a.md")
    bench.build()
    assert bench.kinds() == {"a.markdown": ["link_not_followed"]}
    assert bench.public_rows() == bench.fresh_rows()
    other.unlink()
    bench.build()
    assert bench.kinds() == {}
    assert bench.public_rows() == bench.fresh_rows()


def test_a_page_that_breaks_a_commit_costs_that_page_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for nth in range(9):
        (bench.root / f"{nth}.md").write_text(f"# Page {nth}")
    original = Store.apply

    def fail(store: Store, plan: Plan, **how: Any) -> Any:
        if any(upsert.page.path == "5.md" and upsert.page.sections for upsert in plan.upserts):
            raise OverflowError("of page 5")
        return original(store, plan, **how)

    monkeypatch.setattr(Store, "apply", fail)
    assert bench.build().upserted == 9
    assert len(bench.paths()) == 9
    assert bench.kinds() == {"5.md": ["parser_failed"]}


def test_a_page_whose_quick_reading_fails_is_counted_and_logged_and_is_a_page_like_others(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(text: str) -> None:
        raise TypeError("a fault of the quick way")

    monkeypatch.setattr(read, "read_quickly", fail)
    bench.write(a="# One\n\ntext\n")
    with capture_logs() as logged:
        assert bench.build().fallbacks == 1
    assert [(entry["event"], entry["path"], entry["reason"]) for entry in logged] == [
        ("page.read_slowly", "a.md", "TypeError: a fault of the quick way")
    ]
    assert bench.kinds() == {}
    assert bench.fetch("SELECT title, sections FROM v1_pages") == [("One", 1)]


def test_a_page_given_up_rests_and_is_tried_again_at_the_next_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.workers = 1
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 0.02)
    monkeypatch.setattr(workers, "INLINE_BYTES", 0)
    bench.write(long="# A\n\n" + "Some [words](b.md) of *prose*.\n\n" * 6_000)
    with bench.opened() as (indexer, _):
        indexer.apply(indexer.scan())
        assert indexer.given_up == ("long.md",)
        assert indexer.retry_at is not None
        assert indexer.scan().work.read == (), "it rests"
    assert bench.kinds() == {"long.md": ["parser_failed"]}
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 60.0)
    bench.build()
    assert bench.kinds() == {}
    assert bench.fetch("SELECT title FROM v1_pages") == [("A",)]


def test_every_spelling_of_a_name_is_a_page_of_its_own(bench: Bench) -> None:
    names = ["new\nline", "x" * 252, "\u00e9", "e\u0301", "Case", "case", "a b", "-", "%41", "日本語", "'\""]
    for name in names:
        (bench.root / f"{name}.md").write_text(f"# {len(name)}\n")
    bench.build()
    assert bench.paths() == sorted(f"{name}.md" for name in names)
    ((slugs,),) = bench.fetch("SELECT count(DISTINCT slug) FROM v1_pages")
    assert slugs == len(names)
    assert bench.public_rows() == bench.fresh_rows()


@pytest.mark.parametrize("follow", [False, True])
def test_nothing_that_links_lead_to_outside_gets_into_the_index(bench: Bench, follow: bool) -> None:
    linked_tree(bench.folder)
    os.rename(bench.folder / "root", bench.folder / "linked")
    bench.root.rmdir()
    os.rename(bench.folder / "linked", bench.root)
    bench.settings = TreeSettings(follow_symlinks=follow)
    for _ in range(2):
        bench.build()
        assert all(b"canary" not in path.read_bytes() for path in bench.db.parent.iterdir())
    assert ("insidedir/a.md" in bench.paths()) is follow


def test_progress_is_told_page_by_page(bench: Bench) -> None:
    bench.write(a="# A\n", b="# B\n")
    told: list[tuple[int, int]] = []
    with bench.opened() as (indexer, _):
        build_whole(indexer, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_a_build_leaves_the_wiki_as_it_was(bench: Bench) -> None:
    bench.write(a="# A\n", sub__b="# B\n")
    before = {path: path.stat() for path in sorted(bench.root.rglob("*"))}
    bench.build()
    after = {path: path.stat() for path in sorted(bench.root.rglob("*"))}
    assert [(path, facts.st_mtime_ns, facts.st_ctime_ns) for path, facts in after.items()] == [
        (path, facts.st_mtime_ns, facts.st_ctime_ns) for path, facts in before.items()
    ]


NAMES = ("a", "b", "README", "index", "sub/a", "sub/README", "sub", "a.md", "x (conflicted copy 1)")
TEXTS = (
    "# One\n\ntext [link](b.md)\n",
    "---\ntitle: Two\nalias: a\ntopics: [t/u]\n---\n\n## Deep\n\n[[a]] `src/x.py`\n",
    "",
    "plain\n",
    "# 日本語\n\n全文検索 #tag\n\n| a |\n|---|\n| b |\n",
    "# One\n\ntext\n\n# One\n\nother\n",
)


def change_something(bench: Bench, chance: random.Random) -> None:
    path = bench.root / f"{chance.choice(NAMES)}{chance.choice(('.md', '.markdown', '.MD'))}"
    path.parent.mkdir(exist_ok=True)
    action = chance.randrange(6)
    if action < 3:
        path.write_text(chance.choice(TEXTS))
    elif action == 3:
        path.unlink(missing_ok=True)
    elif action == 4 and path.exists():
        os.rename(path, path.with_name(f"{chance.choice('abc')}.md"))
    elif action == 5:
        (bench.root / ".gitignore").write_text(chance.choice(("", "a.md\n", "sub/\n", "!\n")))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_whatever_happened_an_updated_index_equals_one_made_from_nothing(tmp_path: Path, seed: int) -> None:
    bench, chance = Bench(tmp_path), random.Random(seed)
    for _ in range(12):
        for _ in range(chance.randrange(1, 6)):
            change_something(bench, chance)
        if chance.random() < 0.2:
            bench.options = replace(bench.options, identity_names=(chance.choice(("One", "Two")),))
        bench.build()
        assert bench.public_rows() == bench.fresh_rows()
    with bench.opened() as (_, store):
        assert store.check_integrity() == ()
