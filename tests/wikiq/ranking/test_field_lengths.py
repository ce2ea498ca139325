"""BM25F: what a word says by the length of the field it stands in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.index.row_lengths import Lengths
from wikiq.model.policies import DEFAULT
from wikiq.query.match import Use
from wikiq.query.parse import analyze_question
from wikiq.query.vocabulary import Vocabulary
from wikiq.ranking.field_lengths import length_factors

AVERAGE = Lengths(headings=4.0, body=50.0)
Text = tuple[str, str, str, str]


def factors(
    query: str, *texts: Text, uses: dict[str, Use] | None = None, scores: dict[int, float] | None = None
) -> dict[int | None, float]:
    """The factors of sections 1, 2, …, with the words of the question in as many sections each."""
    question = analyze_question(query)
    words = {term.text: Use(text=term.text) for term in question.terms if not term.is_cut}
    vocabulary = Vocabulary(
        sections=dict.fromkeys(words, 10), uses=words if uses is None else uses, corrected={}, forms={}
    )
    rows = [(rowid, *text) for rowid, text in enumerate(texts, 1)]
    given_scores = scores if scores is not None else {rowid: 1.0 for rowid, *_ in rows}
    return length_factors(given_scores, rows, question, vocabulary, policy=DEFAULT, average=AVERAGE)


def test_a_word_in_the_heading_of_a_long_section_says_what_it_says_above_a_short_one() -> None:
    short, long = ("Tools", "", "Rakes", "word " * 10), ("Tools", "", "Rakes", "word " * 400)
    found = factors("rakes", short, long)
    assert found[2] > 1.2 > found[1]


def test_a_word_in_a_long_heading_says_less_than_in_a_short_one() -> None:
    body = "word " * 45
    found = factors(
        "rakes", ("Tools", "", "Rakes", body), ("Tools", "", "Rakes, hoes, spades, forks and pots", body)
    )
    assert found[1] > 1.0 > found[2]


def test_a_section_that_holds_no_word_of_the_question_keeps_its_score() -> None:
    assert factors("rakes", ("Tools", "", "Hoes", "")) == {1: 1.0}
    assert factors("rakes", ("", "", "", "")) == {1: 1.0}


def test_beginnings_and_words_that_were_divided_are_counted_as_they_are_looked_for() -> None:
    text = ("T", "", "Recon", "word " * 400)
    other = ("T", "", "Reconciliation", "word " * 400)
    begun = factors("recon", text, other, uses={"recon": Use(text="recon", is_prefix=True)})
    assert begun[1] == begun[2] > 1.0
    divided = factors("abc123", ("T", "", "ABC-123", "x " * 400), uses={"abc123": Use(text="abc 123")})
    assert divided[1] > 1.0


def test_characters_of_a_script_without_blanks_are_half_a_word_each() -> None:
    latin = factors("工具", ("", "", "工具", "word " * 100))
    han = factors("工具", ("", "", "工具", "文" * 200))
    assert han[1] == pytest.approx(latin[1])


@given(
    best=st.lists(st.floats(1.0, 9.0), min_size=1, max_size=4),
    others=st.lists(st.floats(0.1, 1.0), max_size=4),
)
def test_a_section_that_was_not_read_never_comes_before_one_that_was(
    best: list[float], others: list[float]
) -> None:
    scores = dict(enumerate([*best, *others], 1))
    texts: list[Text] = [("Tools", "", "Rakes and very many other tools of the garden", "")] * len(best)
    found = factors("rakes", *texts, scores=scores)
    after = {rowid: score * found.get(rowid, 1.0) for rowid, score in scores.items()}
    read = [score for rowid, score in after.items() if rowid <= len(best)]
    assert all(score <= min(read) * (1 + 1e-9) for rowid, score in after.items() if rowid > len(best))
