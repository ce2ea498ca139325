"""The token estimate: its two kinds of bytes, padding, and additivity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.chunks.token_estimate import MAX_CHARACTER_UNITS, UNITS_PER_TOKEN, estimate_tokens, weigh


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("日本語", 3),
        ("при", 2),  # six bytes of other scripts
        ("\U0001f600", 2),
        ("a" * 400, 100),
        ("|    x    |", 1),  # padding of a table cell
    ],
)
def test_four_ascii_characters_or_three_other_bytes_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.text(alphabet=" \n\tab日ж"))
def test_joined_texts_weigh_what_they_weigh_apart_or_less(left: str, right: str) -> None:
    assert weigh(left + right) <= weigh(left) + weigh(right)


@given(st.characters(exclude_categories=["Cs"]))
def test_no_character_weighs_more_than_the_greatest_weight(character: str) -> None:
    assert 0 < weigh(character) <= MAX_CHARACTER_UNITS < 2 * UNITS_PER_TOKEN
