"""A word that stands divided in a text: the ways to divide it, likeliest first."""

from __future__ import annotations

import pytest

from wikiq.query.divided import LONGEST_DIVIDED, PHRASES_TRIED, likely_divisions, parts_of


@pytest.mark.parametrize(
    "word, sections, divisions",
    [
        ("abc123", {"abc": 2, "123": 5}, [("abc", "123")]),
        ("hyphenation", {"hy": 1, "phen": 1, "ation": 1}, [("hy", "phen", "ation")]),
        ("dont", {"don": 3, "t": 9, "do": 1}, [("don", "t")]),
        ("database", {"data": 1, "base": 1, "da": 9, "ta": 9}, [("data", "base"), ("da", "ta", "base")]),
        ("abcd", {"a": 1, "bcd": 1, "ab": 2, "cd": 2}, [("ab", "cd"), ("a", "bcd")]),
        ("plain", {"in": 1}, []),
        ("x", {"x": 1}, []),
    ],
)
def test_divisions_are_of_words_of_the_index(
    word: str, sections: dict[str, int], divisions: list[tuple[str, ...]]
) -> None:
    assert likely_divisions(word, sections) == divisions
    assert {part for way in divisions for part in way} <= parts_of(word)


def test_the_work_for_a_word_is_bounded() -> None:
    assert parts_of("a" * (LONGEST_DIVIDED + 1)) == set()
    assert len(likely_divisions("a" * LONGEST_DIVIDED, {"a" * n: 1 for n in range(LONGEST_DIVIDED)})) == (
        PHRASES_TRIED
    )
