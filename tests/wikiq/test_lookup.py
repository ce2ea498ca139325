"""What a page, a section or a topic may be called, and what is said when nothing is called that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.database import Snapshot, open_database
from wikiq.errors import UnknownPageError, UnknownSectionError, UnknownTopicError, UsageError
from wikiq.lookup import require_page, require_section, require_topic


@pytest.mark.parametrize(
    "name, path",
    [
        ("run-lifecycle", "run-lifecycle.md"),
        ("run-lifecycle.md", "run-lifecycle.md"),
        ("./run-lifecycle.md", "run-lifecycle.md"),
        ("RUN-LIFECYCLE", "run-lifecycle.md"),
        ("how runs live", "run-lifecycle.md"),
        ("path  normalization", "paths.md"),
        ("guide", "guide/README.md"),
        ("guide/", "guide/README.md"),
        ("guide/README.md", "guide/README.md"),
        ("short", "notes/short.md"),
    ],
)
def test_a_page_goes_by_slug_path_title_alias_and_unique_file_name(
    snapshot: Snapshot, name: str, path: str
) -> None:
    assert require_page(snapshot, name).path == path


def test_a_path_may_start_from_the_current_folder_or_from_the_top(snapshot: Snapshot) -> None:
    guide = f"{snapshot.root}/guide"
    assert require_page(snapshot, "setup.md", folder=guide).path == "guide/setup.md"
    assert require_page(snapshot, "../paths.md", folder=guide).path == "paths.md"
    assert require_page(snapshot, f"{guide}/setup.md").path == "guide/setup.md"


def test_a_file_name_of_several_pages_is_refused_with_their_paths(snapshot: Snapshot) -> None:
    with pytest.raises(
        UsageError, match=r"means 2 pages; give the path of one: old/setup.md, guide/setup.md"
    ):
        require_page(snapshot, "setup.md")


@pytest.mark.parametrize(
    "name, near",
    [("run-lifecicle", "run-lifecycle"), ("guide/setpu", "guide/setup"), ("lifecycle", "run-lifecycle")],
)
def test_a_miss_names_what_is_near(snapshot: Snapshot, name: str, near: str) -> None:
    with pytest.raises(UnknownPageError, match=f"did you mean .*{near}"):
        require_page(snapshot, name)


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../../etc/passwd", "zzzzzzzz", "'; DROP TABLE page", "\0"]
)
def test_what_is_no_page_is_never_found(snapshot: Snapshot, name: str) -> None:
    with pytest.raises(UnknownPageError):
        require_page(snapshot, name, folder=snapshot.root)


@pytest.mark.parametrize("name", ["cancellation", "Cancellation", "CANCELLATION", "0002"])
def test_a_section_goes_by_anchor_number_and_heading(snapshot: Snapshot, name: str) -> None:
    page = require_page(snapshot, "run-lifecycle")
    assert require_section(snapshot, page, name).ordinal == 2


def test_a_missed_section_names_what_is_near(snapshot: Snapshot) -> None:
    page = require_page(snapshot, "run-lifecycle")
    with pytest.raises(UnknownSectionError, match="did you mean cancellation"):
        require_section(snapshot, page, "cancelation")


@pytest.mark.parametrize("typed", ["runs", " Runs ", "#runs", "RUNS"])
def test_a_topic_is_found_in_any_case(snapshot: Snapshot, typed: str) -> None:
    assert require_topic(snapshot, typed) == "runs"


def test_a_missed_topic_names_what_is_near(snapshot: Snapshot) -> None:
    with pytest.raises(UnknownTopicError, match="did you mean architecture"):
        require_topic(snapshot, "architektur")


def test_an_exact_slug_goes_before_names_that_fold_to_it(tmp_path: Path) -> None:
    pages = [SamplePage("Plan.md", "# One\n"), SamplePage("plan.md", "# Two\n")]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    with opened.snapshot() as snapshot:
        assert require_page(snapshot, "plan").path == "plan.md"
        assert require_page(snapshot, "Plan").path == "Plan.md"
        with pytest.raises(UsageError, match="means 2 pages"):
            require_page(snapshot, "PLAN")
    opened.close()
