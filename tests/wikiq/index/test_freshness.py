"""How far an answer may be behind the tree, from the lock, the state and the rows; the barrier's client."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexerd.contract.live_state import HUNG_AFTER_S
from tests.wikiq.running import WATCHING, run_wikiq, running_daemon
from tests.wikiq.sample_index import SampleIndex
from wikiq.index.barrier_client import Barrier, make_fresh
from wikiq.index.database import open_database
from wikiq.index.freshness import read_freshness as read
from wikiq.index.freshness import render_age, staleness, start_remedy
from wikiq.model.results import Freshness

PATIENCE_S = 20.0  # for who is to ask the socket of a test
COMMITTED = datetime(2026, 1, 2, tzinfo=UTC)  # of the sample
SCAN: dict[str, Any] = {
    "started_at": "2026-01-03T00:00:00.000Z",
    "finished_at": "2026-01-03T00:00:01.000Z",
    "reason": "periodic",
    "pages_seen": 6,
    "pages_changed": 0,
    "missed_by_events": 0,
}


def freshness(index: SampleIndex, now: datetime = COMMITTED) -> Freshness:
    database = open_database(str(index.db))
    with database.snapshot() as snapshot:
        found = read(snapshot, now)
    database.close()
    return found


def said(index: SampleIndex) -> str | None:
    database = open_database(str(index.db))
    with database.snapshot() as snapshot:
        found = read(snapshot, COMMITTED + timedelta(hours=3))
        line = staleness(found, snapshot.root)
    database.close()
    return line


def test_a_running_daemon_without_pending_changes_is_fresh(index: SampleIndex) -> None:
    with running_daemon(index):
        found = freshness(index, COMMITTED + timedelta(seconds=90))
        assert (found.stale, found.daemon, found.mode, found.age_s) == (False, "running", "watching", 90.0)
        assert said(index) is None


def test_without_a_daemon_it_is_stale_and_says_since_when(index: SampleIndex) -> None:
    found = freshness(index)
    assert (found.stale, found.daemon, found.mode) == (True, "stopped", "stopped")
    start = f"start it with `indexerd run {index.root}`"
    assert (found.reason, found.remedy) == ("the daemon is not running", start)
    assert said(index) == f"the daemon is not running; last scan 3 h ago; {start}"


@pytest.mark.parametrize(
    "words", [("show", "nowhere"), ("search", "agent", "--topic", "nowhere"), ("links", "nowhere")]
)
def test_what_is_not_found_may_be_there_where_freshness_could_not_be_had(
    index: SampleIndex, words: tuple[str, ...]
) -> None:
    assert run_wikiq(*words, index=index).status == 1
    assert run_wikiq(*words, "--fresh", "--timeout", "0.1", index=index).status == 3


def test_freshness_that_cannot_be_had_is_told_once_with_the_remedy(index: SampleIndex) -> None:
    done = run_wikiq("agent", "--fresh", index=index)
    problem = "the answer may be behind the disk: the daemon is not running"
    assert done.err == f"wikiq: {problem}; start it with `indexerd run {index.root}`\n"


def test_freshness_of_a_wiki_that_nobody_named_says_which_it_is(index: SampleIndex, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    about = f"this is about the wiki {index.root.name} in {index.root}"
    words = ("sync", "--timeout", "0.1")
    assert about in run_wikiq(*words, index=index, cwd=elsewhere).err
    assert about not in run_wikiq(*words, index=index).err
    assert about not in run_wikiq(*words, "--wiki", index.root.name, index=index, cwd=elsewhere).err


def test_a_daemon_of_a_root_with_blanks_is_started_by_a_line_that_can_be_pasted() -> None:
    assert start_remedy("/home/ann/it's mine") == "start it with `indexerd run '/home/ann/it'\\''s mine'`"


def test_pending_changes_make_it_stale(index: SampleIndex) -> None:
    with running_daemon(index, WATCHING | {"pending": 3}):
        assert freshness(index).stale
        assert said(index) == "3 changes are not indexed yet"
    with running_daemon(index, WATCHING | {"pending": 1}):
        assert said(index) == "1 change is not indexed yet"


def test_changes_still_counted_when_a_barrier_was_passed_do_not_make_it_stale(index: SampleIndex) -> None:
    database = open_database(str(index.db))
    database.made_fresh = True
    with running_daemon(index, WATCHING | {"pending": 3}), database.snapshot() as snapshot:
        found = read(snapshot, COMMITTED)
    database.close()
    assert (found.stale, found.pending) == (False, 0)


OTHER = {"index": [1, 2], "last_scan": SCAN, "counters": {"scans": 9}, "pending": 3}


def test_a_daemon_that_writes_another_file_counts_as_none(index: SampleIndex) -> None:
    with running_daemon(index, WATCHING | OTHER):
        found = freshness(index, COMMITTED + timedelta(hours=3))
        assert (found.stale, found.daemon, found.mode, found.pending) == (True, "stopped", "stopped", 0)
        assert (found.last_scan, found.counters) == (None, {})
        assert said(index) == (
            "the daemon in its folder writes another index; last scan 3 h ago; "
            "give each index a folder of its own"
        )


def test_what_a_daemon_of_another_file_left_says_nothing_of_this_one(index: SampleIndex) -> None:
    with running_daemon(index, WATCHING | OTHER):
        pass
    found = freshness(index, COMMITTED + timedelta(hours=3))
    assert (found.last_scan, found.reason, found.pending) == (None, "the daemon is not running", 0)


def test_a_root_that_is_gone_makes_it_stale_whatever_the_daemon_said(index: SampleIndex) -> None:
    shutil.rmtree(index.root)
    with running_daemon(index):
        found = freshness(index)
        assert (found.stale, found.mode) == (True, "root_unavailable")
        begins = f"{index.root} is not there; this is what was last indexed; put the folder back, or tell"
        assert str(said(index)).startswith(begins)


@pytest.mark.parametrize(
    "reason, told",
    [
        ("does not exist", "{root}: does not exist"),
        ("{root} is another file system", "{root} is another file system"),
        (None, "{root} is not there"),
    ],
)
def test_a_root_that_the_daemon_cannot_find_is_named(
    index: SampleIndex, reason: str | None, told: str
) -> None:
    said_by_daemon = None if reason is None else reason.format(root=index.root)
    with running_daemon(index, WATCHING | {"mode": "root_unavailable", "reason": said_by_daemon}):
        found = freshness(index)
        assert found.reason == told.format(root=index.root)
        moved = f"`indexerd move {index.root} NEW`"
        assert found.remedy == f"put the folder back, or tell where it is now: {moved}"
        assert said(index) == f"{found.reason}; this is what was last indexed; {found.remedy}"


@pytest.mark.parametrize("late_s, stale", [(0.0, False), (1.0, True)])
def test_a_daemon_without_a_sign_of_progress_is_stale_whatever_it_says(
    index: SampleIndex, late_s: float, stale: bool
) -> None:
    now = COMMITTED + timedelta(seconds=HUNG_AFTER_S + late_s)
    with running_daemon(index, WATCHING | {"last_scan": SCAN}):
        os.utime(index.db.with_name("state.json"), (COMMITTED.timestamp(), COMMITTED.timestamp()))
        found = freshness(index, now)
        line = staleness(found, str(index.root))
    assert (found.stale, found.daemon) == (stale, "running")
    if stale:
        assert (found.mode, found.remedy) == ("hanging", "if it goes on, restart it")
        assert line == "the daemon has made no progress for 91 s; if it goes on, restart it"
    else:
        assert (found.mode, line) == ("watching", None)


@pytest.mark.parametrize(
    "more, problem",
    [
        (
            {"format": 2, "pending": {"paths": 3}},
            "state.json of the daemon has format 2, where 1 is known here",
        ),
        ({"format": "1"}, "state.json of the daemon has format '1', where 1 is known here"),
        ({"pending": {"paths": 3}}, "state.json of the daemon has {'paths': 3} as pending"),
        ({"mode": "dreaming"}, "state.json of the daemon has 'dreaming' as mode"),
    ],
)
def test_a_state_of_another_format_is_told_and_never_read_as_truth(
    index: SampleIndex, more: dict[str, object], problem: str
) -> None:
    with running_daemon(index, WATCHING | more):
        found = freshness(index)
        assert (found.stale, found.daemon, found.mode, found.reason) == (True, "running", "unknown", problem)
        status = run_wikiq("status", index=index)
        assert status.status == 3
        assert problem in status.out
        asked = run_wikiq("agent", "--fresh", "--timeout", "0.1", index=index)
        assert asked.status == 3
        assert problem in asked.err


def test_what_the_daemon_says_of_itself_is_passed_on(index: SampleIndex) -> None:
    more = {"mode": "scanning", "reason": "watch limit", "remedy": "raise it", "counters": {"rescans": 2}}
    with running_daemon(index, WATCHING | more | {"last_scan": SCAN}):
        found = freshness(index, COMMITTED + timedelta(days=1, seconds=11))
    assert (found.mode, found.reason, found.remedy) == ("scanning", "watch limit", "raise it")
    assert found.counters == {"rescans": 2}
    assert found.last_scan is not None
    assert found.last_scan.reason == "periodic"
    assert found.age_s == 10.0


def test_the_later_of_the_scans_in_state_and_index_counts(index: SampleIndex) -> None:
    index.alter(
        "INSERT INTO scan(started_at, finished_at, reason, pages_seen, pages_changed, missed_by_events)"
        " VALUES ('2026-01-05T00:00:00.000Z', '2026-01-05T00:00:00.000Z', 'start', 6, 1, 1)"
    )
    with running_daemon(index, WATCHING | {"last_scan": SCAN}):
        found = freshness(index, datetime(2026, 1, 5, 0, 0, 5, tzinfo=UTC))
    assert found.last_scan is not None
    assert (found.last_scan.reason, found.age_s) == ("start", 5.0)


def test_a_writer_without_a_state_is_a_build(index: SampleIndex) -> None:
    with running_daemon(index):
        (index.db.parent / "state.json").unlink()
        found = freshness(index)
        assert (found.mode, found.stale) == ("building", True), "of which file of the folder, nobody says"
        assert said(index) == "a build is at work; last scan 3 h ago"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"pending": 3, "last_scan": 3, "mode": 7}',
        '{"format": 1, "mode": "watching", "pending": -1, "last_scan": {}}',
        '{"format": 1, "last_scan": {"finished_at": "never", "pages_seen": null}}',
        "[" * 100_000,
    ],
)
def test_a_state_that_cannot_be_read_is_no_state(index: SampleIndex, text: str) -> None:
    with running_daemon(index):
        (index.db.parent / "state.json").write_text(text, "utf-8")
        found = freshness(index, COMMITTED + timedelta(seconds=1))
    assert (found.pending, found.counters, found.age_s) == (0, {}, 1.0)


def test_a_pipe_in_the_place_of_the_state_is_not_waited_for(index: SampleIndex) -> None:
    os.mkfifo(index.db.with_name("state.json"))
    assert freshness(index).daemon == "stopped"
    assert run_wikiq("agent", "--fresh", index=index).status == 3


def test_a_clock_that_was_set_back_gives_no_negative_age(index: SampleIndex) -> None:
    assert freshness(index, COMMITTED - timedelta(days=1)).age_s == 0.0


@pytest.mark.parametrize(
    "seconds, text",
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_an_age_is_said_in_its_largest_unit(seconds: float, text: str) -> None:
    assert render_age(seconds) == text


@contextmanager
def answering(index: SampleIndex, answer: bytes) -> Iterator[list[bytes]]:
    """A daemon's socket that gives one answer; what was asked is in the list then."""
    asked: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        short = Path("/tmp") / f"wikiq-{threading.get_native_id()}.sock"
        short.unlink(missing_ok=True)
        server.bind(str(short))
        server.listen()
        server.settimeout(PATIENCE_S)

        def serve() -> None:
            client, _ = server.accept()
            with client:
                asked.append(client.recv(4096))
                client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with running_daemon(index, WATCHING | {"control": str(short)}):
            yield asked
        thread.join()
        short.unlink()


def ask(index: SampleIndex) -> Barrier:
    database = open_database(str(index.db))
    try:
        database, barrier = make_fresh(database, 2.0)
        return barrier
    finally:
        database.close()


def fresh_answer(sample: SampleIndex, **other: object) -> bytes:
    """What a daemon says that has made the sample fresh, but for what is given."""
    facts = sample.db.stat()
    answer = {
        "protocol": 1,
        "fresh": True,
        "index_id": sample_id(sample),
        "generation": 1,
        "guarantee": "scan",
        "index": [facts.st_dev, facts.st_ino],
    }
    return json.dumps(answer | other).encode() + b"\n"


def sample_id(sample: SampleIndex) -> str:
    database = open_database(str(sample.db))
    with database.snapshot() as snapshot:
        found = snapshot.index_id
    database.close()
    return found


def test_a_fresh_answer_names_the_generation_and_the_guarantee(index: SampleIndex) -> None:
    with answering(index, fresh_answer(index)) as asked:
        barrier = ask(index)
    assert (barrier.fresh, barrier.generation, barrier.guarantee, barrier.problem) == (True, 1, "scan", None)
    request = json.loads(asked[0])
    assert 0 < request.pop("timeout_s") <= 2.0
    assert request == {"protocol": 1, "ask": "fresh"}


@pytest.mark.parametrize(
    "other, problem",
    [
        ({"index": [1, 2]}, "the daemon in its folder writes another index"),
        ({"index": None}, "the daemon answers something else; restart it"),
        ({"index_id": "x"}, "the index was replaced meanwhile"),
        ({"generation": 2}, "the index was replaced meanwhile"),
        ({"generation": "2"}, "the daemon answers something else; restart it"),
        ({"protocol": 2}, "the daemon speaks protocol 2, where 1 is known here"),
    ],
)
def test_an_answer_about_what_is_not_in_this_file_is_not_believed(
    index: SampleIndex, other: dict[str, object], problem: str
) -> None:
    with answering(index, fresh_answer(index, **other)):
        barrier = ask(index)
    assert (barrier.fresh, barrier.generation, barrier.problem) == (False, None, problem)


def test_a_daemon_that_does_not_say_which_file_it_writes_is_not_believed(index: SampleIndex) -> None:
    answer = json.loads(fresh_answer(index))
    del answer["index"]
    with answering(index, json.dumps(answer).encode() + b"\n"):
        assert "restart it" in str(ask(index).problem)


def test_an_index_that_was_replaced_before_the_answer_is_opened_anew(index: SampleIndex) -> None:
    before = open_database(str(index.db))
    copy = index.db.with_name("copy.db")
    shutil.copy(index.db, copy)
    copy.replace(index.db)
    with answering(index, fresh_answer(index)):
        after, barrier = make_fresh(before, 2.0)
    assert (barrier.fresh, after.made_fresh, after is before) == (True, True, False)
    assert not after.is_replaced()
    after.close()


def test_an_index_that_is_gone_after_the_answer_is_asked_as_it_was(index: SampleIndex) -> None:
    before = open_database(str(index.db))
    with answering(index, fresh_answer(index)):
        index.db.unlink()
        after, barrier = make_fresh(before, 2.0)
    assert (barrier.fresh, after is before) == (False, True)
    assert "there is no index" in str(barrier.problem)
    with after.snapshot() as snapshot:
        assert snapshot.generation == 1
    after.close()


@pytest.mark.parametrize(
    "answer, problem",
    [
        (
            b'{"protocol": 1, "fresh": false, "open": ["a.md is settling", "b.md"]}\n',
            "a.md is settling, b.md",
        ),
        (b'{"protocol": 1, "fresh": false, "error": "this is protocol 2"}\n', "this is protocol 2"),
        (b'{"protocol": 1, "fresh": false}\n', "the daemon did not say why"),
        (b"", "the daemon answers only its own user"),
        (b"nonsense\n", "the answer of the daemon is not JSON"),
        (b"[]\n", "the daemon speaks protocol none, where 1 is known here"),
    ],
)
def test_what_is_not_fresh_says_why(index: SampleIndex, answer: bytes, problem: str) -> None:
    with answering(index, answer):
        barrier = ask(index)
    assert (barrier.fresh, barrier.problem) == (False, problem)


def test_a_daemon_that_is_just_starting_is_waited_for(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(index, fresh_answer(index)) as asked:
        state = index.db.with_name("state.json")
        ready = state.read_text("utf-8")
        pauses = iter(
            ["", json.dumps(WATCHING | {"control": "/nowhere/c.sock"}), ready]
        )  # nothing, what one before left, its own
        state.unlink()
        monkeypatch.setattr(
            "wikiq.index.barrier_client.sleep", lambda _: state.write_text(next(pauses), "utf-8")
        )
        assert ask(index).fresh
    assert 0 < json.loads(asked[0])["timeout_s"] <= 2.0


@pytest.mark.parametrize(
    "has_state, problem",
    [(False, "a build is at work, or the daemon is still starting"), (True, "XDG_RUNTIME_DIR")],
)
def test_a_writer_without_a_socket_is_waited_for_until_time_runs_out(
    index: SampleIndex, has_state: bool, problem: str
) -> None:
    with running_daemon(index, WATCHING | {"control": None}):
        if not has_state:
            index.db.with_name("state.json").unlink()
        database, barrier = make_fresh(open_database(str(index.db)), 0.1)
    database.close()
    assert problem in str(barrier.problem)
    assert barrier.took_ms >= 100


def test_without_a_daemon_nobody_is_waited_for(index: SampleIndex) -> None:
    assert ask(index).problem == "the daemon is not running"
    (index.db.parent / "state.json").write_text(
        json.dumps(WATCHING | {"control": "/nowhere/c.sock"}), "utf-8"
    )
    assert ask(index).problem == "the daemon is not running"


def test_the_socket_of_a_foreign_state_is_not_asked_where_nobody_holds_the_lock(
    index: SampleIndex, tmp_path: Path
) -> None:
    """What came with an index may name any socket of the user: an agent's, a container daemon's."""
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(tmp_path / "s"))
        theirs.listen()
        theirs.setblocking(False)
        state = WATCHING | {"control": str(tmp_path / "s")}
        index.db.with_name("state.json").write_text(json.dumps(state), "utf-8")
        assert ask(index).problem == "the daemon is not running"
        with pytest.raises(BlockingIOError):
            theirs.accept()
