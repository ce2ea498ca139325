"""What happens to the disk, in short: the forms of minutes are commands beside this file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.crash import failing, failing_build, failing_writer, flips, kills, readers
from tests.crash.operations import EQUAL_S

traced = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed here")


@pytest.mark.slow
def test_kills_of_daemons_and_builds_leave_whole_files_and_whole_views(tmp_path: Path) -> None:
    counts = kills.run(tmp_path, kills=6, readers=2, check_every=3, seed=4)
    assert counts.faults == []
    assert counts.kills > 0
    assert counts.builds > 0
    assert counts.looks > 0
    assert counts.checks == 2


@traced
@pytest.mark.slow
def test_a_daemon_whose_calls_fail_recovers_by_itself(tmp_path: Path) -> None:
    plan = {
        "pwrite64:ENOSPC": (10,),
        "openat:EMFILE": (10,),
        "getdents64:EIO": (10,),
        "accept4:EMFILE": (1,),
    }
    counts, seen = failing.run(tmp_path, plan=plan, seed=1)
    assert counts.faults + seen.faults == []
    assert counts.hit >= 3
    assert counts.slowest_s <= EQUAL_S
    assert seen.looks > 0


@traced
@pytest.mark.slow
@pytest.mark.parametrize("call", ["fdatasync:EIO", "pwrite64:ENOSPC", "ftruncate:EIO"])
def test_a_commit_that_fails_is_no_commit_and_one_that_is_said_to_be_done_is_done(
    tmp_path: Path, call: str
) -> None:
    counts = failing_writer.run(tmp_path, calls=(call,), numbers=(3,), seed=1)
    assert counts.faults == []
    assert counts.refused > 0


@traced
@pytest.mark.slow
def test_a_build_that_says_that_it_is_done_is_done_whatever_failed(tmp_path: Path) -> None:
    calls = ("getdents64:EIO", "openat:EMFILE", "pwrite64:EIO")
    counts = failing_build.run(tmp_path, calls=calls, numbers=(1,), seed=2)
    assert counts.faults == []
    assert counts.hit > 0


@pytest.mark.slow
def test_flipped_bytes_end_in_one_line_and_in_the_right_rows(tmp_path: Path) -> None:
    counts = flips.run(tmp_path, flips=24, seed=3)
    assert counts.faults == []
    assert counts.healed > 0
    assert counts.refusals > 0
    assert counts.commands > 0


@pytest.mark.slow
def test_readers_see_no_error_while_the_daemon_comes_and_goes(tmp_path: Path) -> None:
    looks, searches, edits = readers.run(tmp_path, seconds=2, restarts=2, readers=4, seed=1)
    assert looks.faults + searches.errors == []
    assert looks.looks > 0
    assert searches.done > 0
    assert edits > 0
