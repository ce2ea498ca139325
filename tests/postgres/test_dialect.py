"""What PostgreSQL is asked: a GLOB means what it means to SQLite, an expression what FTS5 makes of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.postgres_server import Server
from wikiq.index.postgres.connect import connect, parse_address
from wikiq.index.postgres.dialect import glob_pattern, in_postgres
from wikiq.index.postgres.expression import Phrase, parse_expression, phrases_of
from wikiq.model.policies import DEFAULT
from wikiq.query.match import match_expressions, name_expression
from wikiq.query.parse import analyze_question

SIGNS = "ab*?[]^-/.\\(+{$|é\n"


def test_a_glob_matches_what_it_matches_in_sqlite(server: Server) -> None:
    with (
        closing(sqlite3.connect(":memory:")) as file,
        closing(connect(parse_address(server.url()))) as postgres,
    ):

        @settings(max_examples=400)
        @given(glob=st.text(SIGNS, max_size=8), path=st.text(SIGNS, max_size=6))
        def agree(glob: str, path: str) -> None:
            (ours,) = file.execute("SELECT ? GLOB ?", (path, glob)).fetchone()
            row = postgres.execute("SELECT %s::text ~ %s::text", (path, glob_pattern(glob))).fetchone()
            assert row == (bool(ours),)

        agree()


def test_values_take_the_place_of_every_kind_of_mark() -> None:
    assert in_postgres("a = ? AND b = ?", ("x\0", 1)) == ("a = %s AND b = %s", ["x\ufffd", 1])
    assert in_postgres("a = ?2 OR ?1", ("x", "y")) == ("a = %(v2)s OR %(v1)s", {"v1": "x", "v2": "y"})
    assert in_postgres("a = :name::int", {"name": 1}) == ("a = %(name)s::int", {"name": 1})
    assert in_postgres("p.path GLOB ? AND b = '%' LIMIT ?", ("a*", -1)) == (
        "p.path ~ %s AND b = '%%' LIMIT nullif(%s, -1)",
        ["^a.*$", -1],
    )


@pytest.mark.parametrize(
    "text, parsed",
    [
        ('"a" OR "b c" *', [[Phrase(words=("a",))], [Phrase(words=("b", "c"), is_prefix=True)]]),
        ('title : "a"', [[Phrase(words=("a",), column="title")]]),
        ('("a" AND "b") OR "c"', [[Phrase(words=("a",)), Phrase(words=("b",))], [Phrase(words=("c",))]]),
        ('"say ""x"""', [[Phrase(words=("say", "x"))]]),
        ("", []),
    ],
)
def test_an_expression_is_read_as_alternatives_of_phrases(text: str, parsed: list[list[Phrase]]) -> None:
    assert parse_expression(text) == parsed


@given(st.text(st.one_of(st.sampled_from('ab "-:*()日本'), st.characters(codec="utf-8")), max_size=60))
def test_every_expression_that_a_question_gives_can_be_read(text: str) -> None:
    question = analyze_question(text)
    expressions = match_expressions(question, {}, with_function_words=DEFAULT.function_words)
    for name in type(expressions).fields:
        phrases_of(getattr(expressions, name))
    phrases_of(name_expression(question, {}))
