"""The token estimate: what a character weighs, the pair that tells English, and additivity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.chunks.token_estimate import (
    ENGLISH_PAIR,
    MAX_CHARACTER_UNITS,
    UNITS_PER_TOKEN,
    weigh,
)


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("", 0),
        ("a", 1),
        ("abcde", 2),
        ("a" * 400, 160),
        ("2024-12-31", 10),  # a sign or a digit is nearly a token
        ("|    x    |", 3),  # blanks cost nothing
        ("日本語", 5),
        ("привет", 6),
        ("é", 2),
        ("안녕", 5),
        ("\U0001f600", 3),
        (" " * 400, 11),  # but nothing is free
    ],
)
def test_a_character_weighs_what_the_worst_tokenizer_makes_of_its_script(text: str, tokens: int) -> None:
    assert -(-weigh(text) // UNITS_PER_TOKEN) == tokens


def test_english_is_told_by_its_commonest_pair_of_letters() -> None:
    english = "It is the thing that they thought of, though there was another path"
    other = english.replace("th", "tj")
    assert weigh(english) < weigh(other) / 2
    assert 0 < weigh(ENGLISH_PAIR * 100) < 100 * UNITS_PER_TOKEN


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.text(alphabet=" \n\tabth日ж"))
def test_joined_texts_weigh_what_they_weigh_apart_or_less(left: str, right: str) -> None:
    assert weigh(left + right) <= weigh(left) + weigh(right)


@given(st.characters(exclude_categories=["Cs"]))
def test_no_character_weighs_more_than_the_greatest_weight(character: str) -> None:
    assert 0 < weigh(character) <= MAX_CHARACTER_UNITS < 3 * UNITS_PER_TOKEN
