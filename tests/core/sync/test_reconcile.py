"""What a scan means: read, gone, kept, said; in tables of stamps, without a disk."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.places import is_below
from indexerd.core.model import Diagnostic, Stamp
from indexerd.core.sync.confirmation import GUARDED_DELETIONS, needs_confirmation
from indexerd.core.sync.model import IndexedPage
from indexerd.core.sync.paths import outermost
from indexerd.core.sync.reconcile import RACY_NS, UNREADABLE, Scan, ToRead, Work, is_racy, plan_scan

SECOND = 1_000_000_000
NOW = 1_000 * SECOND
STAMP = Stamp(device=1, inode=2, size=3, mtime_ns=4, ctime_ns=5)
CLOSED = (Diagnostic(UNREADABLE, "closed"),)
LOST = (Diagnostic("slug_collision", "another page has it"),)


def page(path: str, stamp: Stamp = STAMP, *, racy: bool = False, projection: str = "now") -> IndexedPage:
    return IndexedPage(path, path.removesuffix(".md"), stamp, racy, "hash", projection)


def scan(
    *paths: str,
    stamp: Stamp = STAMP,
    unseen: tuple[str, ...] = (),
    diagnostics: dict[str, tuple[Diagnostic, ...]] | None = None,
) -> Scan:
    stamps = dict.fromkeys(paths, stamp)
    return Scan(("",), "1:1:1", NOW, stamps, unseen, diagnostics or {})


def work(looked: Scan, *pages: IndexedPage, known: dict[str, tuple[Diagnostic, ...]] | None = None) -> Work:
    indexed = {found.path: found for found in pages}
    return plan_scan(looked, indexed, known or {}, projection="now", max_page_bytes=100)


def test_an_equal_stamp_is_an_unchanged_page() -> None:
    assert work(scan("a.md"), page("a.md")) == Work()


@pytest.mark.parametrize("field", ["device", "inode", "size", "mtime_ns", "ctime_ns"])
@pytest.mark.parametrize("difference", [-1, 1])
def test_any_other_stamp_is_read_whether_newer_or_older(field: str, difference: int) -> None:
    other = STAMP._replace(**{field: getattr(STAMP, field) + difference})
    assert work(scan("a.md", stamp=other), page("a.md")).read == (ToRead("a.md", "hash", other.size),)


def test_a_new_page_is_read_and_projected() -> None:
    assert work(scan("a.md")).read == (ToRead("a.md", None, 3),)


def test_a_racy_stamp_is_hashed_again() -> None:
    assert work(scan("a.md"), page("a.md", racy=True)).read == (ToRead("a.md", "hash", 3),)


def test_another_projection_projects_even_equal_bytes() -> None:
    assert work(scan("a.md"), page("a.md", projection="old")).read == (ToRead("a.md", None, 3),)


@pytest.mark.parametrize(
    "size, content_hash, is_read", [(100, "h", 0), (101, "h", 1), (101, None, 0), (100, None, 1)]
)
def test_a_page_is_read_when_the_size_limit_has_moved_past_it(
    size: int, content_hash: str | None, is_read: int
) -> None:
    stamp = STAMP._replace(size=size)
    indexed = page("a.md", stamp)._replace(content_hash=content_hash)
    assert len(work(scan("a.md", stamp=stamp), indexed).read) == is_read


def test_a_page_that_is_not_there_is_gone() -> None:
    assert work(scan("a.md"), page("a.md"), page("b.md")).gone == ("b.md",)


def test_what_could_not_be_looked_at_keeps_its_rows() -> None:
    looked = scan(unseen=("closed", "file.md"), diagnostics={"closed": CLOSED, "file.md": CLOSED})
    found = work(looked, page("closed/a.md"), page("closed/sub/b.md"), page("file.md"), page("closedish.md"))
    assert found.gone == ("closedish.md",)
    assert found.said == {"closed": CLOSED, "file.md": CLOSED}


def test_what_is_said_of_a_path_is_only_reported_when_it_changes() -> None:
    looked = scan(diagnostics={"x.md": CLOSED})
    assert work(looked, known={"x.md": CLOSED}).said == {}
    assert work(looked, known={"x.md": (*CLOSED, *LOST)}).said == {}
    assert work(looked, known={"x.md": LOST}).said == {"x.md": CLOSED}
    assert work(scan(), known={"x.md": CLOSED, "y.md": LOST}).said == {"x.md": ()}


def test_nothing_is_concluded_about_paths_outside_the_covers() -> None:
    looked = replace(scan("sub/a.md"), covers=("sub",))
    assert work(looked, known={"elsewhere.md": CLOSED}).said == {}


def test_a_page_that_could_not_be_read_is_tried_again_with_each_scan() -> None:
    assert work(scan("a.md"), page("a.md"), known={"a.md": CLOSED}).read == (ToRead("a.md", "hash", 3),)
    assert work(scan("a.md"), page("a.md"), known={"a.md": LOST}).read == ()


def test_pages_come_in_the_byte_order_of_their_paths() -> None:
    names = ("ä.md", "b.md", "\U0001f600.md", "\uffee.md", "B.md", "a/b.md", "a.md")
    expected = ["B.md", "a.md", "a/b.md", "b.md", "ä.md", "\uffee.md", "\U0001f600.md"]
    assert [wanted.path for wanted in work(scan(*names)).read] == expected
    assert list(work(scan(), *map(page, names)).gone) == expected


@pytest.mark.parametrize(
    "mtime, ctime, racy",
    [
        (NOW - RACY_NS - 1, NOW - RACY_NS - 1, False),
        (NOW - RACY_NS, 0, True),
        (0, NOW - RACY_NS, True),
        (NOW + RACY_NS, 0, True),
        (NOW + RACY_NS + 1, 0, False),  # touch -d 2100: the next write sets it back
        (0, NOW + 3600 * SECOND, True),  # the clock was set back: nothing is proven until it catches up
        (0, 0, False),
    ],
)
def test_a_young_stamp_proves_nothing(mtime: int, ctime: int, racy: bool) -> None:
    assert is_racy(STAMP._replace(mtime_ns=mtime, ctime_ns=ctime), NOW) is racy


@pytest.mark.parametrize(
    "total, gone, confirmed",
    [
        (100, GUARDED_DELETIONS - 1, False),
        (39, 20, True),
        (40, 20, False),
        (41, 21, True),
        (3, 3, True),
        (3, 2, False),
        (0, 0, False),
        (10, 0, False),
    ],
)
def test_a_surprising_number_of_deletions_needs_a_second_look(total: int, gone: int, confirmed: bool) -> None:
    assert needs_confirmation(total, gone) is confirmed


PATHS = st.lists(st.sampled_from("ab"), max_size=3).map("/".join)


@given(st.sets(PATHS))
def test_covers_without_those_below_others_cover_the_same(covers: set[str]) -> None:
    kept = outermost(covers)
    assert set(kept) <= covers
    assert all(any(is_below(cover, above) for above in kept) for cover in covers)
    assert not any(is_below(one, other) for one in kept for other in kept if one != other)
