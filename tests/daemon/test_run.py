"""`indexerd run` as a process of its own: exit statuses, what it leaves behind, who may read it."""

from __future__ import annotations

import grp
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.another_user import AS_NOBODY, NOBODY
from tests.crash.process import SCANS_OFTEN, LiveDaemon, hash_index, wait_until
from wikiq.index.daemon_state import writer_is_running

EQUAL_S: Final = 20.0
INDEXERD: Final = str(Path(sys.executable).with_name("indexerd"))
WIKIQ: Final = str(Path(sys.executable).with_name("wikiq"))


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over one page, started by the test."""
    root = tmp_path / "wiki"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nfirst words\n")
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db")
    yield daemon
    if daemon.process is not None:
        daemon.stop(signal.SIGKILL)


def run_once(live: LiveDaemon, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [INDEXERD, "run", str(live.root), "--db", str(live.db), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def ask_fresh(path: str) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(EQUAL_S)
        client.connect(path)
        client.sendall(b'{"protocol": 1, "ask": "fresh"}\n')
        answer: dict[str, Any] = json.loads(client.makefile().readline())
        return answer


def test_a_folder_where_another_program_keeps_its_state_is_refused(live: LiveDaemon) -> None:
    live.db.parent.mkdir()
    theirs = live.db.with_name("state.json")
    theirs.write_text('{"theirs": 1}')
    done = run_once(live)
    assert (done.returncode, done.stderr.count("\n")) == (74, 1)
    assert "another program" in done.stderr
    assert [path.name for path in live.db.parent.iterdir()] == ["state.json"]
    assert theirs.read_text() == '{"theirs": 1}'


def test_a_daemon_follows_answers_and_stops_cleanly(live: LiveDaemon) -> None:
    live.start()
    control = live.state()["control"]
    (live.root / "b.md").write_text("# B")
    answer = ask_fresh(control)
    assert answer["fresh"] is True
    live.wait_equal(0.1)
    live.stop()
    assert not Path(control).exists()
    assert live.db.with_name("index.db-wal").exists(), "so that readers may open it without a writer"
    assert hash_index(live.db).keys() == {"a.md", "b.md"}
    live.verify()


def test_who_wants_freshness_waits_for_a_daemon_that_is_just_starting(live: LiveDaemon) -> None:
    live.start()
    live.stop(signal.SIGKILL)  # its state stays, and names a socket where nobody listens
    live.start(wait=False)
    wait_until(lambda: writer_is_running(str(live.db.parent)), EQUAL_S, "the lock is held")
    (live.root / "b.md").write_text("# B")
    words = [WIKIQ, "sync", "--json", "--timeout", str(EQUAL_S), "--db", str(live.db)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert hash_index(live.db).keys() == {"a.md", "b.md"}


def test_a_second_daemon_leaves_the_first_alone_and_names_it(live: LiveDaemon) -> None:
    live.start()
    assert live.process is not None
    second = run_once(live)
    assert second.returncode == 75
    assert str(live.process.pid) in second.stderr
    assert second.stderr.count("\n") == 1
    (live.root / "b.md").write_text("# B")
    live.wait_equal(EQUAL_S)


def test_a_root_that_never_was_is_refused(live: LiveDaemon) -> None:
    shutil.rmtree(live.root)
    refused = run_once(live)
    assert refused.returncode == 66
    assert refused.stderr.startswith(f"indexerd: {live.root}: does not exist;")
    assert not live.db.exists()


def test_a_root_that_is_a_file_is_refused_as_one(live: LiveDaemon) -> None:
    shutil.rmtree(live.root)
    live.root.write_text("# No folder")
    refused = run_once(live)
    assert refused.returncode == 66
    assert refused.stderr.startswith(f"indexerd: {live.root}: is not a folder;")


def test_a_root_that_is_missing_at_the_start_is_waited_for(live: LiveDaemon) -> None:
    live.start()
    live.stop()
    away = live.root.rename(live.root.with_name("away"))
    live.start(wait=False)
    wait_until(lambda: live.state()["mode"] == "root_unavailable", EQUAL_S, "unavailable")
    assert hash_index(live.db).keys() == {"a.md"}
    away.rename(live.root)
    wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
    (live.root / "b.md").write_text("# B")
    live.wait_equal(EQUAL_S)


def test_a_socket_that_cannot_be_made_does_not_keep_the_wiki_from_being_followed(live: LiveDaemon) -> None:
    with tempfile.TemporaryDirectory(prefix="run-") as short:  # a long path is not tried at all
        live.environ = {"XDG_RUNTIME_DIR": short}
        Path(short, "indexerd").write_text("in the way of the folder of the sockets")
        live.start()
        assert live.state()["control"] is None
        (live.root / "b.md").write_text("# B")
        live.wait_equal(EQUAL_S)
        live.stop()


def test_bad_settings_are_refused_before_anything_is_opened(live: LiveDaemon) -> None:
    refused = run_once(live, "--watch", "polling")
    assert refused.returncode == 78
    assert not live.db.exists()


def test_a_name_that_is_not_utf8_stops_nothing_and_is_reported(live: LiveDaemon) -> None:
    live.start()
    os.close(os.open(os.fsencode(live.root) + b"/b\xff.md", os.O_CREAT | os.O_WRONLY))
    (live.root / "after.md").write_text("# after")
    wait_until(lambda: hash_index(live.db).keys() == {"a.md", "after.md"}, EQUAL_S, "the page after it")
    (live.root / "later.md").write_text("# later")
    wait_until(lambda: "later.md" in hash_index(live.db), EQUAL_S, "the page after that")
    with closing(sqlite3.connect(f"file:{live.db}?mode=ro", uri=True)) as index:
        kinds = index.execute("SELECT path, kind FROM v1_diagnostics").fetchall()
    assert (r"b\xff.md", "undecodable_name") in kinds
    name = "watch_failed_undecodable_name"
    wait_until(lambda: live.state()["counters"].get(name), EQUAL_S, name)


def test_what_is_no_regular_file_stops_nothing(live: LiveDaemon) -> None:
    live.start()
    os.mkfifo(live.root / "fifo.md")
    (live.root / "folder.md").mkdir()
    (live.root / "up").symlink_to("..")
    (live.root / "secret.md").symlink_to("/etc/hostname")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(live.root / "socket.md"))
    (live.root / "after.md").write_text("# after")
    live.wait_equal(EQUAL_S)


def test_an_index_inside_the_wiki_causes_no_work(tmp_path: Path, live: LiveDaemon) -> None:
    live.db = live.root / "state" / "index.db"
    live.environ = {**SCANS_OFTEN, "XDG_RUNTIME_DIR": str(tmp_path)}
    live.start()
    wait_until(lambda: live.state()["mode"] == "watching", EQUAL_S, "watching")
    wait_until(lambda: live.state()["counters"].get("scans_periodic", 0) >= 2, EQUAL_S, "two scans")
    assert live.state()["counters"].get("events", 0) == 0
    live.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed here")
def test_a_reader_of_the_share_group_searches_whether_the_daemon_runs_or_not(
    tmp_path: Path, live: LiveDaemon
) -> None:
    group = grp.getgrgid(NOBODY).gr_name
    live.words = ("--share-group", group)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    code = (
        "import sqlite3, sys; c = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True);"
        "print(c.execute(\"SELECT count(*) FROM sections_fts WHERE sections_fts MATCH 'words'\").fetchone())"
    )
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no python outside the home of root, which another user may not enter")
    as_nobody = [*AS_NOBODY, python, "-c", code]

    def search() -> str:
        done = subprocess.run([*as_nobody, str(live.db)], capture_output=True, text=True, check=False)
        return done.stdout.strip() or done.stderr.strip()

    live.start()
    assert search() == "(1,)"
    live.stop()
    assert search() == "(1,)"
    assert live.db.with_name("state.json").stat().st_mode & 0o777 == 0o640
    live.start()
    live.stop(signal.SIGKILL)
    assert search() == "(1,)"
    live.start()
    (live.root / "b.md").write_text("# B\n\nmore words\n")
    live.wait_equal(EQUAL_S)
    assert search() == "(2,)"
    live.stop()


def test_a_terminal_that_closes_ends_its_daemon(live: LiveDaemon) -> None:
    live.start()
    live.stop(signal.SIGHUP)
    assert writer_is_running(str(live.db.parent)) is False


def test_a_service_manager_that_hangs_up_has_the_settings_read_again(
    live: LiveDaemon, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        live.environ = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        live.start()
        os.kill(live.pid, signal.SIGHUP)
        wait_until(lambda: live.state()["counters"].get("scans_reload"), EQUAL_S, "the reload")
    live.stop()


def test_a_daemon_starts_with_bad_settings_of_the_wiki_and_tells_them(live: LiveDaemon) -> None:
    (live.root / ".wikiq.toml").write_text("[wiki]\nextension = 1\n")
    live.start()
    assert "extension is no setting" in live.state()["reason"]
    (live.root / ".wikiq.toml").write_text("[wiki]\n")
    wait_until(lambda: live.state()["reason"] is None, EQUAL_S, "the settings are good again")
    live.stop()
