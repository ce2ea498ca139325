"""Worker processes: the outcomes of doing it inline, in order, whatever becomes of one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from indexerd.core.model import Page, ProjectionOptions
from indexerd.core.sync.plan import Late, Outcome, Projected, Unread
from indexerd.core.sync.reconcile import ToRead
from indexerd.errors import ReplacedProgramError, RootError, StorageError
from indexerd.pipeline import workers
from indexerd.pipeline.indexer import never
from indexerd.pipeline.page_task import PARSER_FAILED, is_given_up, look_at
from indexerd.pipeline.workers import INLINE_PAGE_BYTES, Projector
from indexerd.tree.scanner import Stopped, TreeSettings
from indexerd.tree.tree import Tree

PAGES = 200
PATIENCE_S = 0.2


@pytest.fixture
def wanted(tmp_path: Path) -> list[ToRead]:
    """More than the workers are given ahead, so that one of them always owes something."""
    for number in range(PAGES):
        text = f"# Page {number}\n\n" + "A sentence of some words. " * 20 + "\n"
        (tmp_path / f"{number:04}.md").write_text(text)
    return [ToRead(f"{number:04}.md", None, 600) for number in range(PAGES)]


@pytest.fixture
def projector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Projector]:
    monkeypatch.setattr(workers, "INLINE_BYTES", 0)
    found = Projector(Tree(str(tmp_path), TreeSettings()), ProjectionOptions(), workers=1)
    yield found
    found.close()


def titles(outcomes: Sequence[Outcome | Late]) -> list[str]:
    return [outcome.page.title for outcome in outcomes if isinstance(outcome, Projected)]


def failed(outcomes: Sequence[Outcome | Late]) -> list[str]:
    """Why pages were given up."""
    return [
        diagnostic.message
        for outcome in outcomes
        if isinstance(outcome, Projected)
        for diagnostic in outcome.page.diagnostics
        if diagnostic.kind == PARSER_FAILED
    ]


def test_workers_give_the_outcomes_of_doing_it_inline_in_the_same_order(
    tmp_path: Path, wanted: list[ToRead], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "INLINE_BYTES", 0)
    tree = Tree(str(tmp_path), TreeSettings(max_page_bytes=10_000))
    (tmp_path / "0003.md").write_text("x" * 20_000)
    (tmp_path / "0005.md").unlink()
    inline = Projector(tree, ProjectionOptions(), workers=0)
    parallel = Projector(tree, ProjectionOptions(), workers=2)
    try:
        expected = list(inline.outcomes(wanted, never))
        for _ in range(2):  # workers stay for the next call
            found = list(parallel.outcomes(wanted, never))
            assert [(type(one), one.path) for one in found] == [(type(one), one.path) for one in expected]
            assert [one.page for one in found if isinstance(one, Projected)] == [
                one.page for one in expected if isinstance(one, Projected)
            ]
    finally:
        parallel.close()


def test_little_work_starts_no_process(projector: Projector, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(workers, "INLINE_BYTES", 100)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert len(list(projector.outcomes([ToRead("gone.md", None, 100)], never))) == 1
    with pytest.raises(AssertionError, match="was started"):
        list(projector.outcomes([ToRead("gone.md", None, 101)], never))


def test_a_page_that_might_take_too_long_is_projected_where_it_can_be_ended(
    tmp_path: Path, projector: Projector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 1.0)
    text = ">" * 50 + "a\n" + "b\n" * INLINE_PAGE_BYTES  # lines that continue fifty quotes: 14 s
    (tmp_path / "slow.md").write_text(text)
    (reason,) = failed(list(projector.outcomes([ToRead("slow.md", None, len(text))], never)))
    assert "too much time" in reason


def test_a_short_page_of_containers_in_containers_is_projected_where_it_can_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """199 nested quotes cost half a millisecond a byte."""
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 0.5)
    text = ">" * 199 + "a\n" + "b\n" * 4_000
    (tmp_path / "slow.md").write_text(text)
    projector = Projector(Tree(str(tmp_path), TreeSettings()), ProjectionOptions(), workers=1)
    (reason,) = failed(list(projector.outcomes([ToRead("slow.md", None, len(text))], never)))
    projector.close()
    assert "too much time" in reason


def test_a_page_that_was_given_up_has_more_time_at_each_attempt(
    tmp_path: Path, projector: Projector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 0.02)
    text = "# A\n\n" + "Some [words](b.md) of *prose*.\n\n" * 6_000
    (tmp_path / "long.md").write_text(text)
    (first,) = projector.outcomes([ToRead("long.md", None, len(text))], never)
    assert isinstance(first, Projected)
    assert is_given_up(first)
    (later,) = projector.outcomes([ToRead("long.md", None, len(text), attempts=8)], never)
    assert isinstance(later, Projected)
    assert later.page.sections


def test_a_page_for_which_memory_does_not_suffice_is_given_up_for_now(
    tmp_path: Path, projector: Projector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 100.0)
    monkeypatch.setattr(workers, "WORKER_BYTES", 64 << 20)  # an interpreter takes 50
    text = ("A sentence of some words. " * 4 + "\n\n") * 40_000
    (tmp_path / "wide.md").write_text(text)
    (tmp_path / "small.md").write_text("# Small\n")
    wide, small = projector.outcomes([ToRead("wide.md", None, len(text)), ToRead("small.md", None, 8)], never)
    assert isinstance(wide, Projected)
    assert is_given_up(wide)
    (reason,) = failed([wide])
    assert "it needs too much memory" in reason
    assert titles([small]) == ["Small"]
    assert failed([small]) == []


def test_a_worker_that_is_paused_costs_no_page(
    projector: Projector, wanted: list[ToRead], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is counted is CPU time: docker pause, a VM that is moved, a machine at load 30."""
    monkeypatch.setattr(workers, "PAGE_BUDGET_S", 0.5)  # before any page is handed out under another one
    outcomes = projector.outcomes(wanted, never)
    found = [next(outcomes)]
    paused = projector.processes[0]
    os.kill(paused, signal.SIGSTOP)
    threading.Timer(2.0, os.kill, (paused, signal.SIGCONT)).start()
    found += outcomes
    assert failed(found) == []
    assert projector.processes == (paused,)


def until_it_is_there(projector: Projector, page: ToRead) -> Outcome:
    """The outcome of a page that is late, asked for again and again."""
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        (outcome,) = projector.outcomes([page], never, PATIENCE_S)
        if not isinstance(outcome, Late):
            return outcome
        time.sleep(0.02)
    raise AssertionError(f"{page.path} is still late")


def write_slow(folder: Path, name: str) -> ToRead:
    """A page of a second, for containers in containers cost half a millisecond a byte."""
    text = ">" * 199 + f"{name}\n" + "b\n" * 1_000
    (folder / name).write_text(text)
    return ToRead(name, None, len(text))


def test_others_do_not_wait_for_a_page_that_takes_long(projector: Projector, tmp_path: Path) -> None:
    slow = write_slow(tmp_path, "slow.md")
    (tmp_path / "quick.md").write_text("# Quick\n")
    late, quick = projector.outcomes([slow, ToRead("quick.md", None, 8)], never, PATIENCE_S)
    assert isinstance(late, Late)
    assert titles([quick]) == ["Quick"]
    assert projector.late == ("slow.md",)
    outcome = until_it_is_there(projector, slow)
    assert isinstance(outcome, Projected)
    assert outcome.page.sections
    assert not projector.late


def test_one_page_at_a_time_takes_long(projector: Projector, tmp_path: Path) -> None:
    slow = [write_slow(tmp_path, name) for name in ("a.md", "b.md", "c.md")]
    for _ in range(2):
        assert all(isinstance(one, Late) for one in projector.outcomes(slow, never, PATIENCE_S))
        assert len(projector.processes) <= 2  # the one set aside, and one for the others
    found = [until_it_is_there(projector, page) for page in slow]
    assert all(isinstance(one, Projected) and one.page.sections for one in found)
    assert not projector.late


def test_a_late_page_that_dies_with_its_worker_is_given_up(projector: Projector, tmp_path: Path) -> None:
    slow = write_slow(tmp_path, "slow.md")
    assert [*projector.outcomes([slow], never, PATIENCE_S)] == [Late("slow.md")]
    os.kill(projector.processes[0], signal.SIGKILL)
    (reason,) = failed([until_it_is_there(projector, slow)])
    assert "died" in reason


@pytest.mark.parametrize("end", [lambda one: one.forget("slow.md"), lambda one: one.close()])
def test_a_late_page_that_nobody_wants_ends_its_worker(
    projector: Projector, tmp_path: Path, end: Callable[[Projector], None]
) -> None:
    assert [*projector.outcomes([write_slow(tmp_path, "slow.md")], never, PATIENCE_S)] == [Late("slow.md")]
    (aside,) = projector.processes
    end(projector)
    assert (projector.processes, projector.late) == ((), ())
    with pytest.raises(ProcessLookupError):
        os.kill(aside, 0)


@pytest.mark.parametrize("number, reason", [(signal.SIGKILL, "died"), (signal.SIGSTOP, "nothing came")])
def test_a_worker_that_dies_or_hangs_costs_one_page(
    projector: Projector,
    wanted: list[ToRead],
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    reason: str,
) -> None:
    outcomes = projector.outcomes(wanted, never)
    found = [next(outcomes)]
    monkeypatch.setattr(workers, "STALL_S", 2.0)
    os.kill(projector.processes[0], number)
    found += outcomes
    assert [outcome.path for outcome in found] == [page.path for page in wanted]
    messages = failed(found)
    assert len(messages) == 1
    assert reason in messages[0]
    assert len(set(titles(found))) == PAGES


def test_a_lack_of_memory_is_no_fault_of_the_page_and_it_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under its hash it would count as done until somebody edits it."""

    def exhausted(*_: object) -> Page:
        raise MemoryError

    monkeypatch.setattr("indexerd.pipeline.page_task.project_page", exhausted)
    (tmp_path / "a.md").write_text("# A")
    outcome = look_at(ToRead("a.md", None, 3), Tree(str(tmp_path), TreeSettings()), ProjectionOptions())
    assert isinstance(outcome, Unread)
    assert outcome.diagnostic.kind == "read_failed"


def test_a_root_that_goes_meanwhile_is_said_so_and_no_page_is_given_up(
    projector: Projector, wanted: list[ToRead], tmp_path: Path
) -> None:
    outcomes = projector.outcomes(wanted, never)
    next(outcomes)
    tmp_path.rename(tmp_path.with_name("elsewhere"))
    with pytest.raises(RootError, match="does not exist"):
        list(outcomes)


def test_a_stop_ends_the_workers_at_once(projector: Projector, wanted: list[ToRead]) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.extend(projector.processes)
        return len(asked) > 3

    with pytest.raises(Stopped):
        list(projector.outcomes(wanted, stop))
    assert projector.processes == ()
    with pytest.raises(ProcessLookupError):
        os.kill(asked[0], 0)


def test_an_abandoned_run_leaves_no_outcome_to_the_next(projector: Projector, wanted: list[ToRead]) -> None:
    outcomes = projector.outcomes(wanted, never)
    next(outcomes)
    outcomes.close()
    assert [outcome.path for outcome in projector.outcomes(wanted[::-1], never)] == [
        page.path for page in wanted[::-1]
    ]


def test_a_worker_that_does_not_start_is_an_error_and_no_fault_of_the_pages(
    projector: Projector, wanted: list[ToRead], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(StorageError, match="does not start"):
        list(projector.outcomes(wanted, never))


def test_after_an_upgrade_no_worker_of_the_new_code_is_given_work(
    projector: Projector, wanted: list[ToRead], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CODE", "what this process began with")
    with pytest.raises(
        ReplacedProgramError, match="replaced by another version while it ran; start it again"
    ):
        list(projector.outcomes(wanted, never))


def test_after_an_upgrade_a_worker_that_cannot_start_is_no_lack_of_memory(
    projector: Projector, wanted: list[ToRead], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CODE", "what this process began with")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ReplacedProgramError):
        list(projector.outcomes(wanted, never))


def test_closing_ends_the_workers(projector: Projector, wanted: list[ToRead]) -> None:
    list(projector.outcomes(wanted, never))
    before = projector.processes
    projector.close()
    assert before
    for process in before:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


KILLED = """
import os, signal, sys
from indexerd.pipeline import workers
from indexerd.core.model import ProjectionOptions
from indexerd.core.sync.reconcile import ToRead
from indexerd.tree.tree import Tree
from indexerd.tree.scanner import TreeSettings

workers.INLINE_BYTES = 0
projector = workers.Projector(Tree(sys.argv[1], TreeSettings()), ProjectionOptions(), workers=2)
wanted = [ToRead(name, None, 600) for name in sorted(os.listdir(sys.argv[1]))]
outcomes = projector.outcomes(wanted, lambda: False)
next(outcomes)
print(len(projector.processes), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path, wanted: list[ToRead]) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    parent = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    # The workers hold the other ends of both pipes: `run` came back because they are gone.
    assert (parent.returncode, parent.stdout.strip()) == (-signal.SIGKILL, "2")
