"""What a page, a section or a topic may be called, and what is said when nothing is called that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.answers.pages import require_target
from wikiq.errors import UnknownPageError, UnknownSectionError, UnknownTopicError, UsageError
from wikiq.index.database import Snapshot, open_database
from wikiq.query.names import require_page, require_section, require_topic


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


def test_of_many_pages_of_one_name_some_are_listed(tmp_path: Path) -> None:
    pages = [SamplePage(f"{folder} x/setup.md", "# A\n") for folder in "abcd"]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    with opened.snapshot() as snapshot, pytest.raises(UsageError) as raised:
        require_page(snapshot, "setup.md")
    opened.close()
    assert str(raised.value) == (
        "setup.md: means 4 pages; give the path of one: 'a x/setup.md', 'b x/setup.md', 'c x/setup.md', …"
    )


def test_a_file_name_of_several_pages_is_refused_with_their_paths(snapshot: Snapshot) -> None:
    with pytest.raises(
        UsageError, match=r"means 2 pages; give the path of one: old/setup.md, guide/setup.md"
    ):
        require_page(snapshot, "setup.md")


@pytest.mark.parametrize(
    "name, near",
    [
        ("run-lifecicle", "run-lifecycle"),
        ("guide/setpu", "guide/setup"),
        ("run-lifecicle.md", "run-lifecycle"),
        ("lifecycle", "run-lifecycle"),
    ],
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


@pytest.mark.parametrize(
    "name",
    [
        "cancellation",
        "Cancellation",
        "CANCELLATION",
        "0002",
        "Run Lifecycle > Cancellation",
        "run lifecycle>CANCELLATION",
    ],
)
def test_a_section_goes_by_anchor_number_heading_and_path(snapshot: Snapshot, name: str) -> None:
    page = require_page(snapshot, "run-lifecycle")
    assert require_section(snapshot, page, name).ordinal == 2


def test_a_missed_section_names_what_is_near_as_it_can_be_typed(snapshot: Snapshot) -> None:
    page = require_page(snapshot, "run-lifecycle")
    with pytest.raises(UnknownSectionError, match="did you mean run-lifecycle#cancellation"):
        require_section(snapshot, page, "cancelation")
    for path in ("Cancellation > Run Lifecycle", "Nowhere > Cancellation", ">"):
        with pytest.raises(UnknownSectionError):
            require_section(snapshot, page, path)


def test_a_path_of_headings_may_begin_anywhere_and_means_a_section_before_an_introduction(
    tmp_path: Path,
) -> None:
    text = "Before.\n\n# Page\n\n## Restore\n\n### One table\n\n## Old\n\n### One table\n"
    opened = open_database(str(write_sample(tmp_path, [SamplePage("page.md", text)]).db))
    with opened.snapshot() as snapshot:
        page = require_page(snapshot, "page")
        for path, ordinal in (("Restore > One table", 3), ("Page > Old > One table", 5), ("Page > Old", 4)):
            assert require_section(snapshot, page, path).ordinal == ordinal
    opened.close()


@pytest.mark.parametrize(
    "name, section",
    [
        ("run-lifecycle.md:1", "0000"),
        ("run-lifecycle.md:2", "0000"),
        ("run-lifecycle.md:7", "0002"),
        ("run-lifecycle:10", "0002"),
        ("how runs live:13", "0003"),
        ("run-lifecycle.md#retry", "retry"),
        ("run-lifecycle", ""),
    ],
)
def test_a_place_as_searches_print_it_is_the_section_that_holds_the_line(
    snapshot: Snapshot, name: str, section: str
) -> None:
    page, found = require_target(snapshot, name)
    assert (page.path, found) == ("run-lifecycle.md", section)


def test_a_line_after_the_last_is_in_no_section(snapshot: Snapshot) -> None:
    with pytest.raises(UnknownSectionError, match=r"run-lifecycle.md:14: the last line with text is 13; see"):
        require_target(snapshot, "run-lifecycle.md:14")
    with pytest.raises(UnknownPageError, match=r"nowhere.md: there is no such page"):
        require_target(snapshot, "nowhere.md:14")


def test_what_is_before_the_first_section_is_the_page_and_a_name_goes_before_a_line(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {"step.md": "---\ntitle: Step\n---\n# Step\n", "other.md": "# Step:1\n"})
    opened = open_database(str(wiki.index.db))
    with opened.snapshot() as snapshot:
        assert [require_target(snapshot, f"step.md:{line}")[1] for line in (1, 4)] == ["", "0000"]
        assert require_target(snapshot, "step:1")[0].path == "other.md"
    opened.close()


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
