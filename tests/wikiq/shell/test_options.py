"""The plain reader of arguments against click: what it takes, click takes in the same way."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.suggestions import nearest
from wikiq.commands.search import command
from wikiq.shell.options import AGE, COMMANDS, COUNT, FLAG, SEARCH, SECONDS, SearchArguments
from wikiq.shell.parse import as_command, meant_commands, option_hints, parse_plainly, unknown_options


def parse_with_click(arguments: list[str]) -> SearchArguments:
    """What click makes of the arguments; click.UsageError when it refuses them."""
    context = command.make_context("search", list(arguments))
    return SearchArguments(**{field: value for field, value in context.params.items() if value is not None})


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["one"],
        ["git", "commit", "--amend"],
        ["checker", "-borrowed"],
        ["-a", "-bc", "-"],
        ["a b", '"exact phrase"', "title:word"],
        ["--topic", "a", "--topic=b", "word", "--not-topic", "c"],
        ["word", "--json"],
        ["--json", "--ndjson"],
        ["--limit", "5"],
        ["--limit=1000"],
        ["--limit", "5", "--limit", "7"],
        ["--path", "a=b", "--path=c=d"],
        ["--since", "7d", "--until=2026-07-14", "--sections", "--exact", "--prefix", "--all"],
        ["--unknown=value", "--jsonx", "--top", "a"],
        ["--db", "x.db", "--wiki", "w", "--fresh", "--timeout", "2.5", "--format", "{path}"],
        ["", " "],
        ["日本語", "--topic", "日本語"],
    ],
)
def test_what_is_read_plainly_is_what_click_reads(arguments: list[str]) -> None:
    plain = parse_plainly(arguments)
    assert plain is not None
    assert plain == parse_with_click(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["word", "--", "--json"],
        ["--topic"],
        ["--topic", "--json"],
        ["--topic="],
        ["--topic", ""],
        ["--json=yes"],
        ["--limit", "many"],
        ["--limit", "0"],
        ["--limit", "-1"],
        ["--limit", "1001"],
        ["--limit", "٣"],
        ["--timeout", "-1"],
        ["--timeout", "1e3"],
    ],
)
def test_every_doubt_is_left_to_click(arguments: list[str]) -> None:
    assert parse_plainly(arguments) is None


PIECES = st.one_of(
    st.sampled_from(
        [*SEARCH, *(f"{name}=" for name in SEARCH), "--", "--help", "-", "-x", "--no", "5", "2.5"]
    ),
    st.builds(lambda name, value: f"{name}={value}", st.sampled_from(sorted(SEARCH)), st.text(max_size=3)),
    st.text(max_size=4),
)


@given(st.lists(PIECES, max_size=6))
def test_any_arguments_are_left_to_click_or_read_like_click(arguments: list[str]) -> None:
    plain = parse_plainly(arguments)
    if plain is None:
        return
    assert plain == parse_with_click(arguments)


def test_every_option_of_the_table_reaches_its_field_both_ways() -> None:
    sample = {COUNT: "3", SECONDS: "3", AGE: "90000.5"}
    for name, option in SEARCH.items():
        arguments = [name] if option.kind == FLAG else [name, sample.get(option.kind, "x")]
        plain = parse_plainly(arguments)
        assert plain is not None
        assert getattr(plain, option.field) != getattr(SearchArguments(), option.field)
        assert plain == parse_with_click(arguments)


def test_no_option_has_one_letter() -> None:
    assert [name for name in SEARCH if not name.startswith("--") or len(name) < 4] == []
    with pytest.raises(click.exceptions.Exit):
        parse_with_click(["--help"])


@pytest.mark.parametrize(
    "typed, command_line",
    [
        (["search", "a"], ["search", "a"]),
        (["a", "search"], ["search", "a", "search"]),
        (["status"], ["status"]),
        (["--db", "x", "status", "--json"], ["status", "--db", "x", "--json"]),
        (["--db=x", "--fresh", "status"], ["status", "--db=x", "--fresh"]),
        (["--topic", "status"], ["search", "--topic", "status"]),
        (["--topic", "status", "status"], ["status", "--topic", "status"]),
        (["--amend", "status"], ["search", "--amend", "status"]),
        (["--", "status"], ["search", "--", "status"]),
        (["--json", "--help"], ["--json", "--help"]),
        (["--help"], ["--help"]),
        ([], []),
        (["--json"], ["search", "--json"]),
        (["--limit"], ["search", "--limit"]),
        (["-h"], ["--help"]),
        (["search", "-h"], ["search", "--help"]),
        (["show", "-h"], ["show", "--help"]),
        (["head", "-h"], ["search", "head", "-h"]),
        (["search", "head", "-h"], ["search", "head", "-h"]),
    ],
)
def test_the_first_word_that_is_no_option_decides_the_command(
    typed: list[str], command_line: list[str]
) -> None:
    assert as_command(typed) == command_line


def test_a_first_word_near_a_command_is_told() -> None:
    assert meant_commands(["statsu", "page"]) == ["status"]
    assert meant_commands(["--json", "page"]) == ["pages"]
    assert meant_commands(["search", "statsu"]) == []
    assert meant_commands(["serch", "for", "many", "words"]) == ["search"]
    assert meant_commands(["shwo", "page", "--db", "file"]) == ["show"]
    assert meant_commands(["how", "to", "install"]) == []
    assert [meant_commands([name]) for name in COMMANDS] == [[] for _ in COMMANDS]


def test_words_that_look_like_options_are_known_but_not_the_values_of_options() -> None:
    typed = ["--amend", "--topic", "--jsno", "-x", "--json", "--limt=3", "--", "--fersh"]
    assert unknown_options(typed) == ["--amend", "--limt"]


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("--jsno", ["--json"]),
        ("--topics", ["--topic"]),
        ("--limt", ["--limit"]),
        ("--sectons", ["--sections"]),
        ("--seciton", ["--sections"]),
        ("--JSON", ["--json"]),
        ("--linksto", ["--links-to"]),
        ("--amend", []),
        ("--help", []),
        ("--dbs", ["--db"]),
        ("--xyz", []),
        ("--no-verify", []),
    ],
)
def test_an_option_one_or_two_edits_away_was_meant(typed: str, meant: list[str]) -> None:
    assert nearest(typed, SEARCH) == meant


def test_every_misspelt_option_is_told_once() -> None:
    assert option_hints(["--jsno", "word", "--jsno", "--limt=3", "--amend"]) == [
        "--jsno: taken as a word to search for; the option is --json",
        "--limt: taken as a word to search for; the option is --limit",
    ]
