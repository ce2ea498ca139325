"""`wikiq mcp` while things break: statements cancelled, ended or lost, an index rebuilt meanwhile."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.process import LiveDaemon
from tests.wikiq.conftest import PAGES
from tests.wikiq.mcp.session import Session
from tests.wikiq.running import environment
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample

SLOW_PAGES: Final = tuple(
    SamplePage(f"slow/{number}.md", f"# Slow {number}\n\n" + "slow words of a page. " * 300)
    for number in range(400)
)
SLOW: Final[dict[str, Any]] = {"query": "slow words of a page", "limit": 50}
# Excerpts of hits cost most of it. This ends within the five seconds a server waits, on a busy machine too.
SHORTER: Final[dict[str, Any]] = {**SLOW, "limit": 12}
RUNNING_TICKS: Final = 3  # of CPU that a thread has used: it is inside the statement, which takes 80 or more
PATIENCE_S: Final = 30.0


@pytest.fixture(scope="module")
def slow_index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    return write_sample(tmp_path_factory.mktemp("slow"), SLOW_PAGES)


@pytest.fixture
def session(slow_index: SampleIndex, tmp_path: Path) -> Iterator[Session]:
    with Session("--db", str(slow_index.db), cwd=tmp_path, environ=environment(tmp_path)) as opened:
        assert opened.tool("status").startswith("Wiki ")
        yield opened


def worker_ticks(pid: int) -> int:
    """CPU that the thread which answers has used; the main thread is the process's own."""
    tasks = [task for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid)]
    fields = [(task / "stat").read_text().rpartition(")")[2].split() for task in tasks]
    return sum(int(one[11]) + int(one[12]) for one in fields)


def ask_and_wait_until_it_runs(session: Session, arguments: Mapping[str, Any] = SLOW) -> int:
    """Send a slow search and come back while its statement runs; gives its id."""
    before = worker_ticks(session.process.pid)
    number = session.ask("tools/call", name="search", arguments=arguments)
    ends = time.monotonic() + PATIENCE_S
    while worker_ticks(session.process.pid) < before + RUNNING_TICKS:
        assert time.monotonic() < ends, "the statement never ran"
        time.sleep(0.001)
    return number


def cancel(session: Session, number: object) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
    session.send(json.dumps(notification).encode() + b"\n")


def test_a_running_statement_that_is_cancelled_twice_is_never_answered(session: Session) -> None:
    running = ask_and_wait_until_it_runs(session)
    waiting = session.ask("tools/call", name="search", arguments=SLOW)
    for number in (running, running, waiting, waiting, "never asked", None, [1]):
        cancel(session, number)
    last = session.ask("ping")
    assert session.answer()["id"] == last
    assert session.tool("status").startswith("Wiki ")


def test_a_cancellation_of_what_was_answered_does_not_hit_the_next_request(session: Session) -> None:
    answered = session.ask("ping")
    assert session.answer()["id"] == answered
    running = ask_and_wait_until_it_runs(session)
    cancel(session, answered)
    assert session.answer()["id"] == running


def test_the_end_of_input_lets_a_running_statement_be_answered(session: Session) -> None:
    running = ask_and_wait_until_it_runs(session, SHORTER)
    assert session.end() == 0
    assert session.answer()["id"] == running


def test_sigterm_lets_a_running_statement_be_answered(session: Session) -> None:
    running = ask_and_wait_until_it_runs(session, SHORTER)
    session.process.send_signal(signal.SIGTERM)
    assert session.answer()["id"] == running
    assert session.process.wait(PATIENCE_S) == 0


def test_a_killed_server_leaves_nothing_that_the_next_one_trips_over(
    session: Session, slow_index: SampleIndex, tmp_path: Path
) -> None:
    ask_and_wait_until_it_runs(session)
    session.process.kill()
    session.process.wait(PATIENCE_S)
    with Session("--db", str(slow_index.db), cwd=tmp_path, environ=environment(tmp_path)) as again:
        assert again.tool("search", **SLOW).startswith("50 of 400 pages")


def test_an_index_that_is_replaced_again_and_again_is_always_answered_from(tmp_path: Path) -> None:
    """As `indexerd build` does it: the new file is renamed over the old one."""
    index = write_sample(tmp_path / "first", PAGES)
    over = threading.Event()

    def replace_index() -> None:
        for number in range(8):
            new = write_sample(tmp_path / f"new-{number}", PAGES[: 1 + number % len(PAGES)])
            os.replace(new.db, index.db)
        over.set()

    builder = threading.Thread(target=replace_index)
    with Session("--db", str(index.db), cwd=tmp_path, environ=environment(tmp_path)) as session:
        builder.start()
        while not over.is_set():
            assert "newest first" in session.tool("list", kind="pages")
            assert "generation 1" in session.tool("search", query="run")
        builder.join()
        assert session.tool("list", kind="pages").startswith(f"{1 + 7 % len(PAGES)} pages")


def test_a_daemon_that_dies_and_builds_the_index_anew_is_told_and_then_answered_from(tmp_path: Path) -> None:
    root = tmp_path / "wiki"
    root.mkdir()
    for number in range(10):
        (root / f"{number}.md").write_text(f"# Page {number}\n\nfirst words {number}\n")
    daemon = LiveDaemon(root, tmp_path / "state" / "index.db")
    with Session("--db", str(daemon.db), cwd=tmp_path, environ=environment(tmp_path)) as session:
        for life in range(2):
            daemon.start()
            while daemon.state().get("mode") != "watching":
                answer = session.request("tools/call", name="search", arguments={"query": "words"})["result"]
                text = answer["content"][0]["text"]
                assert "generation" in text or "indexerd" in text  # an answer, or what to do for one
            (root / f"new-{life}.md").write_text(f"# New\n\nonly life{life} has it\n")
            found = session.tool("search", query=f"life{life}", fresh=True)
            assert found.startswith("1 of 1 page")
            assert "current" in found.split("\n")[0]
            daemon.stop(signal.SIGKILL)
            for path in daemon.db.parent.glob("index.db*"):
                path.unlink()
        assert "indexerd" in session.refusal("status")
