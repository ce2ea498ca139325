"""Power failures: the short form of the command, and what it once found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.logged_disk import Disk, Files, logging_disk
from tests.crash.power import observe, put, run, touch
from tests.store.wiki import bring, open_store


@pytest.mark.slow
def test_no_power_failure_damages_the_index_or_brings_a_generation_twice(tmp_path: Path) -> None:
    counts = run(tmp_path, cuts=25, seed=1)
    assert counts.faults == []
    assert counts.taken_back > 0
    assert counts.jumps > 0


def test_a_jump_that_follows_a_commit_without_generation_is_on_the_disk_at_once(tmp_path: Path) -> None:
    """Else the next session would jump from the same place, to generations that were seen already."""
    nothing = random.Random(0)
    files: Files = {}
    seen = []
    for life in range(3):
        put(tmp_path / str(life), files)
        with logging_disk() as log:
            store = open_store(tmp_path / str(life))
            touch(store)
            bring(store, {"a.md": f"# {life}\n"})
            seen.append(observe(store)[0])
            killed_at = len(log.operations)
            store.close()
        disk = Disk(files)
        disk.play(log.operations[:killed_at])
        files = disk.survivors(nothing, lost=1.0, torn=0.0)
    assert sorted(set(seen)) == seen
