"""Folding of names and titles, and what the bigram table holds of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.terms import (
    asked_pieces,
    bigrams,
    fold_path,
    fold_title,
    grams,
    has_word,
    is_unspaced_alphabet,
    pieces,
    runs,
    spans,
    tokens,
)


@pytest.mark.parametrize(
    "one, other",
    [("Guide/README", "guide/readme"), ("Cafe\u0301", "café"), ("STRASSE", "straße"), ("Ünï", "üNÏ")],
)
def test_paths_that_differ_in_case_or_composition_are_one(one: str, other: str) -> None:
    assert fold_path(one) == fold_path(other)


def test_paths_keep_blanks_and_width() -> None:
    assert fold_path("a  b") == "a  b"
    assert fold_path("ＡＢ") != fold_path("AB")


@pytest.mark.parametrize(
    "one, other",
    [("  Run \t Lifecycle ", "run lifecycle"), ("ＡＢＣ", "abc"), ("ﬁne\u00a0print", "Fine print")],
)
def test_titles_that_differ_in_case_width_or_blanks_are_one(one: str, other: str) -> None:
    assert fold_title(one) == fold_title(other)


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_path(fold_path(text)) == fold_path(text)
    assert fold_title(fold_title(text)) == fold_title(text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("plain words and CODE_1", ""),
        ("“curly quotes” — and … café naïve Straße", ""),
        ("re\u0301sume\u0301", ""),
        ("数据库索引", "数据 据库 库索 索引 引"),
        ("設", "設"),
        ("検索エンジン。設計", "検索 索エ エン ンジ ジン ン 設計 計"),
        ("검색엔진을 설계", "검색 색엔 엔진 진을 을 설계 계"),
        ("เอกสาร", "เอ อก กส สา าร ร"),
        ("ＡＢＣ税率", "abc 税率 率"),
        ("ABC", ""),
        ("ＡＢＣ", "abc"),
        ("私のiPhone", "私の の iphone"),
        ("ﾃﾞｰﾀ", "デー ータ タ"),
        ("x² and ﬁne", "x2 fine"),
        ("и\u0306", "й"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글 글"),
        ("\u2126", ""),
    ],
)
def test_bigram_table_holds_scripts_without_blanks_and_normal_forms(text: str, expected: str) -> None:
    assert grams(text) == expected


@given(st.text(max_size=60))
def test_grams_of_a_text_are_the_pieces_of_its_words(text: str) -> None:
    words = [text[start:end] for _, start, end in spans(text)]
    assert grams(text).split() == [piece for word in words for piece in pieces(word)]


@given(st.text(max_size=60))
def test_every_gram_is_one_term_of_the_tokenizer(text: str) -> None:
    assert all(tokens(piece) == [piece] for piece in grams(text).split())


@given(st.text(st.characters(max_codepoint=0x7F), max_size=60))
def test_ascii_has_no_grams(text: str) -> None:
    assert grams(text) == ""


@given(st.text(min_size=1, max_size=20))
def test_runs_put_the_word_back_together_and_alternate(word: str) -> None:
    cut = list(runs(word))
    assert "".join(run for run, _ in cut) == word
    assert all(before != after for (_, before), (_, after) in pairwise(cut))


def test_bigrams_end_with_the_last_character() -> None:
    assert bigrams("索引擎") == ["索引", "引擎", "擎"]


@pytest.mark.parametrize(
    "term, expected",
    [
        ("a", True),
        ("2", True),
        ("½", True),
        ("ห", True),
        ("\u0e48", False),
        ("\ue000", False),
        ("\u20e3", False),
    ],
)
def test_a_term_without_letter_or_number_is_no_word(term: str, expected: bool) -> None:
    assert has_word(term) is expected


@pytest.mark.parametrize(
    "word, expected",
    [
        ("数据库", ("数据", "据库")),
        ("設", ("設",)),
        ("のiPhone", ("の", "iphone")),
        ("ＡＢ", ("ab",)),
        ("plain", ()),
    ],
)
def test_a_question_leaves_off_the_last_character_of_a_run(word: str, expected: tuple[str, ...]) -> None:
    assert asked_pieces(word) == expected


def test_alphabets_without_blanks_are_told_from_syllables() -> None:
    assert all(is_unspaced_alphabet(piece) for piece in ("กา", "ແລ", "ខ្", "မြ"))
    assert not any(is_unspaced_alphabet(piece) for piece in ("漢字", "かな", "한글", "ab"))
