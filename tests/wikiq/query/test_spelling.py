"""What was meant by a word that no page holds."""

from __future__ import annotations

import pytest

from wikiq.query.spelling import (
    LONG,
    LONGEST,
    SHORTEST,
    edits_allowed,
    likely_beginnings,
    nearest_word,
)


@pytest.mark.parametrize(
    "word, expected",
    [
        ("a" * (SHORTEST - 1), 0),
        ("a" * SHORTEST, 1),
        ("a" * (LONG - 1), 1),
        ("a" * LONG, 2),
        ("a" * LONGEST, 2),
        ("a" * (LONGEST + 1), 0),
        ("2026071", 0),
    ],
)
def test_edits_allowed_grow_with_the_word(word: str, expected: int) -> None:
    assert edits_allowed(word) == expected


@pytest.mark.parametrize(
    "word, vocabulary, expected",
    [
        ("cancelation", [("cancellation", 3), ("cancel", 9)], "cancellation"),
        ("serch", [("search", 1), ("sketch", 9)], "search"),
        ("worls", [("words", 5), ("world", 2), ("worlds", 5)], "words"),
        ("ehading", [("heading", 1)], "heading"),
        ("xbcdef", [("abcdef", 1)], "abcdef"),
        ("xycdefgh", [("abcdefgh", 1)], None),
        ("tree", [("free", 1)], None),
        ("процес", [("процесс", 4)], "процесс"),
    ],
)
def test_the_nearest_word_is_the_likeliest(
    word: str, vocabulary: list[tuple[str, int]], expected: str | None
) -> None:
    assert nearest_word(word, vocabulary) == expected
    assert nearest_word(word, reversed(vocabulary)) == expected


@pytest.mark.parametrize(
    "word, near", [("serch", "search"), ("ehading", "heading"), ("xbcdef", "abcdef"), ("апроцес", "процесс")]
)
def test_the_ranges_looked_up_hold_the_near_word(word: str, near: str) -> None:
    assert any(near.startswith(begin) for begin in likely_beginnings(word))


@pytest.mark.parametrize("code", [0, 0xD7FF, 0xE000, 0x10FFE3, 0x10FFFF])
def test_a_word_at_the_edge_of_unicode_has_beginnings_too(code: int) -> None:
    assert likely_beginnings(chr(code) + "xyz")[:2] == [chr(code), "x"]
