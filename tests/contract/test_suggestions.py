"""What was probably meant by a name that is none: pages, topics, options, settings, kinds of problems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.suggestions import MOST_SUGGESTED, did_you_mean, edit_distance, nearest

WORD = st.text("abcde", max_size=8)


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ("cancelation", "cancellation", 1),
        ("recieve", "receive", 1),
        ("proces", "process", 1),
        ("abcdef", "abcdef", 0),
        ("abcdef", "badcfe", None),
        ("kitten", "sitting", None),
        ("", "ab", 2),
    ],
)
def test_edits_between_two_words(one: str, other: str, expected: int | None) -> None:
    assert edit_distance(one, other, 2) == expected


@given(WORD, WORD)
def test_the_distance_is_symmetric_and_zero_for_equals_only(one: str, other: str) -> None:
    there = edit_distance(one, other, 20)
    assert there == edit_distance(other, one, 20)
    assert (there == 0) is (one == other)


@given(WORD, WORD, st.integers(0, 4))
def test_the_limit_only_hides_what_is_further(one: str, other: str, most: int) -> None:
    full = edit_distance(one, other, 20)
    assert full is not None
    assert edit_distance(one, other, most) == (full if full <= most else None)


@pytest.mark.parametrize(
    "word, other, near",
    [
        ("serach", "search", True),
        ("seach", "search", True),
        ("searchh", "search", True),
        ("xearch", "search", True),
        ("search", "search", False),
        ("sarech", "search", False),
        ("sea", "search", False),
        ("", "a", True),
        ("ab", "ba", True),
        ("abc", "bca", False),
        ("ab", "cd", False),
    ],
)
def test_one_letter_added_left_out_replaced_or_swapped_is_one_edit(word: str, other: str, near: bool) -> None:
    assert (edit_distance(word, other, 1) == 1) is near
    assert (edit_distance(other, word, 1) == 1) is near


@pytest.mark.parametrize(
    "typed, names, meant",
    [
        ("abcde", ["abcxy"], ["abcxy"]),
        ("abcd", ["abxy"], []),
        ("abcdefghijk", ["abcdefgh"], []),
        ("abcdefghijkl", ["abcdefghi"], ["abcdefghi"]),
        ("setpu", ["setups", "setup", "setup", "SETUP"], ["setup", "SETUP"]),
        ("lifecycle", ["run-lifecycle", "life"], ["run-lifecycle"]),
        ("cycl", ["run-lifecycle"], []),
        ("", ["abc"], []),
    ],
)
def test_the_fewest_edits_that_the_length_allows_else_what_holds_it_whole(
    typed: str, names: list[str], meant: list[str]
) -> None:
    assert nearest(typed, names) == meant


def test_at_most_three_names_are_suggested() -> None:
    names = [f"page-{digit}" for digit in range(9)]
    assert nearest("page-x", names) == names[:MOST_SUGGESTED]


def test_a_page_without_a_name_is_not_suggested() -> None:
    assert nearest("2", ["", "3"]) == ["3"]


def test_the_remedy_names_what_is_near_or_says_what_else_to_do() -> None:
    assert did_you_mean(["a", "b"], "see x") == "did you mean a or b?"
    assert did_you_mean([], "see x") == "see x"
