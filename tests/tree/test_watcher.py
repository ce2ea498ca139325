"""The watcher against the real watchfiles and against a scripted one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import pytest

from indexerd.core.sync.watch_faults import Fault, FaultKind
from indexerd.tree.watcher import Watcher, find_readable
from tests.scripted_notifier import ADDED, DELETED, MODIFIED, Script

PATIENCE_S: Final = 10.0  # an upper bound for what takes milliseconds, on a busy machine


@dataclass
class Heard:
    """A listener that remembers, and acts when the watcher is open."""

    on_open: Callable[[], None] = lambda: None
    opened: int = 0
    paths: set[str] = field(default_factory=set)

    def watch_opened(self) -> None:
        self.opened += 1
        self.on_open()

    def paths_changed(self, paths: frozenset[str], quiet_s: float) -> None:
        assert 0 <= quiet_s < 1
        self.paths |= paths


def follow_until(watcher: Watcher, heard: Heard, enough: Callable[[], bool]) -> Fault | None:
    """Follows until there is enough or the watcher dies; its fault in the second case."""

    async def run() -> Fault | None:
        faults: list[Fault] = []
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:

                async def follow() -> None:
                    faults.append(await watcher.follow(heard))
                    tasks.cancel_scope.cancel()

                tasks.start_soon(follow)
                while not enough():  # noqa: ASYNC110 - any condition a test thinks of
                    await anyio.sleep(0.005)
                tasks.cancel_scope.cancel()
        return faults[0] if faults else None

    return anyio.run(run)


def writing(path: Path) -> Callable[[], None]:
    """What writes `path` when it is called."""

    def write() -> None:
        path.write_text("x")

    return write


def everything(path: str) -> bool:
    return True


def test_a_saved_page_is_reported_by_its_path_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    heard = Heard(on_open=writing(tmp_path / "d" / "a.md"))
    fault = follow_until(Watcher(str(tmp_path), everything), heard, lambda: "d/a.md" in heard.paths)
    assert fault is None


def test_a_wiki_below_a_folder_that_is_usually_ignored_is_watched(tmp_path: Path) -> None:
    root = tmp_path / "node_modules" / ".hidden"
    root.mkdir(parents=True)
    heard = Heard(on_open=writing(root / "a.md"))
    follow_until(Watcher(str(root), everything), heard, lambda: "a.md" in heard.paths)


def test_what_cannot_matter_is_dropped_before_it_is_reported(tmp_path: Path) -> None:
    def write() -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "a.md").write_text("x")

    heard = Heard(on_open=write)
    watcher = Watcher(str(tmp_path), lambda path: not path.startswith("."))
    follow_until(watcher, heard, lambda: "a.md" in heard.paths)
    assert heard.paths == {"a.md"}


def test_a_name_that_is_not_utf8_kills_the_watcher_with_a_reason(tmp_path: Path) -> None:
    heard = Heard(on_open=lambda: os.close(os.open(os.fsencode(tmp_path) + b"/b\xff.md", os.O_CREAT)))
    fault = follow_until(Watcher(str(tmp_path), everything), heard, lambda: False)
    assert fault is not None
    assert (fault.kind, fault.remedy) == (FaultKind.UNDECODABLE_NAME, "rename the file")


def test_a_missing_root_is_a_fault_and_no_exception(tmp_path: Path) -> None:
    fault = follow_until(Watcher(str(tmp_path / "none"), everything), Heard(), lambda: False)
    assert fault is not None
    assert fault.kind is FaultKind.ROOT_GONE


@pytest.mark.parametrize("remove", [os.rmdir, lambda root: os.rename(root, f"{root}.away")])
def test_a_root_that_is_removed_or_renamed_ends_the_watch(
    tmp_path: Path, remove: Callable[[str], None]
) -> None:
    root = tmp_path / "wiki"
    root.mkdir()
    heard = Heard(on_open=lambda: remove(str(root)))
    fault = follow_until(Watcher(str(root), everything), heard, lambda: False)
    assert fault is not None
    assert fault.kind is FaultKind.ROOT_GONE
    assert "" in heard.paths


def test_a_watcher_that_raises_for_ever_ends_with_its_fault_and_is_closed() -> None:
    script = Script(
        on_open=lambda notifier: notifier.raise_for_ever(RuntimeError("OS file watch limit reached."))
    )
    fault = follow_until(Watcher("/wiki", everything, script.open), Heard(), lambda: False)
    assert fault is not None
    assert fault.kind is FaultKind.WATCH_LIMIT
    assert script.opened[0].closed


def test_the_folders_that_can_be_watched_are_the_outermost_with_nothing_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a/b", "c/closed/d", "c/open/e", "f"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "f" / "link").symlink_to(tmp_path, target_is_directory=True)
    assert find_readable(str(tmp_path)) == [str(tmp_path)]
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "closed" not in path and access(path, mode))
    found = {os.path.relpath(path, tmp_path) for path in find_readable(str(tmp_path))}
    assert found == {"a", "c/open", "f"}


def test_what_lies_beside_a_folder_that_may_not_be_read_is_watched(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    heard = Heard()

    async def run() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(Watcher(str(tmp_path), everything).follow_readable, heard)
                while "d/a.md" not in heard.paths:
                    (tmp_path / "d" / "a.md").touch()  # again: nothing tells when the watcher is open
                    await anyio.sleep(0.02)
                tasks.cancel_scope.cancel()

    anyio.run(run)
    assert heard.opened == 0, "a part of the tree is not the whole of it"


def test_a_watcher_that_cannot_start_says_why() -> None:
    script = Script(refusals=[RuntimeError("Too many open files (os error 24)")])
    heard = Heard()
    fault = follow_until(Watcher("/wiki", everything, script.open), heard, lambda: False)
    assert fault is not None
    assert fault.kind is FaultKind.INSTANCE_LIMIT
    assert heard.opened == 0


def test_a_watcher_that_says_nothing_is_stopped_at_once() -> None:
    script = Script()
    heard = Heard()
    started = time.monotonic()
    assert follow_until(Watcher("/wiki", everything, script.open), heard, lambda: heard.opened > 0) is None
    assert time.monotonic() - started < PATIENCE_S / 2, (
        "not only after watchfiles' own time-out of five seconds"
    )


def test_a_watcher_that_was_stopped_has_left_no_thread(tmp_path: Path) -> None:
    """At the exit of the interpreter a thread in watchfiles' code aborts the process."""
    for _ in range(5):
        heard = Heard()
        follow_until(Watcher(str(tmp_path), everything), heard, lambda: heard.opened > 0)  # noqa: B023
        assert "watch" not in {thread.name for thread in threading.enumerate()}


def test_a_watcher_that_is_slow_to_open_does_not_hold_a_stop() -> None:
    opening, release = threading.Event(), threading.Event()

    def hang(paths: list[str]) -> None:
        opening.set()
        release.wait(PATIENCE_S)
        raise OSError("interrupted")

    watcher = Watcher("/wiki", everything, hang)  # type: ignore[arg-type]  # never returns
    started = time.monotonic()
    assert follow_until(watcher, Heard(), opening.is_set) is None
    assert time.monotonic() - started < PATIENCE_S / 2
    release.set()


@pytest.mark.parametrize("link", ["d/up", ".hidden/up", "z"])
def test_a_link_to_a_folder_above_hides_no_change_behind_its_own_path(tmp_path: Path, link: str) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / link).symlink_to(tmp_path, target_is_directory=True)
    heard = Heard(on_open=writing(tmp_path / "d" / "a.md"))
    follow_until(Watcher(str(tmp_path), everything), heard, lambda: "d/a.md" in heard.paths)


def test_a_root_that_is_a_link_is_watched(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    heard = Heard(on_open=writing(tmp_path / "real" / "a.md"))
    follow_until(Watcher(str(tmp_path / "root"), everything), heard, lambda: "a.md" in heard.paths)
    assert heard.paths == {"a.md"}


def test_events_of_other_places_are_not_taken_for_the_roots() -> None:
    watcher = Watcher("/w", everything)
    reported = {
        (ADDED, "/w/a.md"),
        (MODIFIED, "/w"),
        (DELETED, "/wide/b.md"),
        (ADDED, "/state/other"),
    }
    assert watcher.select(reported) == frozenset({"a.md", ""})


def test_a_root_of_one_slash_is_split_off_too() -> None:
    assert Watcher("/", everything).select({(ADDED, "/a.md")}) == frozenset({"a.md"})
