"""Whether a whole heading stands in a question, and how much of the question it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.terms import tokens
from wikiq.ranking.heading_match import heading_share


@pytest.mark.parametrize(
    "question, heading, share",
    [
        ("see the advanced routing guide", "Advanced routing", 15 / 26),
        ("advanced routing", "`Advanced` routing!", 1.0),
        ("live loader", "Live Loaders", 1.0),
        ("如何备份我的数据", "备份", 2 / 8),
        ("Straße und Wege", "Straße", 6 / 13),
    ],
)
def test_a_heading_that_stands_in_the_question_counts_by_its_letters(
    question: str, heading: str, share: float
) -> None:
    assert heading_share(tokens(question), heading) == pytest.approx(share)


@pytest.mark.parametrize(
    "question, heading",
    [
        ("advanced routing", "Advanced routing guide"),
        ("routing, advanced", "Advanced routing"),
        ("what is splatting", "What is PowerShell"),
        ("this island", "is"),
        ("a run", ""),
        ("a run", "***"),
        ("", "Runs"),
        ("备份", "备份数据"),
    ],
)
def test_a_heading_of_which_a_word_is_missing_counts_nothing(question: str, heading: str) -> None:
    assert heading_share(tokens(question), heading) == 0.0


@given(st.text(max_size=30), st.text(max_size=12))
def test_a_share_lies_between_none_and_all_of_the_question(question: str, heading: str) -> None:
    assert 0.0 <= heading_share(tokens(question), heading) <= 1.0


@given(st.lists(st.sampled_from(["run", "routes", "数据", "é", "C"]), min_size=1, max_size=5))
def test_a_question_that_is_the_heading_is_covered_by_it(words: list[str]) -> None:
    assert heading_share(tokens(" ".join(words)), " ".join(words)) == 1.0
