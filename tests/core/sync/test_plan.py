"""A batch becomes one transaction: slugs settled among neighbours, nothing said twice or lost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.model import Diagnostic, ProjectionOptions, Stamp
from indexerd.core.page.slugs import assign_slugs, base_slug
from indexerd.core.project import project_page
from indexerd.core.sync.model import IndexedPage, PathDiagnostics, Plan, Touch
from indexerd.core.sync.plan import (
    Gathered,
    Outcome,
    Projected,
    Unchanged,
    Unread,
    Vanished,
    compose_plan,
)

STAMP = Stamp(1, 2, 3, 4, 5)
LATER = Stamp(1, 2, 3, 5, 6)
CLOSED = Diagnostic("unreadable", "closed")


def projected(path: str, stamp: Stamp = STAMP) -> Projected:
    return Projected(project_page(b"text\n", path, ProjectionOptions()), stamp, racy=False)


@dataclass(slots=True)
class Model:
    """An index as far as plans go: pages and what is said of paths."""

    pages: dict[str, IndexedPage] = field(default_factory=dict)
    said: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)

    def fetch_indexed(self, paths: Collection[str]) -> dict[str, IndexedPage]:
        return {path: self.pages[path] for path in paths if path in self.pages}

    def fetch_neighbours(self, base_slugs: Collection[str]) -> set[str]:
        return {path for path in self.pages if base_slug(path) in base_slugs}

    def fetch_diagnostics(self, prefixes: Collection[str]) -> dict[str, tuple[Diagnostic, ...]]:
        return {path: self.said[path] for path in prefixes if path in self.said}

    def plan(self, gathered: Gathered) -> Plan:
        return compose_plan(gathered, self, projection="p")

    def apply(self, *outcomes: Outcome, gone: tuple[str, ...] = ()) -> Plan:
        """Do what the store does, and hold it to a unique slug a page."""
        plan = self.plan(Gathered(outcomes, gone))
        for path in (*plan.deletes, *(upsert.page.path for upsert in plan.upserts)):
            self.said.pop(path, None)
        for path in plan.deletes:
            del self.pages[path]
        for upsert in plan.upserts:
            page = upsert.page
            self.pages[page.path] = IndexedPage(page.path, upsert.slug, upsert.stamp, upsert.racy, "h", "p")
        for path, slug in plan.renamed:
            old = self.pages[path]
            self.pages[path] = IndexedPage(path, slug, old.stamp, old.racy, old.content_hash, old.projection)
        for said in plan.diagnostics:
            self.said[said.path] = said.diagnostics
            if not said.diagnostics:
                del self.said[said.path]
        slugs = [page.slug for page in self.pages.values()]
        assert len(set(slugs)) == len(slugs)
        return plan


def test_a_page_that_comes_takes_a_slug_and_its_rival_is_renamed_and_told_in_the_same_plan() -> None:
    index = Model()
    index.apply(projected("guide.md"))
    plan = index.apply(projected("guide/README.md"))
    assert [(upsert.page.path, upsert.slug) for upsert in plan.upserts] == [("guide/README.md", "guide")]
    assert plan.renamed == (("guide.md", "guide.md"),)
    (told,) = plan.diagnostics
    assert (told.path, told.diagnostics[0].kind) == ("guide.md", "slug_collision")
    assert "guide/README.md" in told.diagnostics[0].message


def test_when_the_winner_goes_the_other_page_gets_its_slug_back_and_is_told_no_more() -> None:
    index = Model()
    index.apply(projected("guide.md"), projected("guide/README.md"))
    plan = index.apply(gone=("guide/README.md",))
    assert plan.deletes == ("guide/README.md",)
    assert plan.renamed == (("guide.md", "guide"),)
    assert plan.diagnostics == (PathDiagnostics("guide.md", ()),)


def test_a_page_named_like_the_slug_of_a_loser_moves_it_on() -> None:
    index = Model()
    index.apply(projected("a.md"), projected("a/README.md"))
    assert index.pages["a.md"].slug == "a.md"
    index.apply(projected("a.md.md"))
    assert index.pages["a.md.md"].slug == "a.md"
    assert index.pages["a.md"].slug not in {"a", "a.md"}
    index.apply(gone=("a.md.md",))
    assert index.pages["a.md"].slug == "a.md"


def test_an_edit_of_a_page_that_lost_its_slug_does_not_lose_what_is_said_of_it() -> None:
    index = Model()
    index.apply(projected("a.md"), projected("a.markdown"))
    said = index.said["a.markdown"]
    plan = index.apply(projected("a.markdown", LATER))
    assert plan.renamed == ()
    assert index.said["a.markdown"] == said


def test_a_page_that_cannot_be_read_keeps_its_rows_and_says_why_until_it_can() -> None:
    index = Model()
    index.apply(projected("a.md"))
    plan = index.apply(Unread("a.md", CLOSED))
    assert plan == Plan(diagnostics=(PathDiagnostics("a.md", (CLOSED,)),), projection="p")
    assert index.apply(Unread("a.md", CLOSED)) == Plan(projection="p")
    plan = index.apply(Unchanged("a.md", LATER, racy=False))
    assert plan.touches == (Touch("a.md", LATER, racy=False),)
    assert plan.diagnostics == (PathDiagnostics("a.md", ()),)


def test_equal_bytes_under_an_equal_stamp_write_nothing() -> None:
    index = Model()
    index.apply(projected("a.md"))
    assert index.apply(Unchanged("a.md", STAMP, racy=False)) == Plan(projection="p")


def test_a_page_that_vanished_before_it_was_read_stays_until_a_scan_says_that_it_is_gone() -> None:
    index = Model()
    index.apply(projected("a.md"))
    assert index.apply(Vanished("a.md"), Vanished("never.md")) == Plan(projection="p")
    assert index.apply(gone=("a.md",)).deletes == ("a.md",)


NAMES = ("a.md", "a.markdown", "A.md", "a.md.md", "README.md", "index.md", "_index.md", "a.md.md.md")
FILES = st.sampled_from([f"{folder}{name}" for folder in ("", "a/", "a.md/") for name in NAMES])


@given(st.lists(st.tuples(st.booleans(), st.sets(FILES, max_size=4)), max_size=8))
def test_slugs_depend_on_the_pages_there_are_and_not_on_how_they_came(
    steps: list[tuple[bool, set[str]]],
) -> None:
    index = Model()
    for comes, paths in steps:
        if comes:
            index.apply(*(projected(path) for path in sorted(paths)))
        else:
            index.apply(gone=tuple(sorted(paths & index.pages.keys())))
    expected = assign_slugs(index.pages)
    assert {path: page.slug for path, page in index.pages.items()} == {
        path: slugged.slug for path, slugged in expected.items()
    }
    assert index.said.keys() == {path for path, slugged in expected.items() if slugged.winner is not None}
