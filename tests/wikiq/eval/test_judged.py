"""Judged sets: what a line says, and at which ranks a ranking holds what was wanted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wikiq.errors import UsageError
from wikiq.eval.judged import Found, JudgedQuestion, find_pages, find_sections, parse_set, path_key


def line(**more: Any) -> str:
    told = {"id": "q1", "query": "how", "relevant": [{"page": "a.md", "heading_path": ["One"]}]}
    return json.dumps(told | more)


def question(**more: Any) -> JudgedQuestion:
    (parsed,) = parse_set(line(**more), "set")
    return parsed


def test_a_line_says_what_is_wanted_and_what_is_left_out() -> None:
    parsed = question(exclude_pages=["b.md"], scope_page="a.md", blank_heading=True)
    assert parsed.relevant[0].heading_path == ("One",)
    assert (parsed.exclude_pages, parsed.scope_page, parsed.blank_heading) == (
        frozenset({"b.md"}),
        "a.md",
        True,
    )
    plain = question(relevant=[{"page": "a.md"}])
    assert plain.relevant[0].heading_path is None
    assert (plain.exclude_pages, plain.scope_page, plain.blank_heading) == (frozenset(), None, False)


def test_pages_made_of_addresses_are_spelled_as_in_the_index() -> None:
    assert question(relevant=[{"page": "https://x.org//a.md"}]).relevant[0].page == "https:/x.org/a.md"


def test_a_question_without_an_id_is_known_by_its_line() -> None:
    text = "\n" + json.dumps({"query": "how", "relevant": [{"page": "a.md"}]}) + "\n\n"
    assert [one.number for one in parse_set(text, "set")] == ["2"]


@pytest.mark.parametrize(
    "bad",
    [
        "not json",
        "[]",
        "{}",
        line(relevant=[]),
        line(relevant=[{}]),
        line(relevant="x"),
        line(relevant=[{"page": 1, "heading_path": 2}]),
    ],
)
def test_a_bad_line_is_named(bad: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_set(line() + "\n" + bad, "my.jsonl")
    assert raised.value.subject == "my.jsonl:2"


def test_an_empty_set_is_an_error() -> None:
    with pytest.raises(UsageError):
        parse_set("\n", "set")


@pytest.mark.parametrize(
    "path, title, key",
    [
        (["My Page", "Two Words!"], "my  page", ("two words",)),
        (["Other", "`C++` code"], "My Page", ("other", "c code")),
        (["My Page"], "My Page", ()),
        ([], "My Page", ()),
        (["ＡＢＣ", "Straße"], "x", ("abc", "strasse")),
    ],
)
def test_paths_compare_by_their_words_without_the_title(
    path: list[str], title: str, key: tuple[str, ...]
) -> None:
    assert path_key(path, title) == key


def test_each_wanted_section_counts_once_at_its_best_rank() -> None:
    asked = question(
        relevant=[
            {"page": "a.md", "heading_path": ["Title", "One"]},
            {"page": "a.md", "heading_path": ["Two"]},
            {"page": "b.md"},
        ]
    )
    ranked = [("c.md", ()), ("b.md", ("x",)), ("a.md", ("one",)), ("a.md", ("one",)), ("b.md", ("y",))]
    found = find_sections(asked, ranked, {"a.md": "Title"})
    assert found == Found(ranks=(2, 3), wanted=3)


def test_pages_count_once_however_many_sections_are_wanted() -> None:
    asked = question(
        relevant=[{"page": "a.md", "heading_path": ["x"]}, {"page": "a.md", "heading_path": ["y"]}]
    )
    assert find_pages(asked, ["c.md", "a.md"]) == Found(ranks=(2,), wanted=1)


def test_measures_of_what_was_found() -> None:
    found = Found(ranks=(2, 11), wanted=4)
    measured = found.measures()
    assert measured["recall@1"] == 0.0
    assert measured["recall@5"] == 0.25
    assert measured["recall@12"] == 0.5
    assert measured["mrr@10"] == 0.5
    assert measured["ndcg@10"] == pytest.approx(0.6309 / 2.5616, abs=1e-4)
    assert Found(ranks=(1, 2), wanted=2).gain() == 1.0
    assert set(Found(ranks=(), wanted=1).measures().values()) == {0.0}
    assert Found(ranks=(11,), wanted=1).reciprocal_rank() == 0.0
