"""What the daemon leaves on the disk is its own user's alone; what is not its own it leaves alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.another_user import AS_NOBODY
from tests.crash.barrier import ask
from tests.crash.process import LiveDaemon, wait_until

EQUAL_S: Final = 20.0

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
needs_setpriv = pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed here")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over one page, started by the test, in folders that others may enter."""
    root = tmp_path / "wiki"
    root.mkdir()
    (root / "a.md").write_text("# A\n")
    with contextlib.suppress(PermissionError):  # only root becomes somebody else
        for folder in (tmp_path, *tmp_path.parents[:3]):
            folder.chmod(folder.stat().st_mode | 0o011)
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db")
    yield daemon
    if daemon.process is not None:
        daemon.stop(signal.SIGKILL)


def modes_of_files(folder: Path) -> set[str]:
    """The names below a folder, once it is sure that others may do nothing with any of them."""
    modes = {path.relative_to(folder).as_posix(): path.lstat().st_mode for path in folder.rglob("*")}
    assert not {path: oct(mode) for path, mode in modes.items() if stat.S_IMODE(mode) & 0o077}
    return set(modes)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_all_it_makes_is_private_under_any_umask(live: LiveDaemon, umask: int) -> None:
    live.environ = {"XDG_RUNTIME_DIR": ""}
    live.prefix = ("sh", "-c", f'umask {umask:o}; exec "$@"', "sh")
    live.start()
    (live.root / "b.md").write_text("# B\n")
    assert ask(live.state()["control"]) is not None
    found = modes_of_files(live.db.parent)
    assert {"index.db", "index.db-wal", "index.db-shm", "index.lock", "state.json", "control.sock"} <= found
    live.stop()
    assert "index.db" in modes_of_files(live.db.parent)


@needs_root
@needs_setpriv
def test_another_user_is_not_answered_even_where_the_socket_lets_him_in(live: LiveDaemon) -> None:
    live.start()
    control = Path(live.state()["control"])
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no python outside the home of root, which another user may not enter")
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1]);"
        's.sendall(b\'{"protocol": 1, "ask": "fresh"}\\n\'); print(s.recv(4096))'
    )

    def asked() -> str:
        words = [*AS_NOBODY, python, "-c", code, str(control)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout + done.stderr

    assert "Permission denied" in asked()
    control.chmod(0o666)
    for folder in control.parents[:2]:
        folder.chmod(0o777)
    shown = asked()
    assert "fresh" not in shown
    assert "b''" in shown or "Connection reset" in shown or "Broken pipe" in shown
    assert ask(str(control)) is not None
    live.stop()


def test_links_laid_where_its_files_go_are_not_written_through(live: LiveDaemon) -> None:
    precious = live.root.with_name("precious")
    precious.write_text("precious\n")
    live.db.parent.mkdir(mode=0o700)
    for name in ("state.json", "state.json.new", "control.sock"):
        (live.db.parent / name).symlink_to(precious)
    live.environ = {"XDG_RUNTIME_DIR": ""}
    live.start(wait=False)
    wait_until((live.db.parent / "control.sock").is_socket, EQUAL_S, "the socket")
    (live.root / "b.md").write_text("# B\n")
    live.wait_equal(EQUAL_S)
    live.stop()
    assert precious.read_text() == "precious\n"


@pytest.mark.parametrize("name", ["index.lock", "index.db"])
def test_a_link_in_place_of_the_lock_or_the_index_is_never_emptied(live: LiveDaemon, name: str) -> None:
    precious = live.root.with_name("precious")
    precious.write_text("precious\n" * 100)
    live.db.parent.mkdir(mode=0o700)
    (live.db.parent / name).symlink_to(precious)
    words = [str(Path(sys.executable).with_name("indexerd")), "build", str(live.root), "--db", str(live.db)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (74, 77)
    assert done.stderr.count("\n") == 1
    assert precious.read_text() == "precious\n" * 100


def test_more_clients_than_it_serves_wait_for_their_turn(live: LiveDaemon) -> None:
    live.start()
    control = live.state()["control"]
    silent = [socket.socket(socket.AF_UNIX) for _ in range(80)]
    try:
        for client in silent:
            client.settimeout(EQUAL_S)
            client.connect(control)
        answer = ask(control)  # once the silent ones have had their five seconds
        assert answer is not None
        assert answer["fresh"]
    finally:
        for client in silent:
            client.close()
    live.stop()
