"""Slugs: made from the path alone, unique, and independent of the order of the files."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.page.slugs import (
    Slugged,
    affected_groups,
    assign_slugs,
    base_slug,
    claimed_by_losers,
    collision_diagnostic,
    path_stem,
)

NFD = unicodedata.normalize("NFD", "é")


@pytest.mark.parametrize(
    "path, slug, stem",
    [
        ("a.md", "a", "a"),
        ("dir/Sub Page.markdown", "dir/Sub Page", "Sub Page"),
        ("dir/README.md", "dir", "dir"),
        ("dir/ReadMe.MD", "dir", "dir"),
        ("dir/sub/index.md", "dir/sub", "sub"),
        ("dir/_index.md", "dir", "dir"),
        ("README.md", "README", "README"),
        ("index.md", "index", "index"),
        ("v1.2.md", "v1.2", "v1.2"),
        (f"caf{NFD}.md", "café", "café"),
        ("dir/readme-first.md", "dir/readme-first", "readme-first"),
    ],
)
def test_a_slug_comes_from_the_path(path: str, slug: str, stem: str) -> None:
    assert (base_slug(path), path_stem(path)) == (slug, stem)


def test_the_page_of_a_folder_wins_before_a_file_of_its_name() -> None:
    order = ["d/README.md", "d/readme.markdown", "d/index.md", "d/_index.md", "d.md", "d.markdown", "d.text"]
    for count in range(1, len(order) + 1):
        assigned = assign_slugs(reversed(order[-count:]))
        assert assigned[order[-count]] == Slugged("d")
        for loser in order[len(order) - count + 1 :]:
            assert assigned[loser] == Slugged(loser, order[-count])


def test_a_tie_goes_by_the_bytes_of_the_path() -> None:
    assert assign_slugs(["a.MD", "a.md"])["a.MD"] == Slugged("a")
    assigned = assign_slugs(["d/readme.md", "d/README.md"])
    assert assigned["d/readme.md"] == Slugged("d/readme.md", "d/README.md")


def test_two_spellings_of_one_name_both_have_a_slug() -> None:
    assigned = assign_slugs(["é.md", f"{NFD}.md"])
    assert assigned[f"{NFD}.md"] == Slugged("é")
    assert assigned["é.md"] == Slugged("é.md", f"{NFD}.md")


def test_a_loser_never_takes_the_slug_of_a_page_that_is_named_so() -> None:
    assigned = assign_slugs(["a.md", "a/README.md", "a.md.md"])
    assert assigned == {
        "a/README.md": Slugged("a"),
        "a.md.md": Slugged("a.md"),
        "a.md": Slugged("/a.md", "a/README.md"),
    }


def test_a_collision_names_the_winner_and_what_to_do() -> None:
    found = collision_diagnostic(Slugged("a.md", "a/README.md"), "a")
    assert found.kind == "slug_collision"
    assert "'a/README.md'" in found.message
    assert "rename" in found.message


NAMES = st.sampled_from(["a", "a.md", "b", "README", "index", "_index", "é", NFD, "a.md.md", "readme"])
PATHS = st.builds(
    lambda folders, name, extension: "/".join([*folders, f"{name}.{extension}"]),
    st.lists(st.sampled_from(["a", "a.md", "b", "é", NFD]), max_size=2),
    NAMES,
    st.sampled_from(["md", "markdown", "MD"]),
)


@given(st.lists(PATHS, unique=True, max_size=12))
def test_slugs_are_unique_and_do_not_depend_on_order(paths: list[str]) -> None:
    assigned = assign_slugs(paths)
    assert len({each.slug for each in assigned.values()}) == len(paths)
    assert assign_slugs(sorted(paths, reverse=True)) == assigned


@given(st.lists(PATHS, unique=True, min_size=1, max_size=12))
def test_settling_the_affected_groups_gives_what_settling_all_gives(paths: list[str]) -> None:
    coming, before = paths[0], paths[1:]
    affected = set(affected_groups(coming))
    settled = [path for path in paths if base_slug(path) in affected]
    known = claimed_by_losers(settled)
    partial = assign_slugs(settled + [each for each in paths if base_slug(each) in known - affected])
    whole, old = assign_slugs(paths), assign_slugs(before)
    for path in settled:
        assert partial[path] == whole[path]
    for path in before:
        assert whole[path] == old[path] or path in settled
