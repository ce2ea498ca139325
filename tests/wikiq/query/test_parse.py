"""What is typed, as the analysed question; nothing here needs an index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.terms import has_word, tokens
from wikiq.query.parse import TERMS_MAX, Clause, analyze_question


def texts(clauses: tuple[Clause, ...]) -> list[tuple[str | None, str]]:
    return [(clause.column, " ".join(term.text for term in clause.terms)) for clause in clauses]


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("How does cancellation work?", ["how", "does", "cancellation", "work"]),
        ("the cat and the CAT", ["the", "cat", "and"]),
        ("src/a/b.py", ["src", "a", "b", "py"]),
        ("cancellation_requested_at", ["cancellation", "requested", "at"]),
        ("2026-07-14 v1.2.3", ["2026", "07", "14", "v1", "2", "3"]),
        ("don't panic", ["don", "t", "panic"]),
        ("straße STRASSE", ["straße", "strasse"]),
        ("NOT NEAR(* AND OR", ["not", "near", "and", "or"]),
        ("slug:retry unknown:x", ["slug", "retry", "unknown", "x"]),
        ('a lone " quote', ["a", "lone", "quote"]),
        ("title: heading:", ["title", "heading"]),
        ("--amend - run-lifecycle", ["amend", "run", "lifecycle"]),
        ("run\x1b[31m\u202elife\x00cycle", ["run", "31m", "life", "cycle"]),
        ("🦀 ?! * \ufe0f", []),
        ("", []),
    ],
)
def test_terms_are_those_of_the_index_tokenizer_each_once(typed: str, expected: list[str]) -> None:
    assert [term.text for term in analyze_question(typed).terms] == expected


@pytest.mark.parametrize(
    "typed, required, excluded, words",
    [
        ('"use of moved value"', [(None, "use of moved value")], [], ()),
        ('checker "borrowed books"', [], [], ()),
        ("git log -p where", [], [], ()),
        ("-borrowed", [], [], ()),
        ("-a -b", [], [], ()),
        ('"exact words" -draft', [(None, "exact words")], [(None, "draft")], ("draft",)),
        ("title:Run", [("title", "run")], [], ()),
        ('heading:"exit status" Title:x', [("heading", "exit status"), ("title", "x")], [], ()),
        ("checker -borrowed", [], [(None, "borrowed")], ("borrowed",)),
        (
            'x -"moved value" -title:y',
            [],
            [(None, "moved value"), ("title", "y")],
            ('"moved value"', "title:y"),
        ),
        ("git commit --amend", [], [], ()),
        ("run-lifecycle - ?", [], [], ()),
        ('say"hello world"', [], [], ()),
    ],
)
def test_phrases_fields_and_exclusions_restrict(
    typed: str,
    required: list[tuple[str | None, str]],
    excluded: list[tuple[str | None, str]],
    words: tuple[str, ...],
) -> None:
    question = analyze_question(typed)
    assert texts(question.required) == required
    assert texts(question.excluded) == excluded
    assert question.excluded_words == words


@pytest.mark.parametrize("typed", ["", "  \n", "*", "?!", "🦀", '""', "- -"])
def test_nothing_to_look_for_is_no_question(typed: str) -> None:
    assert analyze_question(typed).is_blank


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("where is `src/a/b.py`?", ["src/a/b.py"]),
        ("C++ and C#, or .NET.", ["C++", "C#", ".NET"]),
        ("(--amend) v1.2.3! 2026-07-14", ["--amend", "v1.2.3", "2026-07-14"]),
        ("don't use well-known names", []),
        ("§8.10.5 “a_b”", ["8.10.5", "a_b"]),
        ("plain words. With stops, only", []),
        ("你好，世界-索引", []),
        ('"a-b" -c-d title:e-f', []),
    ],
)
def test_words_with_signs_in_them_are_kept_as_typed(typed: str, expected: list[str]) -> None:
    assert [literal.text for literal in analyze_question(typed).literals] == expected


@pytest.mark.parametrize(
    "typed, pieces",
    [
        ("数据库索引", ("数据", "据库", "库索", "索引")),
        ("設", ("設",)),
        ("ＡＢＣ税率", ("abc", "税率")),
        ("私のiPhone", ("私の", "の", "iphone")),
        ("ﾃﾞｰﾀ", ("デー", "ータ")),
        ("plain", ()),
    ],
)
def test_scripts_without_blanks_are_asked_for_in_bigrams(typed: str, pieces: tuple[str, ...]) -> None:
    (term,) = analyze_question(typed).terms
    assert term.pieces == pieces


def test_the_last_term_allowed_is_used_and_the_next_one_is_reported() -> None:
    words = [f"w{number}" for number in range(TERMS_MAX + 2)]
    exactly = analyze_question(" ".join(words[:TERMS_MAX]))
    assert len(exactly.terms) == TERMS_MAX
    assert exactly.ignored == ()
    more = analyze_question(" ".join(words))
    assert len(more.terms) == TERMS_MAX
    assert more.ignored == ("w64", "w65")


def test_words_repeated_past_the_limit_are_not_ignored() -> None:
    question = analyze_question("again " * 100)
    assert (len(question.terms), question.ignored) == (1, ())


def test_a_long_run_of_han_counts_by_its_bigrams() -> None:
    run = "".join(chr(0x4E00 + number) for number in range(TERMS_MAX + 20))
    question = analyze_question(run + " next")
    assert len(question.terms[0].pieces) == TERMS_MAX
    assert question.ignored == (run, "next")


def test_the_term_that_is_still_being_typed_is_known() -> None:
    assert analyze_question("find reconcil").unfinished == "reconcil"
    assert analyze_question("find reconcil ").unfinished is None
    assert analyze_question("find it?").unfinished is None


def test_a_phrase_among_other_words_lifts_and_its_words_rank() -> None:
    question = analyze_question('checker "borrowed books"')
    assert [term.text for term in question.terms] == ["checker", "borrowed", "books"]
    assert texts(question.phrases) == [(None, "borrowed books")]
    exact = analyze_question('checker "borrowed books"', exact=True)
    assert texts(exact.required) == [(None, "borrowed books")]
    assert exact.phrases == ()


def test_what_is_to_be_left_out_is_left_out_whatever_the_place() -> None:
    question = analyze_question("git log", without=("two words", "C++"))
    assert texts(question.excluded) == [(None, "two words"), (None, "c")]
    assert question.excluded_words == ("two words", "C++")
    assert question.excluded[1].literals == ("C++",)


def test_clauses_keep_the_signs_of_their_words() -> None:
    question = analyze_question('title:C++ heading:"C# notes"')
    assert [clause.literals for clause in question.required] == [("C++",), ("C#",)]


def test_a_word_that_stands_with_its_dash_in_the_index_is_a_word() -> None:
    question = analyze_question("git log -p", words_with_dash={"-p"})
    assert question.excluded == ()
    assert [literal.text for literal in question.literals] == ["-p"]
    assert [dash.beside for dash in analyze_question("git log -p").dashes] == ["log -p"]


@given(st.text(max_size=200))
def test_any_text_gives_terms_that_the_tokenizer_knows_and_holds_the_limit(typed: str) -> None:
    question = analyze_question(typed)
    clauses = question.required + question.excluded + question.phrases
    found = [*question.terms, *(term for clause in clauses for term in clause.terms)]
    known = set(tokens(typed))
    assert all(term.text in known and has_word(term.text) for term in found)
    asked = [*question.terms, *(t for one in question.required + question.excluded for t in one.terms)]
    assert sum(max(1, len(term.pieces)) for term in asked) <= TERMS_MAX
    assert all(clause.terms for clause in clauses)


@pytest.mark.parametrize(
    "text, is_pasted",
    [
        ("Get-Session | Format-Table Name -AutoSize", True),
        ("pip install --upgrade pip", True),
        ("tar -xzf", False),  # two words are a pair
        ("src/wikiq/query/parse.py", False),  # a path is one word
        ("the difference between a process and a thread", False),
    ],
)
def test_a_line_with_many_signs_looks_pasted(text: str, is_pasted: bool) -> None:
    assert analyze_question(text).is_pasted is is_pasted
