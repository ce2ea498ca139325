"""The commands of this folder in their short form: seconds instead of the minutes of the long one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.crash import barrier, bulk, fuzz, hostile, mutants, one_state, operations, queries, soak, storm

pytestmark = pytest.mark.slow

Command = Callable[[Sequence[str]], int]


@pytest.mark.parametrize(
    "command, words",
    [
        (soak.main, "--edits 60 --rate 50 --pages 40 --idle 1"),
        (storm.main, "--files 300 --queue 0 --limit 60"),
        (operations.main, "--operations 40 --restart-every 20"),
        (operations.main, "--operations 30 --restart-every 30 --scan-interval 600"),
        (fuzz.main, "--minutes 0.05 --every 20"),
        (hostile.main, "--seconds 1 --large 0 --found-s 120 --stop-s 30"),  # limits are for the long form
        (mutants.main, "--only ab&is&below"),
        (queries.main, "--questions 400"),
        (barrier.main, "--trips 40 --storm 12 --restart-every 13 --command-every 10"),
        (barrier.main, "--trips 12 --storm 3 --restart-every 0 --folders 2000 --overflow-every 3"),
        (one_state.main, "--answers 140 --rate 0"),
    ],
    ids=[
        "soak",
        "storm",
        "operations",
        "operations_by_events",
        "fuzz",
        "hostile",
        "mutants",
        "queries",
        "barrier",
        "barrier_of_2000_folders",
        "one_state",
    ],
)
def test_a_command_finds_no_fault(command: Command, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command([*(word.replace("&", " ") for word in words.split()), "--seed", "1"]) == 0
    assert capsys.readouterr().out.count("\n") >= 2


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
def test_trees_that_are_copied_moved_and_checked_out_are_followed(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    for nth in range(60):
        page = wiki / f"d{nth % 3}" / f"{nth}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# Page {nth}\n\nwords\n")
    took = bulk.run(wiki, tmp_path / "work", limit_s=60.0, checkouts=1)
    assert {"mv in", "mv within", "mv out", "git checkout one", "git stash", "git gc"} <= took.keys()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may shorten the kernel's queue")
def test_a_storm_over_a_short_queue_ends_equal() -> None:
    """How much the queue loses depends on the machine: tests/daemon forces a loss, and counts one."""
    assert storm.main(["--files", "600", "--queue", "64", "--limit", "60"]) == 0
    assert int(storm.QUEUE.read_text()) == storm.USUAL_QUEUE
