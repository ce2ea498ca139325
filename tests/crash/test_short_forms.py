"""The short form of each long command; the long forms and their figures are in docs/operations.md."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.crash import barrier, bulk, kills, operations

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2])
def test_random_operations_and_restarts_leave_no_difference(tmp_path: Path, seed: int) -> None:
    waits = operations.run(tmp_path / "work", operations=120, restart_every=60, seed=seed)
    assert len(waits) == 4


def test_kills_at_random_points_leave_no_fault_and_no_difference(tmp_path: Path) -> None:
    counts = kills.run(tmp_path / "work", kills=12, readers=2, check_every=6, seed=1)
    assert counts.faults == []
    assert counts.looks > 0


def test_fresh_is_never_said_wrongly_under_a_storm_and_across_restarts(tmp_path: Path) -> None:
    counts = barrier.run(tmp_path / "work", trips=80, stormy=30, restart_every=20, pages=50, seed=1)
    assert counts.wrong == []
    assert counts.fresh > 40


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
def test_whole_trees_moved_about_leave_no_difference(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    for nth in range(120):
        (wiki / f"part{nth % 3}").mkdir(parents=True, exist_ok=True)
        (wiki / f"part{nth % 3}" / f"{nth}.md").write_text(f"# Page {nth}\n\nSee [[{nth + 1}]].\n")
    took = bulk.run(wiki, tmp_path / "work", limit_s=60.0)
    assert set(took) >= {"cp -r", "tar -x", "mv in", "mv within", "mv out", "rm -r", "git checkout one"}
