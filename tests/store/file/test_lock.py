"""The writer's lock: one holder, a name for the second, no harm from readers who only look."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from indexerd.errors import AnotherWriterError, NotPermittedError, StorageError
from indexerd.store.file.lock import OTHER_HOST_S, WriterLock

HOLD = """
import sys
from pathlib import Path
from indexerd.store.file.lock import WriterLock
lock = WriterLock.acquire(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_writer_is_told_which_process_is_the_first(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(AnotherWriterError, match=rf"process {first.pid} \(-c {path}\)") as caught:
            WriterLock.acquire(path, patience_s=0.05)
        assert caught.value.exit_status == 75
        first.communicate("")
    WriterLock.acquire(path, patience_s=0).release()


def test_a_lock_dies_with_its_process_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.kill()
        first.communicate()
    assert path.exists()
    WriterLock.acquire(path, patience_s=0).release()
    assert path.exists()


def test_a_reader_that_probes_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    WriterLock.acquire(path).release()
    probe = os.open(path, os.O_RDONLY)
    fcntl.flock(probe, fcntl.LOCK_SH)
    leaving = threading.Timer(0.2, os.close, [probe])
    leaving.start()
    try:
        WriterLock.acquire(path).release()
    finally:
        leaving.join()


def test_a_held_lock_can_be_probed_through_a_read_only_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    lock = WriterLock.acquire(path)
    probe = os.open(path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
    lock.release()
    fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
    os.close(probe)


def test_releasing_twice_gives_back_nothing_of_somebody_else(tmp_path: Path) -> None:
    lock = WriterLock.acquire(tmp_path / "index.lock")
    lock.release()
    other = os.open(tmp_path / "index.lock", os.O_RDONLY)
    lock.release()
    os.fstat(other)
    os.close(other)


def test_the_lock_has_the_mode_it_is_given_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        WriterLock.acquire(tmp_path / "index.lock", mode=0o640).release()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "index.lock").stat().st_mode) == 0o640


def test_a_link_in_place_of_the_lock_is_refused_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("keep me")
    (tmp_path / "index.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError, match="symbolic link"):
        WriterLock.acquire(tmp_path / "index.lock")
    assert (tmp_path / "precious").read_text() == "keep me"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_lock_of_somebody_else_is_not_permitted(tmp_path: Path) -> None:
    (tmp_path / "index.lock").touch(mode=0o000)
    with pytest.raises(NotPermittedError, match="owner of the index"):
        WriterLock.acquire(tmp_path / "index.lock")


@pytest.mark.parametrize("words", [b"", b"no number", b"\xff\xfe\x00"])
def test_what_the_file_says_is_only_ever_repeated_never_believed(tmp_path: Path, words: bytes) -> None:
    path = tmp_path / "index.lock"
    path.write_bytes(words)
    holder = os.open(path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(AnotherWriterError, match="by another process"):
        WriterLock.acquire(path, patience_s=0)
    os.close(holder)


def left_by(path: Path, host: str) -> None:
    path.write_text(f"42 indexerd run /notes\n{host}\n")


def test_a_writer_of_another_host_is_respected_while_it_gives_signs_of_life(tmp_path: Path) -> None:
    """Two machines with one home on a server: neither kernel knows of the other's lock."""
    path, state = tmp_path / "index.lock", tmp_path / "state.json"
    left_by(path, "elsewhere")
    with pytest.raises(AnotherWriterError, match=r"process 42 \(indexerd run /notes\) on the host elsewhere"):
        WriterLock.acquire(path, patience_s=0)
    long_ago = path.stat().st_mtime - OTHER_HOST_S - 1
    state.touch()
    os.utime(path, (long_ago, long_ago))
    with pytest.raises(AnotherWriterError):
        WriterLock.acquire(path, patience_s=0)
    os.utime(state, (long_ago, long_ago))
    WriterLock.acquire(path, patience_s=0).release()


def test_a_writer_of_this_host_or_one_that_gave_its_lock_back_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    left_by(path, os.uname().nodename)
    WriterLock.acquire(path, patience_s=0).release()
    assert path.read_bytes() == b""


def test_the_other_writers_words_cannot_reach_a_terminal_as_controls(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    path.write_bytes(b"42 evil\x1b]0;x\x07\nsecond line")
    holder = os.open(path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(AnotherWriterError) as caught:
        WriterLock.acquire(path, patience_s=0)
    assert str(caught.value).isprintable()
    os.close(holder)
