"""Evaluations of a small index: rankings, blanked headings, intervals, the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.eval.collection import baseline_text
from tests.eval.rankings import RANKINGS, evaluate_rankings
from tests.wikiq.running import run_wikiq
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.errors import UsageError
from wikiq.eval.intervals import macro_mean, paired_interval
from wikiq.eval.judged import parse_set
from wikiq.eval.report import (
    COMPARED,
    MEASURES,
    ScoredSet,
    difference,
    mean,
    report_document,
    scored,
    with_stored,
)
from wikiq.index.database import Database, open_database

PAGES = (
    SamplePage(
        "tree.md", "# Tree\n\n## How does a tree grow?\n\nSlowly, from its roots.\n\n## Leaves\n\nGreen.\n"
    ),
    SamplePage("house.md", "# House\n\nA house has a roof; how does a roof grow?\n"),
    SamplePage("chinese.md", "# 中文\n\n数据库索引的实现原理。\n"),
)
SET = "\n".join(
    json.dumps(one)
    for one in (
        {
            "id": "leaf",
            "query": "green leaves",
            "relevant": [{"page": "tree.md", "heading_path": ["Tree", "Leaves"]}],
        },
        {"id": "roof", "query": "has a roof", "relevant": [{"page": "house.md"}]},
        {"id": "han", "query": "索引", "relevant": [{"page": "chinese.md"}]},
        {
            "id": "grow",
            "query": "How does a tree grow?",
            "relevant": [{"page": "tree.md", "heading_path": ["Tree", "How does a tree grow?"]}],
            "blank_heading": True,
        },
    )
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    return write_sample(tmp_path_factory.mktemp("evaluate"), PAGES)


@pytest.fixture
def database(index: SampleIndex) -> Iterator[Database]:
    opened = open_database(str(index.db))
    yield opened
    opened.close()


def ranks(database: Database, text: str, ranking: str) -> dict[str, tuple[int, ...]]:
    evaluation = evaluate_rankings(database, parse_set(text, "set"), [ranking])
    return {one.number: one.section.ranks for one in evaluation.judgements[ranking]}


def test_the_default_finds_what_was_judged_right(database: Database) -> None:
    found = ranks(database, SET, "default")
    assert (found["leaf"], found["roof"], found["han"]) == ((1,), (1,), (1,))


def test_a_blanked_heading_does_not_help_to_find_its_section(database: Database) -> None:
    asked = SET.splitlines()[3]
    assert ranks(database, asked, "default")["grow"] != (1,)
    assert ranks(database, asked.replace("true", "false"), "default")["grow"] == (1,)
    assert ranks(database, asked, "frozen")["grow"] != (1,)


def test_the_reference_policy_cannot_find_a_word_inside_han_text(database: Database) -> None:
    assert ranks(database, SET, "frozen")["han"] == ()
    assert ranks(database, SET, "frozen")["leaf"] == (1,)


def test_strict_and_ranks_pages_that_hold_every_word(database: Database) -> None:
    found = evaluate_rankings(database, parse_set(SET, "set"), ["strict"]).judgements["strict"]
    assert {one.number: one.page.ranks for one in found} == {
        "leaf": (1,),
        "roof": (1,),
        "han": (),
        "grow": (),
    }


def test_excluded_pages_are_dropped_before_ranks_are_counted(database: Database) -> None:
    asked = {"id": "x", "query": "how does grow", "relevant": [{"page": "house.md"}]}
    assert ranks(database, json.dumps(asked), "default")["x"] != (1,)
    assert ranks(database, json.dumps(asked | {"exclude_pages": ["tree.md"]}), "default")["x"] == (1,)
    assert ranks(database, json.dumps(asked | {"scope_page": "house.md"}), "default")["x"] == (1,)


def test_right_answers_that_the_index_does_not_hold_are_counted(database: Database) -> None:
    lost = {
        "id": "x",
        "query": "tree",
        "relevant": [{"page": "gone.md"}, {"page": "tree.md", "heading_path": ["No"]}],
    }
    assert evaluate_rankings(database, parse_set(json.dumps(lost), "set"), []).lost == 2
    assert evaluate_rankings(database, parse_set(SET, "set"), []).lost == 0


def test_every_ranking_that_developers_measure_can_be_run(database: Database) -> None:
    without_blanked = "\n".join(SET.splitlines()[:3])
    evaluation = evaluate_rankings(database, parse_set(without_blanked, "set"), RANKINGS)
    assert set(evaluation.judgements) == set(RANKINGS)


def test_an_interval_holds_its_mean_and_is_the_same_every_time() -> None:
    families = [[[0.1, 0.2, -0.1, 0.3], [0.0, 0.1]], [[0.5, -0.2, 0.1]]]
    one = paired_interval(families)
    assert one == paired_interval(families)
    assert one.low <= one.mean <= one.high
    assert one.mean == pytest.approx(macro_mean(families))


def test_families_and_sets_weigh_the_same_whatever_their_size() -> None:
    assert macro_mean([[[1.0] * 100, [0.0]], [[0.0, 0.0]]]) == pytest.approx(0.25)


def test_a_difference_without_doubt_is_told_from_one_that_may_be_chance() -> None:
    assert paired_interval([[[-0.5] * 50]]).high < 0
    assert paired_interval([[[-0.5, 0.5] * 25]]).high >= 0
    assert paired_interval([[[]]]).high >= 0


def scored_set(index: SampleIndex, *rankings: str) -> ScoredSet:
    opened = open_database(str(index.db))
    evaluation = evaluate_rankings(opened, parse_set(SET, "set"), rankings)
    opened.close()
    found = {name: scored(judged) for name, judged in evaluation.judgements.items()}
    return ScoredSet(name="set", family="", lost=evaluation.lost, rankings=found)


def test_a_run_is_reported_against_one_that_kept_few_measures(index: SampleIndex) -> None:
    one = scored_set(index, "default")
    (both,) = with_stored([one], json.loads(baseline_text([one])))
    told = report_document([both], ["default", "stored"])["macro"]
    assert set(told["stored"]["page"]) == set(COMPARED)
    assert {measure: told["default"]["page"][measure] for measure in COMPARED} == told["stored"]["page"]
    assert set(told["default"]["page"]) == set(MEASURES)


def test_a_report_is_what_a_later_run_is_compared_with(index: SampleIndex) -> None:
    first = report_document([scored_set(index, "default", "frozen")], ["default", "frozen"])
    stored = json.loads(json.dumps(first))
    (both,) = with_stored([scored_set(index, "default")], stored)
    assert set(both.rankings) == {"default", "stored"}
    assert difference([both], "default", "stored", "section", "mrr@10").mean == 0.0
    assert mean([both], "stored", "page", "recall@12") == first["macro"]["default"]["page"]["recall@12"]
    with pytest.raises(UsageError):
        with_stored([both], {"no": "report"})


def test_the_command_prints_measures_and_differences(index: SampleIndex, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(SET, "utf-8")
    done = run_wikiq("eval", str(file), index=index)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "mine: 4 questions"
    assert [line.split()[0] for line in lines if line.startswith("default ")] == ["default", "default"]


def test_the_command_stores_a_run_and_compares_with_it(index: SampleIndex, tmp_path: Path) -> None:
    file, report = tmp_path / "mine.jsonl", tmp_path / "report.json"
    file.write_text(SET, "utf-8")
    stored = run_wikiq("eval", str(file), "--json", index=index)
    report.write_text(stored.out, "utf-8")
    assert stored.json["format"] == 1
    assert stored.json["rankings"] == ["default"]
    done = run_wikiq("eval", str(file), "--against", str(report), "--json", index=index)
    assert done.json["rankings"][-1] == "stored"
    assert done.json["differences"]["stored"]["section"]["mrr@10"] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["missing.jsonl"], "missing.jsonl: No such file"),
        (["bad.jsonl"], "bad.jsonl:1: is no judged question"),
        (["mine.jsonl", "--against", "bad.jsonl"], "is no report"),
        (["mine.jsonl", "--ablate"], "--ablate"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(
    index: SampleIndex, tmp_path: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "mine.jsonl").write_text(SET, "utf-8")
    (tmp_path / "bad.jsonl").write_text("nothing\n", "utf-8")
    done = run_wikiq("eval", *arguments, "--db", str(index.db), index=index, cwd=tmp_path)
    assert done.status == 2
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_the_index_is_only_read(index: SampleIndex, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(SET, "utf-8")
    before = index.db.read_bytes()
    assert run_wikiq("eval", str(file), index=index).status == 0
    assert index.db.read_bytes() == before
