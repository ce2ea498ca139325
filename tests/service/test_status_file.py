"""The live state beside the index: what it says, how rarely it is written, and as whose."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from indexerd.contract.live_state import TOUCH_INTERVAL_S, LastScan, LiveState, Mode
from indexerd.errors import ForeignFileError
from indexerd.service.status_file import WRITE_INTERVAL_S, StateFile, refuse_foreign

SCAN = LastScan(
    started_at="2026-11-29T10:00:00.000Z",
    finished_at="2026-11-29T10:00:00.016Z",
    reason="periodic",
    pages_seen=3112,
    pages_changed=2,
    missed_by_events=1,
)
NOW = "2026-11-29T10:00:01.000Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


def test_the_file_says_all_of_the_state_in_one_object(path: Path) -> None:
    state = LiveState(
        mode=Mode.SCANNING,
        reason="no events here",
        remedy="use a local disk",
        pending=3,
        open=("a.md is being written",),
        last_scan=SCAN,
        counters={"scans": 4},
        problems=2,
        index=(66306, 918),
    )
    StateFile(str(path)).write_now(state, 0.0, NOW)
    assert json.loads(path.read_text()) == {
        "format": 1,
        "pid": os.getpid(),
        "mode": "scanning",
        "reason": "no events here",
        "remedy": "use a local disk",
        "pending": 3,
        "open": ["a.md is being written"],
        "last_scan": {
            "started_at": SCAN.started_at,
            "finished_at": SCAN.finished_at,
            "reason": "periodic",
            "pages_seen": 3112,
            "pages_changed": 2,
            "missed_by_events": 1,
        },
        "counters": {"scans": 4},
        "problems": 2,
        "control": None,
        "index": [66306, 918],
        "updated_at": NOW,
    }


def test_that_nothing_is_pending_any_more_is_written_at_once(path: Path) -> None:
    file = StateFile(str(path))
    file.write(LiveState(pending=2), 0.0, NOW)
    assert not file.write(LiveState(pending=1), 0.5, NOW)
    assert file.write(LiveState(), 0.5, NOW)
    assert json.loads(path.read_text())["pending"] == 0


def test_an_equal_state_is_not_written_again(path: Path) -> None:
    file = StateFile(str(path))
    assert file.write(LiveState(pending=1), 0.0, NOW)
    path.unlink()
    assert file.due_at(LiveState(pending=1)) == TOUCH_INTERVAL_S
    assert not file.write(LiveState(pending=1), 100.0, NOW)
    assert not path.exists()


@pytest.mark.parametrize("late_s, touched", [(-0.001, False), (0.0, True)])
def test_the_time_of_an_equal_state_is_renewed_and_not_its_text(
    path: Path, late_s: float, touched: bool
) -> None:
    file = StateFile(str(path))
    file.write(LiveState(pending=1), 10.0, NOW)
    os.utime(path, (0, 0))
    before = path.stat()
    file.write(LiveState(pending=1), 10.0 + TOUCH_INTERVAL_S + late_s, NOW)
    after = path.stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert (after.st_mtime > 0) is touched


def test_a_long_piece_of_work_touches_the_file_at_every_sign_of_progress(path: Path) -> None:
    file = StateFile(str(path))
    file.write(LiveState(pending=1), 0.0, NOW)
    for minute in range(1, 4):
        os.utime(path, (0, 0))
        file.touch(60.0 * minute)
        assert path.stat().st_mtime > 0


def test_a_new_state_waits_until_a_second_has_passed(path: Path) -> None:
    file = StateFile(str(path))
    file.write(LiveState(pending=1), 10.0, NOW)
    later = LiveState(pending=2)
    assert not file.write(later, 10.0 + WRITE_INTERVAL_S - 0.001, NOW)
    assert file.due_at(later) == 10.0 + WRITE_INTERVAL_S
    assert file.write(later, 10.0 + WRITE_INTERVAL_S, NOW)
    assert json.loads(path.read_text())["pending"] == 2


@pytest.mark.parametrize("umask", [0o000, 0o077])
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_the_file_has_the_mode_of_the_index_under_any_umask(path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        StateFile(str(path), mode=mode).write_now(LiveState(), 0.0, NOW)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("text", ['{"theirs": 1}', "words", '{"format": "x"}', '{"format": 99, "mine": 1}'])
def test_a_file_of_another_program_is_refused_and_left_alone(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ForeignFileError, match=r"folder of its own"):
        refuse_foreign(str(path))
    assert path.read_text() == text


@pytest.mark.parametrize("text", [None, "", "\0" * 300, '{"format": 1, "pid"', '{"format": 2, "pid": 1}\n'])
def test_what_a_power_failure_left_of_the_state_or_another_version_wrote_is_no_other_programs(
    path: Path, text: str | None
) -> None:
    if text is not None:
        path.write_text(text)
    refuse_foreign(str(path))


def test_a_state_of_our_own_is_not_foreign(path: Path) -> None:
    StateFile(str(path)).write_now(LiveState(), 0.0, NOW)
    refuse_foreign(str(path))


def test_a_link_put_in_the_place_of_the_temporary_file_is_not_written_through(path: Path) -> None:
    target = path.with_name("precious")
    target.write_text("mine")
    path.with_name("state.json.new").symlink_to(target)
    StateFile(str(path)).write_now(LiveState(), 0.0, NOW)
    assert target.read_text() == "mine"


def test_a_folder_that_is_gone_does_not_fail_the_daemon(tmp_path: Path) -> None:
    file = StateFile(str(tmp_path / "gone" / "state.json"))
    file.write_now(LiveState(), 0.0, NOW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("reason", ["the disk is full", None])
def test_a_full_disk_is_told_of_in_the_blocks_that_the_file_has(
    path: Path, monkeypatch: pytest.MonkeyPatch, reason: str | None
) -> None:
    file = StateFile(str(path))
    file.write_now(LiveState(reason="the first look at the tree is not finished"), 0.0, NOW)
    before = path.stat()
    really_write = os.write

    def write_a_part(descriptor: int, data: bytes) -> int:
        is_new = os.fstat(descriptor).st_ino != before.st_ino
        return really_write(descriptor, data[:10] if is_new else data)

    monkeypatch.setattr(os, "write", write_a_part)
    file.write_now(LiveState(reason=reason), 5.0, NOW)
    assert path.stat().st_ino == before.st_ino
    assert json.loads(path.read_text())["reason"] == reason
    assert os.listdir(path.parent) == ["state.json"]


def test_any_other_error_leaves_what_was_said_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = StateFile(str(path))
    file.write_now(LiveState(pending=1), 0.0, NOW)

    def refuse(descriptor: int, data: bytes) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", refuse)
    file.write_now(LiveState(pending=2), 5.0, NOW)
    monkeypatch.undo()
    assert json.loads(path.read_text())["pending"] == 1


def test_a_state_that_could_not_be_written_is_written_as_soon_as_it_can(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    file = StateFile(str(folder / "state.json"))
    assert file.write(LiveState(pending=3), 100.0, "then")
    folder.mkdir()
    assert not file.write(LiveState(pending=3), 100.5, "then")
    assert file.write(LiveState(pending=3), 101.0, "then")
    assert (folder / "state.json").exists()
