"""Which words count as other forms of a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.query.variants import (
    BEGINNING_MIN,
    ENDING_MAX,
    FORMS_MAX,
    commonest_forms,
    is_form,
    shared_beginning,
)

LETTERS = st.text(st.sampled_from("abcdeñж"), max_size=12)


@pytest.mark.parametrize(
    "word, other",
    [
        ("loader", "loaders"),
        ("write", "writing"),
        ("writing", "write"),
        ("создайте", "создание"),
        ("Bücher".lower(), "büchern"),
        ("conocer", "conocido"),
        ("astro", "astro를"),
    ],
)
def test_words_that_begin_alike_and_end_otherwise_are_forms(word: str, other: str) -> None:
    assert is_form(word, other)


@pytest.mark.parametrize(
    "word, other, why",
    [
        ("run", "runs", "too short"),
        ("loader", "loader", "the word itself"),
        ("create", "crash", "only three letters are shared"),
        ("config", "configuration", "more than three letters longer"),
        ("sha256", "sha2567", "numbers"),
        ("chapter", "chapter8", "numbers"),
        ("数据库索引", "数据库索", "a run that is cut into bigrams"),
    ],
)
def test_what_is_no_form(word: str, other: str, why: str) -> None:
    assert not is_form(word, other), why


@given(LETTERS, LETTERS)
def test_a_form_shares_a_beginning_and_is_not_much_longer(word: str, other: str) -> None:
    if is_form(word, other):
        beginning = shared_beginning(word)
        assert len(beginning) >= max(BEGINNING_MIN, len(word) - ENDING_MAX)
        assert other.startswith(beginning)
        assert word.startswith(beginning)
        assert len(other) <= len(word) + ENDING_MAX


def test_of_many_forms_those_in_most_sections_are_taken_whatever_order_they_come_in() -> None:
    vocabulary = [("loaded", 2), ("loading", 9), ("loader", 50), ("loads", 9), ("load", 3), ("loan", 99)]
    assert len(vocabulary) > FORMS_MAX
    assert commonest_forms("loader", vocabulary) == ("loading", "loads", "load")
    assert commonest_forms("loader", reversed(vocabulary)) == ("loading", "loads", "load")
    assert commonest_forms("loader", []) == ()
