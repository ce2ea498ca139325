"""The whole daemon over a small wiki, with a watcher that tells the truth, little, or nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from indexerd.contract.barrier import Fresh, NotFresh
from indexerd.contract.live_state import LiveState
from indexerd.core.sync.confirmation import CONFIRM_AFTER_S, SETTLE_AT_MOST_S
from indexerd.core.sync.intervals import COSTLY_BYTES
from indexerd.daemon import job_progress, sync_pass
from indexerd.daemon.loop import ROOT_CHECK_S
from indexerd.daemon.scan_audit import REPORT_PATIENCE_S
from indexerd.daemon.status import MISSED_SHOWN_S
from indexerd.daemon.sync_pass import MOST_GONE
from indexerd.errors import ReplacedProgramError, StorageError
from indexerd.pipeline import workers
from indexerd.pipeline.indexer import Indexer
from indexerd.service import status_file
from indexerd.service.status_file import StateFile
from indexerd.store import Snapshot, Store
from indexerd.tree.tree import Tree
from tests.following import PATIENCE_S, Followed, following
from tests.scripted_notifier import DELETED, MODIFIED, Script

Scenario = Callable[[Followed], Awaitable[None]]


def play(folder: Path, scenario: Scenario, **how: Any) -> None:
    async def run() -> None:
        async with following(folder, **how) as followed:
            await scenario(followed)

    anyio.run(run)


async def watching(wiki: Followed) -> None:
    """Until the watcher is open and the scan that follows it is done."""
    await wiki.until(lambda: wiki.counter("scans_watch") > 0)


def test_what_is_there_at_the_start_is_in_the_index_when_the_daemon_is_ready(tmp_path: Path) -> None:
    (tmp_path / "wiki" / "d").mkdir(parents=True)
    (tmp_path / "wiki" / "d" / "a.md").write_text("# A")

    async def scenario(wiki: Followed) -> None:
        assert wiki.indexed() == wiki.on_disk() != {}
        await wiki.until(lambda: wiki.state()["mode"] == "watching")

    play(tmp_path, scenario)


def test_a_save_that_is_reported_is_found(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()
        assert wiki.counter("missed_by_events") == 0

    play(tmp_path, scenario)


def test_a_watcher_that_says_only_the_folder_is_enough(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        for nth in range(5):
            wiki.write(f"new/deep/{nth}.md", f"# {nth}")
        wiki.say("new")
        await wiki.until_equal()
        shutil.rmtree(wiki.root / "new")
        wiki.say("new", kind=DELETED)
        await wiki.until(lambda: wiki.indexed() == {})

    play(tmp_path, scenario)


def test_after_a_folder_change_everything_is_scanned_once_it_is_quiet(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.write("new/a.md", "# A")
        wiki.say("new")
        await wiki.until_equal()
        wiki.write("unsaid.md", "# nobody says a word of this one")
        await wiki.until_equal()
        await wiki.until(lambda: wiki.counter("scans_storm") == 1)  # counted after its commit
        await wiki.until(lambda: wiki.counter("missed_by_events") == 1)

    play(tmp_path, scenario)


def test_what_a_silent_watcher_hides_is_found_by_the_periodic_scan(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.write("a.md", "# A")
        wiki.advance_to_periodic_scan()
        await wiki.until_equal()
        await wiki.until(lambda: wiki.counter("missed_by_events") == 1)
        await wiki.until(lambda: len(wiki.script.opened) == 2)  # it is replaced: it may be deaf
        await wiki.until(lambda: wiki.state()["counters"].get("missed_by_events") == 1)
        await wiki.until(lambda: "max_queued_events" in (wiki.state()["remedy"] or ""))
        wiki.advance(MISSED_SHOWN_S)
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: wiki.state()["reason"] is None)

    play(tmp_path, scenario)


def test_a_watcher_that_raises_for_ever_is_opened_anew_and_nothing_is_lost(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.notifier.raise_for_ever(RuntimeError('Unable to decode path "/w/b\\xFF.md" to string'))
        await wiki.until_logged("watch.failed")
        wiki.write("a.md", "# written while nobody watched")
        await wiki.until_equal()
        await wiki.until(lambda: len(wiki.script.opened) == 2)
        wiki.write("b.md", "# B")
        wiki.say("b.md")
        await wiki.until_equal()
        assert wiki.log.named("watch.failed")[0]["kind"] == "undecodable_name"
        assert wiki.counter("watch_failed_undecodable_name") == 1

    play(tmp_path, scenario)


def test_a_watcher_that_cannot_start_leaves_a_daemon_that_scans_and_says_why(tmp_path: Path) -> None:
    script = Script(refusals=[RuntimeError("OS file watch limit reached.") for _ in range(100)])

    async def scenario(wiki: Followed) -> None:
        await wiki.until(lambda: wiki.state()["mode"] == "scanning" and wiki.state()["remedy"])
        assert "max_user_watches" in wiki.state()["remedy"]
        wiki.write("a.md", "# A")
        wiki.advance_to_periodic_scan()
        await wiki.until_equal()
        script.refusals.clear()
        await wiki.until(lambda: wiki.state()["mode"] == "watching")
        assert wiki.state()["reason"] is None

    play(tmp_path, scenario, script=script)


def test_a_wiki_that_is_to_be_scanned_has_no_watcher(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await wiki.until(lambda: wiki.state()["remedy"] == 'set watch to "auto" to use events')
        assert wiki.script.opened == []
        assert wiki.state()["mode"] == "scanning"

    play(tmp_path, scenario, watch="scan")


def test_an_idle_daemon_scans_and_commits_nothing(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        await watching(wiki)
        wiki.say("a.md")
        await wiki.until_equal()
        with anyio.fail_after(PATIENCE_S):
            # Such a page is hashed once more, when the clock of its disk is certainly past it.
            while wiki.has_young_stamps():
                wiki.advance_to_periodic_scan()
                await wiki.until_scanned("periodic")
        await wiki.until_at_rest()
        commits = wiki.counter("commits")
        with Snapshot.open(wiki.db) as snapshot:
            before = list(snapshot.public_rows("v1_pages")), snapshot.meta
        for _ in range(5):
            wiki.advance_to_periodic_scan()
            await wiki.until_scanned("periodic")
        assert wiki.counter("commits") == commits
        with Snapshot.open(wiki.db) as snapshot:
            assert (list(snapshot.public_rows("v1_pages")), snapshot.meta) == before

    play(tmp_path, scenario)


def test_a_root_that_goes_away_and_comes_back_loses_no_page(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()
        kept = wiki.indexed()
        away = tmp_path / "away"
        os.rename(wiki.root, away)
        wiki.say("", kind=DELETED)
        await wiki.until(lambda: wiki.state()["mode"] == "root_unavailable")
        assert isinstance(await wiki.ask(0.01), NotFresh)
        for _ in range(3):
            wiki.advance(CONFIRM_AFTER_S)
            await wiki.until_at_rest()
        assert wiki.indexed() == kept
        os.rename(away, wiki.root)
        wiki.advance(CONFIRM_AFTER_S)
        await wiki.until(lambda: wiki.state()["mode"] == "watching")
        wiki.write("b.md", "# B")
        wiki.say("b.md")
        await wiki.until_equal()
        assert wiki.counter("deleted") == 0
        assert wiki.counter("root_lost") == 1

    play(tmp_path, scenario)


def test_an_empty_folder_at_the_place_of_the_root_loses_no_page(tmp_path: Path) -> None:
    """What an unmounted disk looks like."""

    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()
        kept = wiki.indexed()
        os.rename(wiki.root, tmp_path / "away")
        wiki.root.mkdir()
        for _ in range(5):
            wiki.advance_to_periodic_scan()
            await wiki.until_at_rest()
        await wiki.until(lambda: "mounted?" in (wiki.state()["reason"] or ""))
        assert wiki.indexed() == kept
        wiki.root.rmdir()
        os.rename(tmp_path / "away", wiki.root)
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: wiki.state()["mode"] == "watching")
        assert wiki.indexed() == kept

    play(tmp_path, scenario)


def test_another_folder_with_pages_becomes_the_root_after_a_second_look(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.write("b.md", "# B")
        wiki.say("a.md", "b.md")
        await wiki.until_equal()
        opened = len(wiki.script.opened)
        os.rename(wiki.root, tmp_path / "away")
        wiki.write("a.md", "# another A")
        wiki.advance_to_periodic_scan()
        await wiki.until_logged("root.lost")
        assert len(wiki.indexed()) == 2
        wiki.advance(CONFIRM_AFTER_S)
        await wiki.until_equal()
        await wiki.until(lambda: len(wiki.script.opened) > opened)

    play(tmp_path, scenario)


def test_most_pages_gone_at_once_is_believed_after_a_second_look(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        for nth in range(30):
            wiki.write(f"d/{nth}.md", f"# {nth}")
        wiki.write("stays.md", "# stays")
        wiki.say("d", "stays.md")
        await wiki.until_equal()
        shutil.rmtree(wiki.root / "d")
        wiki.say("d", kind=DELETED)
        await wiki.until(lambda: any("most pages are gone" in said for said in wiki.state()["open"]))
        assert len(wiki.indexed()) == 31
        wiki.advance(CONFIRM_AFTER_S)
        await wiki.until_equal()
        assert list(wiki.indexed()) == ["stays.md"]

    play(tmp_path, scenario)


def test_the_last_page_deleted_by_hand_is_gone_from_the_index(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()
        (wiki.root / "a.md").unlink()
        wiki.say("a.md", kind=DELETED)
        await wiki.until(lambda: wiki.daemon._sync.open)
        wiki.advance(CONFIRM_AFTER_S)
        await wiki.until(lambda: wiki.indexed() == {})

    play(tmp_path, scenario)


def test_a_page_emptied_in_place_is_not_published_empty_when_it_is_written_again(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A\n\nmany words\n")
        wiki.say("a.md")
        await wiki.until_equal()
        before = wiki.indexed()
        with (wiki.root / "a.md").open("w") as editor:  # truncated
            wiki.say("a.md", kind=MODIFIED)
            await wiki.until(lambda: wiki.daemon._sync.open)
            assert wiki.indexed() == before
            editor.write("# A\n\nquite other words\n")
        wiki.say("a.md", kind=MODIFIED)
        await wiki.until_equal()
        assert wiki.counter("commits") >= 2
        assert wiki.daemon._sync.open == ()

    play(tmp_path, scenario)


def test_a_page_emptied_between_the_look_and_the_reading_is_not_published_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = Indexer.scan
    fates: list[Callable[[Path], object]] = []

    def meddling(indexer: Indexer, *covers: Any, **how: Any) -> Any:
        found = scan(indexer, *covers, **how)
        if found.work.read and fates:
            fates.pop()(tmp_path / "wiki" / "a.md")
        return found

    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A\n\nmany words\n")
        wiki.say("a.md")
        await wiki.until_equal()
        monkeypatch.setattr(Indexer, "scan", meddling)
        for fate in (lambda path: os.truncate(path, 0), Path.unlink):
            before = wiki.indexed()
            fates.append(fate)
            wiki.write("a.md", f"# A\n\nother words, {len(fates)} times\n")
            wiki.say("a.md")
            await wiki.until(lambda: not fates)
            await wiki.until_at_rest()
            assert wiki.indexed() == before
            wiki.write("a.md", "# A\n\nthe last words\n")
            wiki.say("a.md")
            await wiki.until_equal()

    play(tmp_path, scenario)


def test_a_page_that_stays_empty_is_published_so(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A\n\nmany words\n")
        wiki.say("a.md")
        await wiki.until_equal()
        wiki.write("a.md", "")
        wiki.say("a.md", kind=MODIFIED)
        await wiki.until(lambda: wiki.daemon._sync.open)
        wiki.advance(SETTLE_AT_MOST_S)
        await wiki.until_equal()

    play(tmp_path, scenario)


def test_a_disk_that_refuses_loses_nothing_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        apply, refusals = Store.apply, [StorageError("/disk", "the disk is full", "free some space")] * 3

        def refusing(store: Store, *plan: Any, **how: Any) -> Any:
            if refusals:
                raise refusals.pop()
            return apply(store, *plan, **how)

        monkeypatch.setattr(Store, "apply", refusing)
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until(lambda: wiki.state()["reason"] == "/disk: the disk is full")
        assert wiki.state()["remedy"] == "free some space"
        assert wiki.state()["pending"] > 0
        await wiki.until_equal()
        await wiki.until(lambda: wiki.state()["reason"] is None)
        assert wiki.counter("failures") == 3

    play(tmp_path, scenario)


def test_a_machine_that_slept_is_followed_by_a_scan(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.write("a.md", "# A")
        wiki.clock.asleep_s = 60.0
        wiki.advance(0.0)
        await wiki.until_equal()
        await wiki.until(lambda: wiki.counter("scans_gap") > 0)  # counted after the commit

    play(tmp_path, scenario)


def test_an_ignore_file_rescans_what_it_governs(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("d/a.md", "# A")
        wiki.write("d/b.md", "# B")
        wiki.say("d")
        await wiki.until_equal()
        wiki.write("d/.wikiignore", "a.md\n")
        wiki.say("d/.wikiignore")
        await wiki.until(lambda: list(wiki.indexed()) == ["d/b.md"])

    play(tmp_path, scenario)


def has_diagnostic(db: Path, path: str, kind: str) -> bool:
    with closing(sqlite3.connect(db)) as index:
        found = index.execute("SELECT 1 FROM v1_diagnostics WHERE (path, kind) = (?, ?)", (path, kind))
        return found.fetchone() is not None


def test_an_edit_of_the_wikis_settings_is_in_force_at_once_and_a_bad_one_is_refused(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.write("b.txt", "# B")
        wiki.say("a.md")
        await wiki.until_equal()
        wiki.write(".wikiq.toml", '[wiki]\nextensions = ["md", "txt"]\n')
        wiki.say(".wikiq.toml")
        await wiki.until(lambda: sorted(wiki.indexed()) == ["a.md", "b.txt"])
        wiki.write(".wikiq.toml", "[wiki]\nextension = 1\n")
        wiki.say(".wikiq.toml")
        await wiki.until_logged("settings.refused")
        await wiki.until(lambda: "extension is no setting" in (wiki.state()["reason"] or ""))
        assert sorted(wiki.indexed()) == ["a.md", "b.txt"]
        await wiki.until(lambda: has_diagnostic(wiki.db, ".wikiq.toml", "settings_invalid"))

    play(tmp_path, scenario)


def test_what_an_edit_of_the_users_settings_changes_was_not_missed_by_the_watcher(tmp_path: Path) -> None:
    """Their file lies outside the wiki: the next scan reads it anew, and finds pages changed for it."""

    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.write("b.txt", "# B")
        wiki.say("a.md")
        await wiki.until_equal()
        file = tmp_path / "config" / "indexerd" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text('[wiki]\nextensions = ["txt"]\n')
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: list(wiki.indexed()) == ["b.txt"])
        wiki.advance(REPORT_PATIENCE_S)
        await wiki.until(lambda: wiki.daemon._scans.next_at is None)
        assert wiki.log.named("events.missed") == []

    play(tmp_path, scenario)


def test_a_large_page_that_changes_all_the_time_waits_for_what_it_costs_and_no_other_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_pass, "rest_s", lambda _took_s: 3600.0)  # not over before this test has looked

    async def scenario(wiki: Followed) -> None:
        wiki.write("log.md", "# Log\n\n" + "one line of a log\n" * (COSTLY_BYTES // 18 + 1))
        wiki.say("log.md")
        await wiki.until_equal()
        await wiki.until_at_rest()
        now, debouncer = wiki.clock.monotonic(), wiki.daemon._scheduler._debouncer
        debouncer.add("log.md", now)
        assert (debouncer.next_due() or 0) - now > 3000
        debouncer.add("small.md", now)
        assert (debouncer.next_due() or 0) - now < 3000
        wiki.write("log.md", "# Log\n\n" + "two lines of a log\n" * (COSTLY_BYTES // 18 + 1))
        assert isinstance(await wiki.ask(), Fresh)
        assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_an_edit_of_the_settings_at_equal_size_and_time_is_noticed(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.write("b.txt", "# B")
        wiki.write(".wikiq.toml", '[wiki]\nextensions = ["md", "mdx"]\n')
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: list(wiki.indexed()) == ["a.md"])
        file = wiki.root / ".wikiq.toml"
        facts = file.stat()
        with file.open("r+") as edited:
            edited.write('[wiki]\nextensions = ["md", "txt"]\n')
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: sorted(wiki.indexed()) == ["a.md", "b.txt"])

    play(tmp_path, scenario)


def test_after_an_upgrade_the_daemon_ends_for_the_new_code_to_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CODE", "what this process began with")
    monkeypatch.setattr(workers, "INLINE_BYTES", 0)

    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until(lambda: False)

    with pytest.raises(ExceptionGroup) as caught:
        play(tmp_path, scenario)
    assert caught.group_contains(ReplacedProgramError)


def test_an_index_that_is_deleted_under_the_daemon_is_made_anew(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()
        for path in wiki.db.parent.glob("index.db*"):
            path.unlink()
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: wiki.counter("scans_start") == 2)
        assert len(wiki.log.named("index.replaced")) == 1
        assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_who_asks_for_freshness_gets_what_nobody_reported(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        for nth in range(10):
            wiki.write("a.md", f"# version {nth}")
            answer = await wiki.ask()
            assert isinstance(answer, Fresh)
            assert answer.generation == wiki.generation
            assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_those_who_ask_at_the_same_time_share_one_scan(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        answers = []
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                answers.append(await wiki.ask())

            for _ in range(20):
                tasks.start_soon(ask)
        assert all(isinstance(answer, Fresh) for answer in answers)
        assert wiki.counter("scans_barrier") <= 2

    play(tmp_path, scenario)


def test_freshness_waits_for_a_file_that_settles_and_names_it_when_time_runs_out(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A\n\nmany words\n")
        wiki.say("a.md")
        await wiki.until_equal()
        wiki.write("a.md", "")
        answer = await wiki.ask(0.05)
        assert isinstance(answer, NotFresh)
        assert answer.open == ("a.md was emptied and may be written again",)
        scans = wiki.counter("scans")
        assert isinstance(await wiki.ask(0.3), NotFresh)
        assert wiki.counter("scans") <= scans + 5, "who waits does not make it scan all the time"
        wiki.clock.ahead_s += SETTLE_AT_MOST_S
        assert isinstance(await wiki.ask(), Fresh)
        assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_a_tree_of_any_size_is_scanned_for_who_asks(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.daemon._scheduler._last_scan_s = 60.0  # as if it had taken so long
        wiki.write("a.md", "# A")
        assert isinstance(await wiki.ask(), Fresh)
        assert wiki.indexed() == wiki.on_disk()
        assert wiki.counter("scans_barrier") == 1

    play(tmp_path, scenario)


def test_a_question_that_comes_during_a_scan_is_answered_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, scanning, go_on = Tree.scan, threading.Event(), threading.Event()

    def hang(tree: Tree, *arguments: Any, **how: Any) -> Any:
        scan = original(tree, *arguments, **how)
        scanning.set()
        go_on.wait(PATIENCE_S)
        return scan

    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        answers: list[object] = []

        async def ask() -> None:
            answers.append(await wiki.ask())

        monkeypatch.setattr(Tree, "scan", hang)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await wiki.until(scanning.is_set)
            wiki.write("late.md", "# late")  # the scan has passed its place
            tasks.start_soon(ask)
            await wiki.until(lambda: len(wiki.daemon._barrier.present()) == 2)
            go_on.set()
        assert all(isinstance(answer, Fresh) for answer in answers)
        assert wiki.counter("scans_barrier") == 2
        assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_who_cannot_wait_for_the_scan_is_told_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, go_on = Tree.scan, threading.Event()

    def hang(tree: Tree, *arguments: Any, **how: Any) -> Any:
        scan = original(tree, *arguments, **how)
        go_on.wait(PATIENCE_S)
        return scan

    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        (wiki.root / "below" / "deeper").mkdir(parents=True)
        monkeypatch.setattr(Tree, "scan", hang)
        answer = await wiki.ask(0.2)
        go_on.set()
        assert isinstance(answer, NotFresh)
        assert answer.open == ("the scan is not finished: 3 folders so far; the last scan saw 1",)

    play(tmp_path, scenario)


def test_freshness_waits_until_deletions_are_confirmed_and_names_them_when_time_runs_out(
    tmp_path: Path,
) -> None:
    async def scenario(wiki: Followed) -> None:
        for nth in range(30):
            wiki.write(f"{nth}.md", "# page")
        assert isinstance(await wiki.ask(), Fresh)
        for nth in range(29):
            (wiki.root / f"{nth}.md").unlink()
        answer = await wiki.ask(0.2)
        assert isinstance(answer, NotFresh)
        assert answer.open == (MOST_GONE,)
        wiki.clock.ahead_s += CONFIRM_AFTER_S
        assert isinstance(await wiki.ask(), Fresh)
        assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_who_asks_is_answered_of_the_file_that_is_in_its_place(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        shutil.copy(wiki.db, wiki.db.with_name("copy.db"))
        wiki.db.with_name("copy.db").replace(wiki.db)
        wiki.write("a.md", "# A")
        answer = await wiki.ask()
        assert isinstance(answer, Fresh)
        assert answer.index == (wiki.db.stat().st_dev, wiki.db.stat().st_ino)
        assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario)


def test_an_edit_that_is_reported_through_a_link_that_is_gone_is_not_called_fresh_unseen(
    tmp_path: Path,
) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        wiki.write("asked/a.md", "# before")
        wiki.write("d/b.md", "# B")
        (wiki.root / "d" / "up").symlink_to("..")
        await wiki.until_equal()
        # The watcher follows the link below a folder that is moved: `asked` is now moved/up/asked to it.
        (wiki.root / "d").rename(wiki.root / "moved")
        await wiki.until_equal()
        (wiki.root / "moved").rename(tmp_path / "out")
        await wiki.until_equal()
        scheduler = wiki.daemon._scheduler
        await wiki.until(lambda: not scheduler._asked and scheduler._debouncer.next_due() is None)
        await wiki.until(lambda: wiki.daemon._progress._job is None)
        for nth in range(3):
            wiki.write("asked/a.md", f"# edited {nth}")
            answer = await wiki.ask()
            assert isinstance(answer, Fresh)
            assert wiki.indexed() == wiki.on_disk()

    play(tmp_path, scenario, real=True)


def test_the_real_watcher_is_enough_for_every_kind_of_change(tmp_path: Path) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        root = wiki.root
        steps: list[Callable[[], object]] = [
            partial(wiki.write, "a.md", "# A"),
            partial(wiki.write, "d/e/f/deep.md", "# deep"),
            partial(os.rename, root / "d", root / "moved"),
            partial(shutil.copytree, root / "moved", root / "copied"),
            partial(os.rename, root / "moved", tmp_path / "outside"),
            partial(os.rename, tmp_path / "outside", root / "back"),
            partial(shutil.rmtree, root / "copied"),
            partial(os.rename, root / "a.md", root / "A.md"),
            partial(os.link, root / "A.md", root / "linked.md"),
            partial(os.truncate, root / "A.md", 1),
        ]
        for step in steps:
            step()
            await wiki.until_equal()

    play(tmp_path, scenario, real=True)


def test_a_stop_in_the_middle_of_a_build_leaves_an_index_that_the_next_start_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for nth in range(50):
        path = tmp_path / "wiki" / f"{nth}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {nth}\n")
    stop_at = 20
    original = Indexer.apply

    async def interrupted() -> None:
        def stopping(indexer: Indexer, scanned: Any, *, stop: Callable[[], bool], **how: Any) -> Any:
            asked = iter(range(1_000_000))
            return original(indexer, scanned, stop=lambda: next(asked) >= stop_at or stop(), **how)

        monkeypatch.setattr(Indexer, "apply", stopping)
        with anyio.move_on_after(0.5):
            async with following(tmp_path):
                raise AssertionError("it cannot have become ready")

    anyio.run(interrupted)
    monkeypatch.setattr(Indexer, "apply", original)

    async def scenario(wiki: Followed) -> None:
        assert len(wiki.indexed()) == 50

    play(tmp_path, scenario)


@pytest.fixture
def pending(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many changes the daemon says are pending, each time it writes its state, which is at once."""
    told: list[int] = []
    write_now = StateFile.write_now

    def telling(file: StateFile, state: LiveState, now: float, updated_at: str) -> None:
        told.append(state.pending)
        write_now(file, state, now, updated_at)

    monkeypatch.setattr(status_file, "WRITE_INTERVAL_S", 0.0)
    monkeypatch.setattr(StateFile, "write_now", telling)
    return told


def test_a_report_of_what_a_scan_has_covered_is_no_pending_change(tmp_path: Path, pending: list[int]) -> None:
    async def scenario(wiki: Followed) -> None:
        def has_heard(events: int) -> bool:
            return wiki.counter("events") >= events

        await watching(wiki)
        for nth in range(5):
            wiki.write("a.md", f"# A {nth}")
            assert isinstance(await wiki.ask(), Fresh)
            wiki.say("a.md")
            await wiki.until(partial(has_heard, nth + 1))
        await wiki.until_at_rest()
        assert set(pending) == {0}

    play(tmp_path, scenario)


def test_a_long_job_tells_how_many_pages_it_has_still_to_do(
    tmp_path: Path, pending: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(wiki: Followed) -> None:
        await watching(wiki)
        monkeypatch.setattr(job_progress, "TELL_EVERY_S", 0.0)
        for nth in range(5):
            wiki.write(f"{nth}.md", f"# {nth}")
        assert isinstance(await wiki.ask(), Fresh)
        assert [pages for pages in pending if pages] == [4, 3, 2, 1]
        assert wiki.state()["pending"] == 0, "before the answer"

    play(tmp_path, scenario)


def test_a_disk_that_is_not_mounted_yet_when_the_daemon_starts_loses_no_page(tmp_path: Path) -> None:
    async def before(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()

    async def scenario(wiki: Followed) -> None:
        await wiki.until(lambda: wiki.state()["mode"] == "root_unavailable")
        assert "mounted?" in wiki.state()["reason"]
        wiki.say("a.md")  # an event of one page is no way around it
        for _ in range(3):
            wiki.advance_to_periodic_scan()
            await wiki.until_at_rest()
        assert set(wiki.indexed()) == {"a.md"}
        wiki.root.rmdir()
        os.rename(tmp_path / "away", wiki.root)
        wiki.advance(ROOT_CHECK_S)
        await wiki.until(lambda: wiki.state()["mode"] == "watching")
        assert wiki.indexed() == wiki.on_disk() != {}
        assert wiki.counter("deleted") == 0

    play(tmp_path, before)
    os.rename(tmp_path / "wiki", tmp_path / "away")
    (tmp_path / "wiki").mkdir()
    play(tmp_path, scenario)


def test_another_folder_with_pages_is_the_root_at_a_start(tmp_path: Path) -> None:
    async def before(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        assert isinstance(await wiki.ask(), Fresh)

    async def scenario(wiki: Followed) -> None:
        await wiki.until_equal()
        assert set(wiki.indexed()) == {"b.md"}

    play(tmp_path, before)
    os.rename(tmp_path / "wiki", tmp_path / "away")
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "b.md").write_text("# B")
    play(tmp_path, scenario)
