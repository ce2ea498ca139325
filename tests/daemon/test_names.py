"""What may stand in a folder besides pages: names of every kind, links, devices, files without end.

Each beside a running daemon: it is skipped or indexed, said in a diagnostic, and stops nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.barrier import ask
from tests.crash.process import LiveDaemon, hash_index, open_index, wait_until
from tests.terminal import read_all

pytestmark = pytest.mark.slow

EQUAL_S: Final = 10.0
WIKIQ: Final = str(Path(sys.executable).with_name("wikiq"))
SPARSE_BYTES: Final = 10 << 30


def wikiq(daemon: LiveDaemon, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [WIKIQ, *words, "--db", str(daemon.db)], capture_output=True, check=False, timeout=60
    )


def diagnostics(daemon: LiveDaemon) -> dict[str, str]:
    with closing(open_index(daemon.db)) as index:
        return dict(index.execute("SELECT path, kind FROM v1_diagnostics"))


def is_fresh(daemon: LiveDaemon) -> None:
    """All that is on the disk is in the index now, the daemon says."""
    answer = ask(daemon.state()["control"])
    assert answer is not None
    assert answer["fresh"], answer


def goes_on(daemon: LiveDaemon, room: Path) -> None:
    """A page beside is found, by the socket's guarantee and by the index."""
    (room / "after.md").write_text(f"# After {room.name}\n")
    is_fresh(daemon)
    assert f"{room.name}/after.md" in hash_index(daemon.db)


NAMES: Final = {
    "a newline": "two\nlines",
    "tabs and carriage returns": "a\tb\rc",
    "an escape sequence": "\x1b]52;c;cm0=\x07\x1b[2J",
    "C1 controls": "\x9b31m\x85",
    "a text that turns round": "\u202eabc\u2066",
    "as long as it may be": "x" * 252,
    "as long as it may be in bytes": "ä" * 126,
    "composed": unicodedata.normalize("NFC", "é"),
    "decomposed": unicodedata.normalize("NFD", "é"),
    "small letters": "case",
    "capital letters": "CASE",
    "quotes and signs": "'\";$(x)`*?[]{}|\\<>&",
    "dots and dashes": "-rf ..",
    "only blanks": "   ",
    "an emoji": "\U0001f44d\U0001f3fd",
    "a private character": "\ue000\ufdd0",
}


def test_every_name_that_is_text_is_a_page_of_its_own_and_is_shown_harmless(
    daemon: LiveDaemon, room: Path
) -> None:
    for name, stem in NAMES.items():
        (room / f"{stem}.md").write_text(f"# Called {name}\n\ncalledword\n")
    daemon.wait_equal(EQUAL_S)
    within = {path for path in hash_index(daemon.db) if path.startswith(f"{room.name}/")}
    assert within == {f"{room.name}/{stem}.md" for stem in NAMES.values()}
    shown = wikiq(daemon, "pages", "--json", "--limit", "100")
    assert within <= {page["path"] for page in json.loads(shown.stdout)["hits"]}
    piped = wikiq(daemon, "search", "calledword", "--limit", "100").stdout.decode()
    assert piped.count("\n") == len(NAMES), "one line a hit, whatever the names hold"
    assert not set(piped) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E)}


UNDECODABLE: Final = (b"b\xff.md", b"dir\xfe/inside.md", b"\xc0\x80.md", b"\xed\xa0\x80.md")


@pytest.mark.parametrize("name", UNDECODABLE, ids=ascii)
def test_a_name_that_is_no_text_is_reported_and_everything_else_goes_on(
    daemon: LiveDaemon, room: Path, name: bytes
) -> None:
    path = os.fsencode(room) + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    goes_on(daemon, room)
    os.close(os.open(path, os.O_RDONLY))  # even opening it kills a watcher
    (room / "later.md").write_text("# later\n")
    daemon.wait_equal(EQUAL_S)
    told = [path for path, kind in diagnostics(daemon).items() if kind == "undecodable_name"]
    assert any(path.startswith(f"{room.name}/") and "\\x" in path for path in told), told
    name_of_counter = "watch_failed_undecodable_name"
    wait_until(lambda: daemon.state()["counters"].get(name_of_counter), EQUAL_S, name_of_counter)
    status = json.loads(wikiq(daemon, "status", "--json").stdout)
    assert status["counters"][name_of_counter] >= 1
    shutil.rmtree(os.fsencode(room))
    daemon.wait_equal(EQUAL_S)


def test_what_is_no_file_is_skipped_at_once(
    daemon: LiveDaemon, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(room)  # the path of a socket has 107 bytes at most
    os.mkfifo(room / "fifo.md")
    (room / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.md")
    kinds = {"fifo.md": "not_regular", "socket.md": "not_regular"}
    if os.geteuid() == 0:
        os.mknod(room / "device.md", 0o20644, os.makedev(1, 5))  # /dev/zero: reading it never ends
        kinds["device.md"] = "not_regular"
    goes_on(daemon, room)
    told = diagnostics(daemon)
    assert {name: told.get(f"{room.name}/{name}") for name in kinds} == kinds


def test_a_page_that_becomes_a_pipe_or_a_folder_and_a_page_again(daemon: LiveDaemon, room: Path) -> None:
    page = room / "a.md"
    for become in (os.mkfifo, Path.mkdir):
        page.write_text("# A page\n")
        daemon.wait_equal(EQUAL_S)
        page.unlink()
        become(page)
        goes_on(daemon, room)
        assert f"{room.name}/a.md" not in hash_index(daemon.db)
        shutil.rmtree(page) if page.is_dir() else page.unlink()
    page.write_text("# A page again\n")
    daemon.wait_equal(EQUAL_S)


def test_a_page_of_ten_gigabytes_costs_nothing_and_is_said(daemon: LiveDaemon, room: Path) -> None:
    page = room / "sparse.md"
    page.touch()
    os.truncate(page, SPARSE_BYTES)
    try:
        goes_on(daemon, room)
        assert diagnostics(daemon)[f"{room.name}/sparse.md"] == "too_large"
        assert hash_index(daemon.db)[f"{room.name}/sparse.md"] is None
    finally:
        page.unlink()  # whatever fails here fails here alone
    goes_on(daemon, room)
    assert f"{room.name}/sparse.md" not in hash_index(daemon.db)


@pytest.mark.parametrize("data", [bytes(1 << 20), b"\xff\xfe" + "# Wide\n".encode("utf-16-le"), b"caf\xe9\n"])
def test_bytes_that_are_no_text_make_a_page_all_the_same(daemon: LiveDaemon, room: Path, data: bytes) -> None:
    (room / "a.md").write_bytes(data)
    daemon.wait_equal(EQUAL_S)
    assert wikiq(daemon, "show", f"{room.name}/a").returncode == 0


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon over a tree with every kind of link, out of the root and round it."""
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "secret.md").write_text("# Canary\n")
    (outside / "deep" / "secret.md").write_text("# Canary too\n")
    root = tmp_path / "wiki"
    (root / "d").mkdir(parents=True)
    (root / "d" / "a.md").write_text("# A\n")
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db")
    yield daemon
    if daemon.process is not None:
        daemon.stop(signal.SIGKILL)


def make_links(root: Path) -> None:
    outside = root.parent / "outside"
    for name, target in {
        "file-out.md": outside / "secret.md",
        "folder-out": outside,
        "up": Path(".."),
        "loop": Path("loop"),
        "to-root": root,
        "dangling.md": Path("nowhere.md"),
        "inside.md": Path("d/a.md"),
        "folder-inside": Path("d"),
        "etc": Path("/etc"),
        "twice.md": Path("file-out.md"),
        "through-a-folder.md": Path("folder-out/deep/secret.md"),
    }.items():
        (root / name).symlink_to(target)
    (root / "d" / "back").symlink_to("..")


@pytest.mark.parametrize("follow", [False, True])
def test_links_mean_the_same_before_and_after_a_restart_and_never_lead_out(
    linked: LiveDaemon, *, follow: bool
) -> None:
    linked.words = ("--follow-symlinks",) if follow else ()
    linked.start()
    wait_until(lambda: linked.state()["mode"] == "watching", EQUAL_S, "watching")
    make_links(linked.root)
    followed = {"inside.md", "folder-inside/a.md"} if follow else set()
    is_fresh(linked)
    seen, told = hash_index(linked.db), diagnostics(linked)
    assert seen.keys() == {"d/a.md", *followed}
    linked.verify()
    linked.stop()
    linked.start()
    assert (hash_index(linked.db), diagnostics(linked)) == (seen, told)
    (linked.root.parent / "outside" / "secret.md").write_text("# Canary, edited\n")
    (linked.root / "d" / "a.md").write_text("# A, edited\n")
    is_fresh(linked)
    after = hash_index(linked.db)
    assert after.keys() == seen.keys()
    assert len({after[path] for path in ("d/a.md", *followed)}) == 1
    assert b"Canary" not in b"".join(path.read_bytes() for path in linked.db.parent.glob("index.db*"))
    linked.stop()


def test_the_log_has_one_line_an_event_whatever_names_hold(daemon: LiveDaemon, room: Path) -> None:
    """The daemon's log so far: every name above went through it."""
    os.mkfifo(room / "\x1b[2J\nfake.event: all is well\r.md")
    goes_on(daemon, room)
    lines: list[dict[str, Any]] = [json.loads(line) for line in daemon.log.read_bytes().splitlines()]
    assert all("event" in line and line["event"] != "fake.event" for line in lines)
    assert not set(daemon.log.read_text()) & {chr(code) for code in (*range(10), *range(11, 32), 0x9B)}


def test_a_screen_is_not_steered_by_a_name(daemon: LiveDaemon, room: Path) -> None:
    (room / "\x1b[2J\x1b]0;owned\x07.md").write_text("# Screenword\n\n\x1b]52;c;cm0=\x07\x9b2J\n")
    daemon.wait_equal(EQUAL_S)
    for words in (["search", "screenword"], ["pages"], ["check"], ["status"], ["changes", "--since", "0"]):
        shown = on_screen(daemon, *words)
        assert not set(shown) & {chr(code) for code in (*range(9), *range(11, 27), *range(127, 160))}, words
        assert "\x1b]52" not in shown
        assert "\x1b]0;" not in shown
        assert "\x1b[2J" not in shown


def on_screen(daemon: LiveDaemon, *words: str) -> str:
    """What a command writes on a terminal."""
    import pty

    parent, child = pty.openpty()
    environ = {**os.environ, "NO_COLOR": "1", "PAGER": "cat", "TERM": "dumb"}
    process = subprocess.Popen(
        [WIKIQ, *words, "--db", str(daemon.db)], stdout=child, stderr=child, stdin=child, env=environ
    )
    os.close(child)
    shown = read_all(parent)
    os.close(parent)
    process.wait(60)
    return shown.decode().replace("\r\n", "\n")
