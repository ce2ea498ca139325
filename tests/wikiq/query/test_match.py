"""Expressions against a real full-text table: whatever is typed, SQLite takes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.file import TOKENIZER
from indexerd.contract.terms import grams
from wikiq.query.match import Use, clause_condition, match_expressions, name_expression, quoted
from wikiq.query.parse import TERMS_MAX, analyze_question

HOSTILE = st.text(
    st.sampled_from(
        ["a", "B", '"', "*", "(", ")", "^", "-", "+", ":", "{", "}", " ", "\x00", "數", "ก", "é", ","]
    ),
    max_size=40,
)
WORDS = st.lists(st.sampled_from(["AND", "OR", "NOT", "NEAR(a b, 2)", "title:x", '"a b"', "-c", "漢字"])).map(
    " ".join
)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    columns = "title, ancestors, heading, body"
    for name in ("natural", "grams"):
        connection.execute(f'CREATE VIRTUAL TABLE {name} USING fts5({columns}, tokenize="{TOKENIZER}")')
    yield connection
    connection.close()


@given(typed=HOSTILE | WORDS | st.text(max_size=60))
def test_any_text_gives_expressions_that_sqlite_takes(database: sqlite3.Connection, typed: str) -> None:
    question = analyze_question(typed)
    uses = {
        term.text: Use(text=term.text, is_prefix=place % 2 == 0) for place, term in enumerate(question.terms)
    }
    for known in (uses, {}):
        expressions = match_expressions(question, known)
        natural = [expressions.words, expressions.pairs, name_expression(question, known)]
        pieces = [expressions.pieces, expressions.piece_pairs]
        for clause in question.required + question.excluded:
            condition = clause_condition(clause)
            natural += [condition.natural, condition.rest]
            pieces.append(condition.pieces)
        for table, asked in (("natural", natural), ("grams", pieces)):
            for expression in filter(None, asked):
                database.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (expression,)).fetchall()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30))
def test_a_quoted_text_is_one_phrase_whatever_it_holds(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(body, tokenize="{TOKENIZER}")')
    connection.execute("SELECT rowid FROM t WHERE t MATCH ?", (quoted(text),)).fetchall()
    connection.execute("SELECT rowid FROM t WHERE t MATCH ?", (quoted(text, is_prefix=True),)).fetchall()
    connection.close()


def test_terms_are_asked_for_as_they_are_used_and_absent_ones_are_not() -> None:
    question = analyze_question("cancelation of reconcil zzz")
    uses = {
        "cancelation": Use(text="cancellation"),
        "of": Use(text="of"),
        "reconcil": Use(text="reconcil", is_prefix=True),
    }
    expressions = match_expressions(question, uses)
    assert expressions.words == '"cancellation" OR "reconcil" *'
    assert expressions.forms == ""
    assert expressions.pairs == '"cancellation of" OR "of reconcil" *'
    assert expressions.pieces == '"zzz"'
    assert expressions.piece_pairs == ""


@pytest.mark.parametrize(
    "typed, words",
    [
        ("what is a callout", '"callout"'),
        ("how to", '"how" OR "to"'),
        ('"to be" or not', '"to" OR "be" OR "or" OR "not" OR "to be"'),
        ("If Else", '"else"'),
        ("src/a/b.py", '"src" OR "a" OR "b" OR "py"'),
    ],
)
def test_function_words_are_asked_for_where_nothing_else_is_said(typed: str, words: str) -> None:
    question = analyze_question(typed)
    uses = {term.text: Use(text=term.text) for term in question.terms}
    assert match_expressions(question, uses).words == words
    whole = match_expressions(question, uses, with_function_words=True).words
    assert whole.count('"') >= words.count('"')


def test_other_forms_are_asked_for_once_each_and_quoted() -> None:
    question = analyze_question("load loads")
    uses = {term.text: Use(text=term.text) for term in question.terms}
    forms = {"load": ("loading", 'lo"ad'), "loads": ("loading",)}
    assert match_expressions(question, uses, forms).forms == '"loading" OR "lo""ad"'


def test_scripts_without_blanks_are_asked_of_the_bigram_table() -> None:
    question = analyze_question("数据库 設 tree")
    expressions = match_expressions(question, {"tree": Use(text="tree")})
    assert expressions.words == '"tree"'
    assert expressions.pieces == '"数据" OR "据库" OR "設" *'
    assert expressions.piece_pairs == ""


def test_in_an_alphabet_without_blanks_pairs_of_bigrams_are_asked_for_too() -> None:
    expressions = match_expressions(analyze_question("เอกส"), {})
    assert expressions.pieces == '"เอ" OR "อก" OR "กส"'
    assert expressions.piece_pairs == '"เอ อก" OR "อก กส"'


def test_full_width_is_also_asked_for_as_it_reads() -> None:
    expressions = match_expressions(analyze_question("ＡＢＣ"), {"ａｂｃ": Use(text="ａｂｃ")})
    assert expressions.words == '"ａｂｃ" OR "abc"'


@pytest.mark.parametrize(
    "typed, text, fits",
    [
        ('"数据库索引"', "关于数据库索引的实现", True),
        ('"数据索引"', "关于数据库索引的实现", False),
        ('"のiPhone"', "私のiPhoneです", True),
        ('"設"', "設計", True),
    ],
)
def test_a_phrase_in_bigrams_is_the_run_as_typed(
    database: sqlite3.Connection, typed: str, text: str, fits: bool
) -> None:
    (clause,) = analyze_question(typed).required
    with database:
        database.execute("DELETE FROM grams")
        database.execute("INSERT INTO grams(body) VALUES (?)", (grams(text),))
        sql = "SELECT count(*) FROM grams WHERE grams MATCH ?"
        (found,) = database.execute(sql, (clause_condition(clause).pieces,)).fetchone()
    assert bool(found) is fits


def test_a_question_of_many_repeated_pairs_stays_bounded() -> None:
    typed = " ".join(f"w{one % 9} w{one % 7} w{one % 5}" for one in range(5000))
    question = analyze_question(typed)
    uses = {term.text: Use(text=term.text) for term in question.terms}
    assert match_expressions(question, uses).pairs.count(" OR ") < 2 * TERMS_MAX
