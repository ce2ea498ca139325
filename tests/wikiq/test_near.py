"""What was probably meant by an option or a kind that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.query.spelling import count_edits, is_one_edit_away, nearest
from wikiq.shell.options import SEARCH
from wikiq.shell.parse import option_hints


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("--jsno", ["--json"]),
        ("--topics", ["--topic"]),
        ("--limt", ["--limit"]),
        ("--sectons", ["--sections"]),
        ("--seciton", ["--sections"]),
        ("--JSON", ["--json"]),
        ("--linksto", ["--links-to"]),
        ("--amend", []),
        ("--help", []),
        ("--dbs", ["--db"]),
        ("--xyz", []),
        ("--no-verify", []),
    ],
)
def test_an_option_one_or_two_edits_away_was_meant(typed: str, meant: list[str]) -> None:
    assert nearest(typed, SEARCH) == meant


def test_in_a_short_name_one_edit_is_all_that_is_forgiven() -> None:
    assert nearest("abcde", ["abcxy"]) == ["abcxy"]
    assert nearest("abcd", ["abxy"]) == []


def test_every_misspelt_option_is_told_once() -> None:
    assert option_hints(["--jsno", "word", "--jsno", "--limt=3", "--amend"]) == [
        "--jsno: taken as a word to search for; the option is --json",
        "--limt: taken as a word to search for; the option is --limit",
    ]


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_edits_are_counted_alike_both_ways_and_agree_on_one(word: str, other: str) -> None:
    assert count_edits(word, other) == count_edits(other, word)
    assert (count_edits(word, other) == 0) is (word == other)
    assert (count_edits(word, other) == 1) is is_one_edit_away(word, other)
