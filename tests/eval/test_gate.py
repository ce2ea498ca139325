"""No change makes searches worse on four judged sets, against the scores that are stored here.

`python -m tests.eval --work FOLDER --only claudedocs link-obsidian-ru xquad-en xquad-zh --store
tests/eval/baseline.json` stores new ones, after a change that is better.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.eval.collection import Collection, run_sets
from tests.shared_data import shared_folder
from wikiq.eval.intervals import Interval
from wikiq.eval.report import COMPARED, LEVELS, ScoredSet, difference, with_stored

BASELINE = Path(__file__).with_name("baseline.json")
SETS = ("claudedocs", "link-obsidian-ru", "xquad-en", "xquad-zh")  # judged, links, questions, without blanks


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> list[ScoredSet]:
    """The sets under today's ranking and, as `stored`, under the one of the baseline."""
    folder = shared_folder("eval")
    collection = Collection(sets=folder / "sets", corpora=folder, work=tmp_path_factory.mktemp("eval"))
    stored: Any = json.loads(BASELINE.read_text("utf-8"))
    return with_stored(run_sets(collection, SETS, ["default"]), stored)


@pytest.mark.slow
@pytest.mark.parametrize("measure", COMPARED)
@pytest.mark.parametrize("level", LEVELS)
def test_searches_are_not_worse_than_what_is_stored(
    scores: list[ScoredSet], level: str, measure: str
) -> None:
    assert [one.name for one in scores] == list(SETS)
    found: Interval = difference(scores, "default", "stored", level, measure)
    assert found.high >= 0, found


@pytest.mark.slow
def test_every_right_answer_of_the_sets_is_in_the_index(scores: list[ScoredSet]) -> None:
    assert {one.name: one.lost for one in scores} == dict.fromkeys(SETS, 0)
