"""The order of candidates: scores, pages, literals, names, ties."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.eval.ablations import ABLATIONS
from wikiq.model.policies import DEFAULT
from wikiq.query.parse import analyze_question
from wikiq.ranking.score import (
    PARTS,
    Candidate,
    best_of_each_page,
    heading_bonus,
    literal_shares,
    rank_candidates,
    rarity,
)

if TYPE_CHECKING:
    from wikiq.ranking.score import Scored


def candidate(score: float, page: int = 1, ordinal: int = 0, **more: Any) -> Candidate:
    values: dict[str, Any] = {
        "section_rowid": page * 100 + ordinal,
        "page_id": page,
        "by_name": False,
        "score": score,
        "own": (score, 0.0, 0.0, 0.0, 0.0, 0.0),
        "is_exact": None,
        "slug": f"page-{page}",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "sections": 10,
        "ordinal": ordinal,
    }
    return Candidate(**(values | more))


def order(ranked: list[Scored]) -> list[tuple[int, int]]:
    return [(one.page_id, one.ordinal) for _, one, _ in ranked]


def test_a_page_with_more_good_sections_lifts_them() -> None:
    alone = [candidate(5.0, page=1)]
    together = [candidate(4.8, page=2, ordinal=place) for place in range(3)]
    ranked = rank_candidates(alone + together, DEFAULT, [])
    assert ranked[0][1].page_id == 2
    assert ranked[0][0] == pytest.approx(4.8 + 0.5 * 4.8)
    assert ranked[-1][0] == pytest.approx(5.0 + 0.5 * 5.0 / 3)


def test_a_page_of_one_section_is_not_punished_for_having_no_others() -> None:
    short = candidate(5.0, page=1, sections=1)
    long = [candidate(5.0, page=2, ordinal=place) for place in range(2)]
    assert rank_candidates([short, *long], DEFAULT, [])[0][1].page_id == 1


def test_only_the_pool_is_looked_at_more_closely_and_the_rest_follows() -> None:
    pool = [candidate(1000.0 - place, page=place) for place in range(DEFAULT.pool)]
    rest = [candidate(1.0 - place / 10, page=1000 + place) for place in range(3)]
    ranked = rank_candidates(rest + pool, DEFAULT, [])
    assert order(ranked[DEFAULT.pool :]) == [(1000, 0), (1001, 0), (1002, 0)]
    assert [score for score, _, _ in ranked[DEFAULT.pool :]] == [1.0, 0.9, 0.8]


def test_equal_scores_go_by_the_newer_page_then_slug_then_place() -> None:
    older = "2025-01-01T00:00:00.000Z"
    ranked = rank_candidates(
        [
            candidate(1.0, page=1, updated_at=older, sections=1),
            candidate(1.0, page=3, sections=1),
            candidate(1.0, page=2, sections=1, ordinal=4),
            candidate(1.0, page=2, sections=1, ordinal=2),
        ],
        DEFAULT.replace(page_weight=0.0),
        [],
    )
    assert order(ranked) == [(2, 2), (2, 4), (3, 0), (1, 0)]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 5)), unique_by=lambda one: one[1:]
    )
)
def test_the_order_does_not_depend_on_how_candidates_come(rows: list[tuple[int, int, int]]) -> None:
    candidates = [candidate(float(score), page=page, ordinal=place) for score, page, place in rows]
    shuffled = random.Random(1).sample(candidates, len(candidates))
    assert rank_candidates(candidates, DEFAULT, []) == rank_candidates(shuffled, DEFAULT, [])


def test_sections_that_hold_the_only_literal_come_first_those_with_it_in_the_heading_before() -> None:
    held = candidate(1.0, page=1, literals=(1,))
    better = [candidate(9.0, page=place, literals=(0,)) for place in (2, 3)]
    headed = candidate(0.5, page=4, literals=(2,))
    ranked = rank_candidates([*better, held, headed], DEFAULT.replace(page_weight=0.0), [1.0])
    assert [one.page_id for _, one, _ in ranked] == [4, 1, 2, 3]


def test_a_section_whose_heading_stands_in_the_question_gains_by_its_share() -> None:
    ranked = rank_candidates(
        [candidate(9.0, page=1), candidate(7.0, page=2, heading_share=1.0), candidate(6.9, page=3)],
        DEFAULT.replace(page_weight=0.0),
        [],
    )
    assert [(one.page_id, score) for score, one, _ in ranked] == [
        (2, pytest.approx(7.0 + DEFAULT.heading_weight * 9.0)),
        (1, 9.0),
        (3, 6.9),
    ]


def test_a_heading_without_the_literal_that_was_typed_gains_nothing() -> None:
    short = candidate(9.0, page=1, literals=(0,), heading_share=1.0)
    held = candidate(9.0, page=2, literals=(1,), heading_share=1.0)
    assert heading_bonus(short, DEFAULT, [1.0]) == 0.0
    assert heading_bonus(short, DEFAULT, [0.5]) == pytest.approx(DEFAULT.heading_weight / 2)
    assert heading_bonus(held, DEFAULT, [1.0]) == DEFAULT.heading_weight


def test_shares_of_literals_go_by_how_rare_their_words_are() -> None:
    question = analyze_question("where is src/a.py")
    shares = literal_shares(question, {"where": 900, "is": 900, "src": 3, "a": 900, "py": 3})
    assert 0.5 < shares[0] < 1.0
    assert literal_shares(analyze_question("v1.2.3"), {}) == [1.0]
    assert literal_shares(analyze_question("plain words"), {}) == []


def test_rarity_falls_from_one_as_a_term_becomes_common() -> None:
    assert rarity(0) == 1.0
    assert 1.0 > rarity(1) > rarity(10) > rarity(100_000) > 0.0


def test_pages_whose_name_was_typed_come_first_slugs_before_other_names() -> None:
    ranked = rank_candidates(
        [
            candidate(9.0, page=1),
            candidate(1.0, page=2, is_exact=0),
            candidate(0.5, page=3, is_exact=1),
            candidate(3.0, page=4, is_exact=1, by_name=True),
        ],
        DEFAULT,
        [],
    )
    assert [one.page_id for _, one, _ in ranked] == [3, 4, 2, 1]
    scores = [score for score, _, _ in ranked]
    assert scores == sorted(scores, reverse=True)


def test_pages_found_by_name_alone_come_after_all_others() -> None:
    by_name = [candidate(50.0, page=7, by_name=True), candidate(60.0, page=8, by_name=True)]
    ranked = rank_candidates([*by_name, candidate(0.1, page=1)], DEFAULT, [])
    assert [(one.page_id, score > 0) for score, one, _ in ranked] == [(1, True), (8, False), (7, False)]


def test_every_part_of_a_score_has_the_value_that_the_policy_gives_it() -> None:
    found = [
        candidate(
            4.0, page=1, own=(2.0, 1.0, 0.5, 0.25, 0.5, -0.25), literals=(2,), heading_share=0.5, sections=2
        ),
        candidate(2.0, page=1, ordinal=1, sections=2),
        candidate(3.0, page=2, literals=(0,), heading_share=0.5, sections=1, is_exact=0),
        candidate(7.0, page=3, by_name=True, own=(0.0,) * 6),
    ]
    found[1] = found[1].replace(literals=(1,))
    ranked = rank_candidates(found, DEFAULT, [0.25])
    assert [dict(zip(PARTS, parts, strict=True)) for _, _, parts in ranked] == [
        dict.fromkeys(PARTS, 0.0) | told
        for told in (
            {"words": 3.0, "page": 1.5, "heading": 4.0 * 0.3 * 0.5 * 0.75}
            | {"name": pytest.approx(1.0 + 8.1)},
            {"words": 2.0, "pairs": 1.0, "forms": 0.5, "pieces": 0.25, "piece_pairs": 0.5}
            | {"field_lengths": -0.25, "page": 1.5, "literals": 4.0 * 0.25 * 2.0, "heading": 4.0 * 0.3 * 0.5},
            {"words": 2.0, "page": 1.5, "literals": 4.0 * 0.25},
            {},
        )
    ]
    assert [score for score, _, _ in ranked] == [sum(parts) for _, _, parts in ranked]


def test_each_page_is_shown_once_by_its_best_section() -> None:
    ranked = rank_candidates(
        [candidate(1.0, page=1), candidate(3.0, page=1, ordinal=5), candidate(2.0, page=2)], DEFAULT, []
    )
    assert order(best_of_each_page(ranked)) == [(1, 5), (2, 0)]


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_differs_from_the_default_in_one_part(name: str) -> None:
    changed = [
        field for field in type(DEFAULT).fields if getattr(ABLATIONS[name], field) != getattr(DEFAULT, field)
    ]
    assert len(changed) == (2 if name == "no-literals" else 1)
