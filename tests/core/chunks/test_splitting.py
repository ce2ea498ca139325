"""Tearing and gathering: which borders survive, and that an edit moves only those near it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.chunks.splitting import (
    LINES,
    SENTENCES,
    WORDS,
    Piece,
    content_ranks,
    gather,
    position_ranks,
    tear,
)
from indexerd.core.chunks.token_estimate import MAX_CHARACTER_UNITS, weigh

TEXTS = st.text(alphabet=st.sampled_from("ab .!?。\n\r日ж"), max_size=400)


def by_position(weights: list[int]) -> list[Piece]:
    ranks = position_ranks([False for _ in weights])
    return [Piece(0, 0, weight, rank) for weight, rank in zip(weights, ranks, strict=True)]


def groups(pieces: list[Piece], limit: int) -> list[tuple[int, int]]:
    return list(gather(pieces, limit))


@pytest.mark.parametrize(
    "weights, limit, expected",
    [
        ([], 10, []),
        ([5], 10, [(0, 1)]),
        ([5, 5], 10, [(0, 2)]),
        ([5, 6], 10, [(0, 1), (1, 2)]),
        ([11], 10, [(0, 1)]),
        ([1, 11, 1], 10, [(0, 1), (1, 2), (2, 3)]),
        ([3, 3, 3, 3, 3, 3], 7, [(0, 2), (2, 4), (4, 6)]),
        ([1] * 9, 8, [(0, 5), (5, 9)]),
        ([1] * 12, 4, [(0, 4), (4, 8), (8, 12)]),
    ],
)
def test_neighbours_are_gathered_up_to_the_limit(
    weights: list[int], limit: int, expected: list[tuple[int, int]]
) -> None:
    assert groups(by_position(weights), limit) == expected


def test_a_border_without_a_rank_is_never_dissolved() -> None:
    pieces = [Piece(0, 1, 1, 0), Piece(1, 2, 1, None), Piece(2, 3, 1, 2)]
    assert groups(pieces, 10) == [(0, 1), (1, 3)]


def test_the_lowest_rank_is_dissolved_first_and_equal_ranks_from_the_left() -> None:
    assert groups([Piece(0, 0, 4, 0), Piece(0, 0, 4, 9), Piece(0, 0, 4, 1)], 8) == [(0, 1), (1, 3)]
    assert groups([Piece(0, 0, 4, 0), Piece(0, 0, 4, 1), Piece(0, 0, 4, 1)], 8) == [(0, 2), (2, 3)]


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 5)), max_size=40))
def test_groups_cover_all_in_order_and_no_two_neighbours_would_fit_together(
    drawn: list[tuple[int, int]],
) -> None:
    pieces = [Piece(0, 0, weight, rank) for weight, rank in drawn]
    found = groups(pieces, 10)
    weights = [sum(piece.weight for piece in pieces[start:end]) for start, end in found]
    assert [start for start, _ in found[1:]] == [end for _, end in found[:-1]]
    assert (found[0][0], found[-1][1]) == (0, len(pieces)) if pieces else found == []
    assert all(weight <= 10 or end - start == 1 for weight, (start, end) in zip(weights, found, strict=True))
    assert all(left + right > 10 for left, right in pairwise(weights))


def test_a_border_at_an_opening_is_dissolved_after_those_between_openings() -> None:
    openings = [False, False, True, False, False, True]
    ranks = list(position_ranks(openings))
    pieces = [Piece(0, 0, 2, rank) for rank in ranks]
    assert groups(pieces, 6) == [(0, 2), (2, 5), (5, 6)]
    assert groups(pieces, 10) == [(0, 5), (5, 6)]


def test_a_block_put_in_changes_no_rank_by_position_beyond_the_middle_between_two_openings() -> None:
    openings = [index % 12 == 11 for index in range(40)]
    before = list(position_ranks(openings))
    openings.insert(14, False)
    after = list(position_ranks(openings))
    assert after[:14] == before[:14]
    assert after[18:] == before[17:]


def test_a_block_put_in_or_rewritten_changes_no_rank_by_content_but_its_own() -> None:
    texts = [f"{index * 7919 % 1000} paragraph {index}" for index in range(1000)]
    before = list(content_ranks(texts, [False for _ in texts]))
    more = [*texts[:500], "new", *texts[500:]]
    after = list(content_ranks(more, [False for _ in more]))
    assert [*after[:500], *after[501:]] == before
    openings = [index == 7 for index in range(1000)]
    assert max(content_ranks(texts, openings)) == list(content_ranks(texts, openings))[7]


@given(TEXTS, st.integers(MAX_CHARACTER_UNITS, 200))
def test_torn_parts_are_the_text_again_and_none_is_too_heavy(text: str, limit: int) -> None:
    parts = list(tear(text, Piece(0, len(text), weigh(text), 0), (SENTENCES, LINES, WORDS), limit))
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(part.weight == weigh(text[part.start : part.end]) for part in parts)
    assert all(part.weight <= limit for part in parts)


@pytest.mark.parametrize(
    "text, limit, parts",
    [
        ("One two. Three four! Five", 70, ["One two. ", "Three four! ", "Five"]),
        ('He said "no." When he left.', 110, ['He said "no." ', "When he left."]),
        ("one two four", 30, ["one ", "two ", "four"]),
        ("日本語。中文！完", 90, ["日本語。", "中文！", "完"]),
        ("abcdefghij", 40, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]),
        ("aaaa\r\nbbbb\rcccc", 30, ["aaaa\r\n", "bbbb\r", "cccc"]),
    ],
)
def test_text_is_torn_after_sentences_then_lines_then_words_then_anywhere(
    text: str, limit: int, parts: list[str]
) -> None:
    torn = tear(text, Piece(0, len(text), weigh(text), 0), (SENTENCES, LINES, WORDS), limit)
    assert [text[part.start : part.end] for part in torn] == parts


def test_a_line_put_into_a_torn_text_changes_no_rank_but_its_own() -> None:
    lines = [f"key_{index} = {index * 7919 % 1000}\n" for index in range(200)]

    def ranks(text: str) -> list[int | None]:
        return [part.rank for part in tear(text, Piece(0, len(text), weigh(text), 0), (LINES,), 400)]

    before = ranks("".join(lines))
    after = ranks("".join([*lines[:90], "inserted = 1\n", *lines[90:]]))
    assert [*after[:90], *after[91:]] == before
