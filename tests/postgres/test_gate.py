"""Judged sets are answered by PostgreSQL as well as by the file.

Two corpora of other scripts, in part; `python -m tests.eval.postgresql` asks all questions of all four.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eval.collection import Collection
from tests.eval.postgresql import compare
from tests.postgres_server import Server
from tests.shared_data import shared_folder

SETS = {"claudedocs": 1, "jsquad": 5}  # of so many questions one is asked
LEAST = {"mrr@10": 0.97, "recall@12": 0.98}


@pytest.mark.parametrize("name, every", SETS.items())
def test_a_judged_set_loses_nothing_to_speak_of(
    name: str, every: int, server: Server, tmp_path: Path
) -> None:
    folder = shared_folder("eval")
    collection = Collection(sets=folder / "sets", corpora=folder, work=tmp_path)
    ((_, ratios),) = compare(collection, [name], server.url(schema="gate"), every=every)
    for (level, measure), ratio in ratios.items():
        assert ratio >= LEAST[measure], (level, measure)
