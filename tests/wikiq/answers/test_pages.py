"""The services beside the search, over the sample wiki."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.wikiq.asking import answer
from tests.wikiq.sample_index import SampleIndex
from wikiq.answers.changes import changes
from wikiq.answers.pages import list_pages, page, topics
from wikiq.answers.status import status
from wikiq.errors import UnknownPageError, UnknownSectionError, UnknownTopicError
from wikiq.index.database import Database, open_database
from wikiq.index.page_status import page_status, read_regular
from wikiq.model.request import Filters


def test_pages_come_newest_first_then_by_slug(database: Database) -> None:
    found = answer(database, list_pages)
    assert [hit.slug for hit in found.hits] == [
        "run-lifecycle",
        "paths",
        "guide",
        "guide/setup",
        "notes/short",
        "old/setup",
    ]
    assert found.total == 6
    assert found.policy is None


def test_a_limit_cuts_the_hits_but_not_the_total(database: Database) -> None:
    found = answer(database, list_pages, Filters(under=("architecture",)), limit=1)
    assert [hit.slug for hit in found.hits] == ["run-lifecycle"]
    assert found.hits[0].topics == ("architecture", "runs")
    assert found.total == 2


def test_the_number_of_statements_does_not_grow_with_the_pages(database: Database) -> None:
    counts = []
    for limit in (1, 6):
        ran: list[str] = []
        database._connection.set_trace_callback(ran.append)
        answer(database, list_pages, limit=limit)
        database._connection.set_trace_callback(None)
        counts.append(len(ran))
    assert counts[0] == counts[1]


def test_a_whole_page_is_its_file_byte_for_byte(database: Database, shared_index: SampleIndex) -> None:
    for slug in ("run-lifecycle", "guide", "notes/short"):
        view = answer(database, page, slug)
        assert view.source.encode() == (shared_index.root / view.path).read_bytes()
        assert view.section is None
        assert view.status == "ok"


def test_a_section_is_its_lines_of_the_file(database: Database, shared_index: SampleIndex) -> None:
    view = answer(database, page, "run-lifecycle#cancellation")
    assert view.section is not None
    lines = (shared_index.root / view.path).read_text("utf-8").splitlines(keepends=True)
    shown = "".join(lines[view.section.start_line - 1 : view.section.end_line])
    assert view.source.startswith(shown)
    assert view.section.heading_path == ("Run Lifecycle", "Cancellation")


@pytest.mark.parametrize(
    "name, error",
    [("nope", UnknownPageError), ("nope#x", UnknownPageError), ("paths#nope", UnknownSectionError)],
)
def test_what_is_not_there_is_said(database: Database, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        answer(database, page, name)


def test_a_page_whose_name_holds_a_hash_is_found_by_it(index: SampleIndex) -> None:
    index.alter("UPDATE page SET slug = 'c#' WHERE slug = 'paths'")
    opened = open_database(str(index.db))
    assert answer(opened, page, "c#").path == "paths.md"
    assert answer(opened, page, "c##windows").section is not None
    opened.close()


def test_a_file_is_held_against_what_was_indexed(index: SampleIndex) -> None:
    opened = open_database(str(index.db))

    def statuses() -> dict[str, str]:
        return {hit.slug: hit.status for hit in answer(opened, list_pages).hits}

    assert set(statuses().values()) == {"ok"}
    (index.root / "paths.md").write_text("# Other\n", "utf-8")
    (index.root / "guide" / "setup.md").unlink()
    same = (index.root / "notes" / "short.md").read_bytes()
    (index.root / "notes" / "short.md").write_bytes(same)  # touched: another stamp, the same bytes
    edited = index.root / "old" / "setup.md"
    edited.write_bytes(edited.read_bytes().replace(b"harder", b"easier"))  # as long as before
    os.utime(edited, ns=(1, 1))
    index.root.joinpath("guide/README.md").unlink()
    index.root.joinpath("guide/README.md").mkdir()
    assert statuses() == {
        "run-lifecycle": "ok",
        "paths": "changed",
        "guide": "gone",
        "guide/setup": "gone",
        "notes/short": "ok",
        "old/setup": "changed",
    }
    assert answer(opened, page, "paths").status == "changed"
    opened.close()


@pytest.mark.parametrize("path", ["../out.md", "/etc/passwd", "a/../../out.md"])
def test_a_path_out_of_the_root_is_never_looked_at(shared_index: SampleIndex, path: str) -> None:
    outside = shared_index.root.parent / "out.md"
    outside.touch()
    stat = outside.stat()
    root = str(shared_index.root)
    assert page_status(root, path, size=0, mtime_ns=stat.st_mtime_ns, content_hash=None) == "gone"


def test_only_a_regular_file_is_read_and_nobody_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_bytes(b"12345")
    assert read_regular(str(tmp_path / "page.md"), 4) == b"1234"
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("pipe.md", ".", "gone.md", "/dev/zero"):
        with pytest.raises(OSError):
            read_regular(str(tmp_path / name), 4)


def test_topics_are_counted_alone_and_with_those_below(database: Database) -> None:
    counted = {row.topic: (row.pages, row.pages_under, row.parents) for row in answer(database, topics)}
    assert counted == {
        "architecture": (2, 2, ()),
        "howto": (1, 2, ()),
        "howto/install": (1, 1, ("howto",)),
        "runs": (1, 1, ("architecture",)),
    }


def test_one_topic_comes_with_those_right_below_it(database: Database) -> None:
    assert [row.topic for row in answer(database, topics, "HOWTO")] == ["howto", "howto/install"]
    with pytest.raises(UnknownTopicError):
        answer(database, topics, "nope")


def test_the_feed_gives_what_came_after_a_generation(index: SampleIndex) -> None:
    opened = open_database(str(index.db))
    assert len(answer(opened, changes, 0).rows) == 6
    assert answer(opened, changes, 1).rows == ()
    index.alter("INSERT INTO commits VALUES (2, '2026-02-02T00:00:00.000Z')")
    index.alter("INSERT INTO change VALUES (2, 'paths', 'delete', 'paths.md', NULL)")
    index.alter("UPDATE meta SET value = 2 WHERE key = 'generation'")
    index.alter("UPDATE meta SET value = 1 WHERE key = 'changes_floor'")
    found = answer(opened, changes, 1)
    assert [(row.op, row.slug, row.committed_at) for row in found.rows] == [
        ("delete", "paths", "2026-02-02T00:00:00.000Z")
    ]
    assert (found.generation, found.floor) == (2, 1)
    opened.close()


def test_the_status_counts_what_is_there_and_what_is_wrong(index: SampleIndex) -> None:
    for nth, kind in enumerate(("too_large", "too_large", "invalid_utf8")):
        index.alter(
            "INSERT INTO diagnostic(path, origin, nth, kind, message, since_generation)"
            " VALUES ('x', 0, ?, ?, '', 1)",
            nth,
            kind,
        )
    opened = open_database(str(index.db))
    found = answer(opened, status)
    assert (found.pages, found.sections, found.problems) == (6, 11, 3)
    assert found.problem_kinds == {"invalid_utf8": 1, "too_large": 2}
    assert found.projection_current
    opened.close()
    index.alter("UPDATE meta SET value = 999 WHERE key = 'projection_version'")
    opened = open_database(str(index.db))
    assert not answer(opened, status).projection_current
    opened.close()
