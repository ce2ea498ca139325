"""How programs save: whatever they do, the index holds the last bytes and never shows half of them.

Each against a running daemon with the real watcher, by the recipes of editors, git, tar and rsync.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.crash.barrier import ask
from tests.crash.process import LiveDaemon, hash_index, open_index, wait_until

pytestmark = pytest.mark.slow  # together some 30 seconds, most of them in waiting for periodic scans

EQUAL_S: Final = 60.0
FRESH_S: Final = 240.0  # where a page costs seconds of CPU, on a busy machine
EMPTY: Final = hashlib.sha256(b"").hexdigest()
SAVES: Final = 1_000
HOT_FOR_S: Final = 4.0


def path_of(daemon: LiveDaemon, page: Path) -> str:
    return page.relative_to(daemon.root).as_posix()


def saved(daemon: LiveDaemon, page: Path, text: str) -> None:
    """Writes a page and waits until it is in the index, so that what comes next is an edit."""
    page.write_text(text)
    daemon.wait_equal(EQUAL_S)


def changes_of(daemon: LiveDaemon, page: Path) -> list[str]:
    with closing(open_index(daemon.db)) as index:
        rows = index.execute("SELECT op FROM v1_changes WHERE path = ?", (path_of(daemon, page),))
        return [row[0] for row in rows]


@contextmanager
def seen_meanwhile(daemon: LiveDaemon, page: Path) -> Iterator[set[str | None]]:
    """The content hashes of a page that a reader sees in the index; None where there is no page."""
    seen: set[str | None] = set()
    over = threading.Event()

    def look() -> None:
        with closing(open_index(daemon.db)) as index:
            while not over.wait(0.002):
                row = index.execute(
                    "SELECT content_hash FROM v1_pages WHERE path = ?", (path_of(daemon, page),)
                ).fetchone()
                seen.add(None if row is None else row[0])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def test_a_page_saved_a_thousand_times_by_renaming_is_never_missing_and_ends_right(
    daemon: LiveDaemon, room: Path
) -> None:
    page = room / "a.md"
    saved(daemon, page, "# before\n")
    with seen_meanwhile(daemon, page) as seen:
        for nth in range(SAVES):
            temporary = room / f".a.md.{nth}.tmp"
            temporary.write_text(f"# save {nth}\n")
            temporary.replace(page)
        daemon.wait_equal(EQUAL_S)
    assert None not in seen
    assert "delete" not in changes_of(daemon, page)
    assert hash_index(daemon.db)[path_of(daemon, page)] == hashlib.sha256(page.read_bytes()).hexdigest()


def test_a_page_is_not_published_empty_between_truncating_and_writing(daemon: LiveDaemon, room: Path) -> None:
    page = room / "a.md"
    saved(daemon, page, "# before\n\n" + "words " * 100)
    with seen_meanwhile(daemon, page) as seen:
        for nth in range(5):
            with page.open("w") as file:
                file.flush()
                time.sleep(0.3)  # what some editors and slow disks take
                file.write(f"# save {nth}\n\n" + "words " * 100)
            time.sleep(0.2)
        daemon.wait_equal(EQUAL_S)
    assert EMPTY not in seen


def test_a_page_that_grows_all_the_time_is_read_whole_and_holds_up_nobody(
    daemon: LiveDaemon, room: Path
) -> None:
    page, other = room / "log.md", room / "other.md"
    written = hashlib.sha256()
    hashes: set[str | None] = {None}
    with seen_meanwhile(daemon, page) as seen, page.open("ab", buffering=0) as file:
        until = time.monotonic() + 2.0
        while time.monotonic() < until:
            data = b"word " * 200
            file.write(data)
            written.update(data)
            hashes.add(written.copy().hexdigest())
            if not other.exists():
                other.write_text("# Other\n")
            time.sleep(0.001)
        assert path_of(daemon, other) in hash_index(daemon.db)
        daemon.wait_equal(EQUAL_S)
    assert seen <= {*hashes, EMPTY}, "what the file never was has been indexed"


def test_a_hot_page_is_projected_twice_a_second_and_starves_no_other(daemon: LiveDaemon, room: Path) -> None:
    hot = room / "hot.md"
    saved(daemon, hot, "# hot\n")
    waits: list[float] = []
    before, began = len(changes_of(daemon, hot)), time.monotonic()
    while time.monotonic() - began < HOT_FOR_S:
        other = room / f"{len(waits)}.md"
        other.write_text("# Other\n")
        asked = time.monotonic()
        while path_of(daemon, other) not in hash_index(daemon.db):
            hot.write_text(f"# hot {time.monotonic_ns()}\n")
            time.sleep(0.01)
        waits.append(time.monotonic() - asked)
    took = time.monotonic() - began
    daemon.wait_equal(EQUAL_S)
    assert len(changes_of(daemon, hot)) - before <= took / 0.5 + 2
    assert len(waits) > HOT_FOR_S, "another page took a second and more"


def test_a_page_that_takes_long_keeps_nobody_waiting_and_is_fresh_only_when_it_is_in(
    daemon: LiveDaemon, room: Path
) -> None:
    """Lines that continue two hundred quotes cost half a millisecond a byte; nothing else waits for them."""
    slow, other = room / "slow.md", room / "other.md"
    lines = "b\n" * 3_000
    slow.write_text(">" * 199 + f"a\n{lines}")
    wait_until(lambda: "takes long" in str(daemon.state()["open"]), EQUAL_S, "said to take long")
    other.write_text("# Other\n")
    wait_until(lambda: path_of(daemon, other) in hash_index(daemon.db), EQUAL_S, "the other page found")
    assert path_of(daemon, slow) not in hash_index(daemon.db)
    soon = ask(daemon.state()["control"], timeout_s=0.1)
    assert soon is not None
    assert not soon["fresh"]
    slow.write_text(">" * 199 + f"again\n{lines}")  # what a worker is at work on is not the last any more
    wait_until(lambda: (ask(daemon.state()["control"]) or {}).get("fresh"), FRESH_S, "fresh")
    assert hash_index(daemon.db)[path_of(daemon, slow)] == hashlib.sha256(slow.read_bytes()).hexdigest()


def test_what_editors_leave_about_is_no_page(daemon: LiveDaemon, room: Path) -> None:
    page = room / "a.md"
    saved(daemon, page, "# before\n")
    litter = (
        "4913", ".a.md.swp", ".a.md.swx", "a.md~", "#a.md#", ".#a.md", "a.md.tmp", "a.md.bak",
        ".a.md.kate-swp", "a.md.crswap", ".goutputstream-X1Y2Z3", "a.md.sb-1a2b3c4d-XyZ", "___jb_tmp___",
        ".~lock.a.md#", "a.md.part", ".syncthing.a.md.tmp", "~syncthing~a.md.tmp",
    )  # fmt: skip
    for name in litter:
        (room / name).write_text("litter\n")
    for name in ("a.sync-conflict-20240102-030405-ABCDEFG.md", "a (Ann's conflicted copy 2024-01-02).md"):
        (room / name).write_text("# the other version\n")
    daemon.wait_equal(EQUAL_S)
    within = {path for path in hash_index(daemon.db) if path.startswith(path_of(daemon, room) + "/")}
    assert len(within) == 3, within
    with closing(open_index(daemon.db)) as index:
        copies = index.execute("SELECT count(*) FROM v1_diagnostics WHERE kind = 'conflict_copy'").fetchone()
    assert copies == (2,)


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed here")
@pytest.mark.parametrize("options", ["backup", "nobackup nowritebackup", "backupcopy=yes", "backupcopy=no"])
def test_vim_saves_a_page_and_nothing_else(daemon: LiveDaemon, room: Path, options: str) -> None:
    page = room / "a.md"
    saved(daemon, page, "# before\n")
    words = ["vim", "-Nu", "NONE", "-n", "-es", "-c", f"set {options}", "-c", "%s/before/after/", "-c", "wq"]
    subprocess.run([*words, str(page)], check=True, stdin=subprocess.DEVNULL)
    assert page.read_text() == "# after\n"
    daemon.wait_equal(EQUAL_S)
    within = {path for path in hash_index(daemon.db) if path.startswith(path_of(daemon, room) + "/")}
    assert within == {path_of(daemon, page)}


def keeps_size_and_time(page: Path) -> None:
    facts = page.stat()
    page.write_bytes(page.read_bytes().swapcase())
    os.utime(page, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def is_of_the_past(page: Path) -> None:
    page.write_text("# from an archive\n")
    os.utime(page, (0, 0))


def is_of_the_future(page: Path) -> None:
    page.write_text("# by a clock that is wrong\n")
    os.utime(page, (4_102_444_800, 4_102_444_800))


def comes_by_a_move_with_an_old_time(page: Path) -> None:
    elsewhere = page.with_name("elsewhere.txt")
    elsewhere.write_text("# older than what it replaces\n")
    os.utime(elsewhere, (1, 1))
    elsewhere.rename(page)


def swaps_with_another(page: Path) -> None:
    other, spare = page.with_name("other.md"), page.with_name(".spare")
    page.rename(spare)
    other.rename(page)
    spare.rename(other)


def is_deleted_and_made_anew(page: Path) -> None:
    page.unlink()
    page.write_text("# anew\n")


def is_written_through_a_hard_link(page: Path) -> None:
    other = page.with_name("hard.txt")
    other.hardlink_to(page)
    other.write_text("# through another name\n")


EDITS: Final = (
    keeps_size_and_time,
    is_of_the_past,
    is_of_the_future,
    comes_by_a_move_with_an_old_time,
    swaps_with_another,
    is_deleted_and_made_anew,
    is_written_through_a_hard_link,
)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_is_found_that(daemon: LiveDaemon, room: Path, edit: Callable[[Path], None]) -> None:
    page = room / "a.md"
    (room / "other.md").write_text("# another page\n")
    saved(daemon, page, "# before\n")
    edit(page)
    daemon.wait_equal(EQUAL_S)


def test_a_page_written_through_a_map_is_found_by_a_scan_and_counted(daemon: LiveDaemon, room: Path) -> None:
    page = room / "a.md"
    saved(daemon, page, "# before\n")
    missed = daemon.state()["counters"].get("missed_by_events", 0)
    with page.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[2:4] = b"MM"
        mapped.flush()  # inotify(7): msync is not reported; only closing the file would be
        daemon.wait_equal(EQUAL_S)
        wait_until(
            lambda: daemon.state()["counters"].get("missed_by_events", 0) > missed, EQUAL_S, "it is counted"
        )


def test_folders_filled_the_moment_they_are_made_lose_no_page(daemon: LiveDaemon, room: Path) -> None:
    for nth in range(300):
        folder = room / f"d{nth}"
        folder.mkdir()
        (folder / "in.md").write_text(f"# {nth}\n")
    for nth in range(100):
        folder = room / f"deep{nth}" / "b" / "c"
        folder.mkdir(parents=True)
        (folder / "in.md").write_text(f"# {nth}\n")
    daemon.wait_equal(EQUAL_S)
    (room / "d0" / "later.md").write_text("# later\n")
    (room / "deep99" / "b" / "c" / "later.md").write_text("# later\n")
    daemon.wait_equal(EQUAL_S)


def test_nothing_was_ever_written_twice(daemon: LiveDaemon) -> None:
    """Last in this module: each entry of the feed is a change, whatever events there were."""
    with closing(open_index(daemon.db)) as index:
        index.row_factory = sqlite3.Row
        entries = index.execute(
            "SELECT path, op, content_hash FROM v1_changes ORDER BY generation"
        ).fetchall()
    before: dict[str, str | None] = {}
    for entry in entries:
        now = None if entry["op"] == "delete" else entry["content_hash"]
        assert before.get(entry["path"], "") != now, entry["path"]
        before[entry["path"]] = now
    wait_until(lambda: daemon.state()["pending"] == 0, EQUAL_S, "nothing pending")
    daemon.verify()
