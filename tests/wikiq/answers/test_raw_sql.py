"""`wikiq sql`: what a statement may do, how long, and in which forms its rows are printed."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wikiq.asking import answer
from tests.wikiq.running import run_on_screen, run_wikiq
from tests.wikiq.sample_index import SampleIndex
from wikiq.answers.raw_sql import StatementError, Table, ask
from wikiq.errors import TooSlowError, UsageError
from wikiq.index.database import Database

ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT slug FROM v1_pages",
        "SELECT rowid, bm25(sections_fts) FROM sections_fts WHERE sections_fts MATCH 'run'",
        "SELECT snippet(sections_fts, 3, '[', ']', '…', 5) FROM sections_fts WHERE sections_fts MATCH 'run'",
        "SELECT * FROM terms LIMIT 1",
        "SELECT j.value FROM v1_sections, json_each(heading_path) j",
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 5) SELECT x FROM t",
        "EXPLAIN QUERY PLAN SELECT * FROM v1_links",
        "PRAGMA table_info(v1_pages)",
        "PRAGMA user_version",
        "SELECT 1;",
    ],
)
def test_whatever_reads_is_answered(database: Database, statement: str) -> None:
    assert answer(database, ask, statement).rows


@pytest.mark.parametrize(
    "statement, problem",
    [
        ("DELETE FROM page", "does more than read"),
        ("INSERT INTO meta VALUES ('a', 'b')", "does more than read"),
        ("UPDATE sqlite_master SET name = 'x'", "may not be modified"),
        ("CREATE TEMP TABLE t(x)", "does more than read"),
        ("CREATE TABLE t(x)", "does more than read"),
        ("DROP TABLE page", "does more than read"),
        ("COMMIT", "does more than read"),
        ("SAVEPOINT s", "does more than read"),
        ("ATTACH ':memory:' AS other", "does more than read"),
        ("PRAGMA query_only = OFF", "does more than read"),
        ("PRAGMA user_version = 7", "does more than read"),
        ("VACUUM INTO 'copy.db'", "VACUUM"),
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELEC 1", "syntax error"),
        ("SELECT * FROM nowhere", "no such table"),
        ("SELECT missing FROM v1_pages", "no such column"),
        ("SELECT ?", "bindings"),
    ],
)
def test_whatever_does_more_or_is_wrong_is_refused_in_one_line(
    database: Database, statement: str, problem: str
) -> None:
    with pytest.raises(StatementError, match=problem) as refused:
        answer(database, ask, statement)
    assert "\n" not in str(refused.value)
    assert answer(database, ask, "SELECT 1").rows == ((1,),)


def test_an_empty_statement_is_no_statement(database: Database) -> None:
    with pytest.raises(UsageError):
        answer(database, ask, " ; ")


def test_a_statement_ends_at_its_time_limit(database: Database) -> None:
    with pytest.raises(TooSlowError) as refused, database.snapshot(0.05) as snapshot:
        ask(snapshot, ENDLESS)
    assert str(refused.value) == (
        "the statement: took longer than 0.05 s; ask for less, or raise --time-limit"
    )
    assert answer(database, ask, "SELECT 1").rows == ((1,),)


def test_rows_past_the_most_are_cut_and_that_is_said(database: Database) -> None:
    assert not answer(database, ask, "SELECT slug FROM v1_pages LIMIT 2", most_rows=2).is_cut
    table = answer(database, ask, "SELECT slug FROM v1_pages LIMIT 3", most_rows=2)
    assert (len(table.rows), table.is_cut) == (2, True)


def test_values_fill_the_question_marks(database: Database) -> None:
    assert answer(database, ask, "SELECT ? || ?", ("a", "b")).rows == (("ab",),)


def test_infinity_is_text_where_json_has_no_number_for_it(shared_index: SampleIndex) -> None:
    document = run_wikiq("sql", "SELECT 9e999 AS a, -9e999 AS b, 1.5 AS c", "--json", index=shared_index).json
    assert document["rows"] == [{"a": "9e999", "b": "-9e999", "c": 1.5}]


def test_rows_are_printed_with_tabs_as_csv_and_as_json(shared_index: SampleIndex) -> None:
    statement = "SELECT 'a,\"b' AS x, NULL AS y, x'00ff' AS z, 1.5 AS w"
    plain = run_wikiq("sql", statement, index=shared_index)
    assert (plain.status, plain.out) == (0, 'a,"b\t\t00ff\t1.5\n')
    written = run_wikiq("sql", statement, "--csv", index=shared_index).out
    assert list(csv.reader(io.StringIO(written))) == [["x", "y", "z", "w"], ['a,"b', "", "00ff", "1.5"]]
    document = run_wikiq("sql", statement, "--json", index=shared_index).json
    assert document == {
        "format": 1,
        "columns": ["x", "y", "z", "w"],
        "rows": [{"x": 'a,"b', "y": None, "z": "00ff", "w": 1.5}],
    }


def test_columns_of_one_name_are_told_apart_where_names_are_keys(shared_index: SampleIndex) -> None:
    statement = "SELECT 1 AS a, 2 AS a, 3 AS 'a:1', 4 AS a, 5 AS b"
    document = run_wikiq("sql", statement, "--json", index=shared_index).json
    assert document["columns"] == ["a", "a:2", "a:1", "a:3", "b"]
    assert document["rows"] == [{"a": 1, "a:2": 2, "a:1": 3, "a:3": 4, "b": 5}]
    line = run_wikiq("sql", statement, "--ndjson", index=shared_index).json
    assert line == document["rows"][0]
    written = run_wikiq("sql", statement, "--csv", index=shared_index).out
    assert written == "a,a,a:1,a,b\n1,2,3,4,5\n"


@given(st.lists(st.sampled_from(("a", "a:1", "a:1:1", "a:2", "b"))))
def test_every_column_has_a_key_of_its_own_and_keeps_a_name_that_only_it_has(names: list[str]) -> None:
    keys = Table(columns=tuple(names), rows=(), is_cut=False).keys
    assert len(set(keys)) == len(keys) == len(names)
    assert all(key == name for key, name in zip(keys, names, strict=True) if names.count(name) == 1)
    assert all(key.startswith(name) for key, name in zip(keys, names, strict=True))


def test_the_exit_status_tells_rows_none_and_refusal(shared_index: SampleIndex) -> None:
    statuses = [
        run_wikiq("sql", *words, index=shared_index).status
        for words in (
            ["SELECT slug FROM v1_pages WHERE slug = ?", "paths"],
            ["SELECT 1 WHERE 0"],
            ["DELETE FROM page"],
            ["--json", "--csv", "SELECT 1"],
            ["--time-limit", "0.05", ENDLESS],
        )
    ]
    assert statuses == [0, 1, 2, 2, 2]


def test_a_terminal_gets_a_table_and_no_control_characters(shared_index: SampleIndex) -> None:
    status, shown = run_on_screen(
        "sql", "SELECT 'x' || char(27) || '[31m' AS name, 12345 AS n", index=shared_index, NO_COLOR="1"
    )
    assert status == 0
    assert shown.decode().split() == ["name", "n", "x\ufffd[31m", "12345"]


def test_an_unknown_view_or_column_is_told_with_those_there_are(database: Database) -> None:
    with pytest.raises(StatementError, match=r"did you mean v1_pages\? the views are .*v1_sections"):
        answer(database, ask, "SELECT 1 FROM v1_page")
    with pytest.raises(StatementError, match=r"did you mean title\? v1_pages has page_id, slug, .*title"):
        answer(database, ask, "SELECT tittle FROM v1_pages")
    with pytest.raises(StatementError, match="no such column: x; the views are v1_"):
        answer(database, ask, "SELECT x")
