"""Every filter, alone and together, over the sample wiki."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.errors import UnknownPageError, UnknownTopicError, UsageError
from wikiq.index.database import Snapshot
from wikiq.model.request import NO_FILTERS, Filters
from wikiq.query.filters import checked_filters, clean_mention, page_condition

ALL = {"run-lifecycle", "paths", "guide", "guide/setup", "old/setup", "notes/short"}


def passing(snapshot: Snapshot, filters: Filters) -> set[str]:
    condition, values = page_condition(checked_filters(snapshot, filters))
    return {row[0] for row in snapshot.rows(f"SELECT slug FROM v1_pages p WHERE {condition}", values)}


@pytest.mark.parametrize(
    "filters, slugs",
    [
        (NO_FILTERS, ALL),
        (Filters(topics=("Runs",)), {"run-lifecycle"}),
        (Filters(topics=("architecture",)), {"run-lifecycle", "paths"}),
        (Filters(topics=("architecture", "runs")), {"run-lifecycle"}),
        (Filters(topics=("howto",)), {"guide"}),
        (Filters(under=("howto",)), {"guide", "guide/setup"}),
        (Filters(under=("architecture",)), {"run-lifecycle", "paths"}),
        (Filters(topics=("architecture",), not_topics=("runs",)), {"paths"}),
        (Filters(not_topics=("architecture", "howto")), {"guide/setup", "old/setup", "notes/short"}),
        (Filters(mentions=("SRC/app/Process.py",)), {"run-lifecycle", "paths"}),
        (Filters(mentions=("./src//app/x/../process.py",)), {"run-lifecycle", "paths"}),
        (Filters(mentions=("src/app/runs/deep/worker.py",)), {"run-lifecycle"}),
        (Filters(mentions=("src/app/runs",)), {"run-lifecycle"}),
        (Filters(mentions=("src/app/",)), {"run-lifecycle", "paths"}),
        (Filters(mentions=("src\\app\\",)), {"run-lifecycle", "paths"}),
        (Filters(mentions=("src/app",)), set()),
        (Filters(mentions=("src/app/process.py/",)), {"run-lifecycle", "paths"}),
        (Filters(mentions=("src/ap",)), set()),
        (Filters(mentions=("src/app/process.py", "src/app/runs/")), {"run-lifecycle"}),
        (Filters(paths=("guide",)), {"guide", "guide/setup"}),
        (Filters(paths=("guide/",)), {"guide", "guide/setup"}),
        (Filters(paths=("guid*x",)), set()),
        (Filters(paths=("*/setup.md",)), {"guide/setup", "old/setup"}),
        (Filters(paths=("paths.md", "old/*")), {"paths", "old/setup"}),
        (Filters(since="2026-02-01T00:00:00.000Z"), {"run-lifecycle", "paths"}),
        (Filters(until="2026-01-01T00:00:00.000Z"), {"old/setup"}),
        (Filters(since="2026-01-02T00:00:00.000Z", until="2026-02-15T00:00:00.000Z"), {"guide", "paths"}),
        (Filters(links_to=("Run Lifecycle",)), {"guide"}),
        (Filters(linked_by=("run-lifecycle.md",)), {"paths"}),
        (Filters(links_to=("paths",), topics=("runs",)), {"run-lifecycle"}),
    ],
)
def test_a_filter_lets_through_what_it_says(snapshot: Snapshot, filters: Filters, slugs: set[str]) -> None:
    assert passing(snapshot, filters) == slugs


@pytest.mark.parametrize(
    "filters, error",
    [
        (Filters(topics=("nope",)), UnknownTopicError),
        (Filters(not_topics=("nope",)), UnknownTopicError),
        (Filters(links_to=("nope",)), UnknownPageError),
        (Filters(paths=("guid",)), UnknownPageError),
        (Filters(mentions=("../secret.py",)), UsageError),
        (Filters(mentions=("a/../../b",)), UsageError),
        (Filters(mentions=("./",)), UsageError),
    ],
)
def test_what_cannot_hold_for_any_page_is_said(
    snapshot: Snapshot, filters: Filters, error: type[Exception]
) -> None:
    with pytest.raises(error):
        checked_filters(snapshot, filters)


@given(st.text(alphabet="ab./\\ÄÉ ", max_size=20))
def test_a_cleaned_mention_is_below_the_repository_and_cleaning_changes_it_no_more(path: str) -> None:
    try:
        cleaned = clean_mention(path)
    except UsageError:
        return
    assert clean_mention(cleaned) == cleaned
    assert not cleaned.startswith("/")
    assert not {"", ".", ".."} & set(cleaned.removesuffix("/").split("/"))


@pytest.mark.parametrize(
    "typed, meant",
    [("guid", "guide"), ("Guide/setup.md", "guide/setup.md"), ("runlifecycle.md", "run-lifecycle.md")],
)
def test_a_path_that_no_page_has_is_told_with_the_nearest_folder_or_page(
    snapshot: Snapshot, typed: str, meant: str
) -> None:
    with pytest.raises(UnknownPageError, match=rf"did you mean {meant}"):
        checked_filters(snapshot, Filters(paths=(typed,)))
