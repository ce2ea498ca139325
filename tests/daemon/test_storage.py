"""What the disk does to a daemon's index: it goes on, says why nothing is written, and heals."""

from __future__ import annotations

import errno
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest

from indexerd.daemon.status import describe_trouble
from indexerd.errors import StorageError
from indexerd.setup import compose
from indexerd.store import Store
from tests.following import Followed, following

Scenario = Callable[[Followed], Coroutine[Any, Any, None]]


def play(folder: Path, scenario: Scenario) -> None:
    async def run() -> None:
        async with following(folder) as wiki:
            await scenario(wiki)

    anyio.run(run)


@pytest.mark.parametrize(
    "error, reason, remedy",
    [
        (OSError(errno.EMFILE, "Too many", "/wiki/a.md"), "/wiki/a.md: too many files are open", "ulimit"),
        (OSError(errno.ENOMEM, "Cannot allocate memory", 7), "Cannot allocate memory", "tried again"),
        (MemoryError(), "MemoryError: ", "tried again"),
        (StorageError("/disk", "the disk is full", "free it"), "/disk: the disk is full", "free it"),
    ],
)
def test_what_is_waited_out_is_told_with_what_to_do(error: Exception, reason: str, remedy: str) -> None:
    said, what_to_do = describe_trouble(error)
    assert said == reason
    assert what_to_do is not None
    assert remedy in what_to_do


def test_an_index_that_cannot_be_made_anew_yet_is_tried_for_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(wiki: Followed) -> None:
        wiki.write("a.md", "# A")
        wiki.say("a.md")
        await wiki.until_equal()
        committed = len(wiki.log.named("batch.committed"))
        refusals = [StorageError("/disk", "the disk is full", "free it")] * 4

        def refusing(*what: Any, **how: Any) -> Store:
            if refusals:
                raise refusals.pop()
            return compose.open_store(*what, **how)

        monkeypatch.setattr("indexerd.daemon.resources.open_store", refusing)
        for left in wiki.db.parent.glob("index.db*"):
            left.unlink()
        wiki.advance_to_periodic_scan()
        await wiki.until(lambda: wiki.state()["reason"] == "/disk: the disk is full")
        await wiki.until_logged("batch.committed", committed + 1)
        await wiki.until_equal()
        await wiki.until(lambda: wiki.state()["reason"] is None)
        assert wiki.counter("failures") == 4

    play(tmp_path, scenario)


def test_full_text_that_drifted_before_an_unclean_stop_is_made_anew_after_it(tmp_path: Path) -> None:
    async def first(wiki: Followed) -> None:
        wiki.write("a.md", "# A\n\nwords\n")
        wiki.say("a.md")
        await wiki.until_equal()

    async def second(wiki: Followed) -> None:
        await wiki.until_logged("batch.committed")
        await wiki.until_equal()
        assert wiki.counter("index_replaced") == 1
        assert wiki.db.with_name("index.db.damaged").exists()

    play(tmp_path, first)
    connection = apsw.Connection(str(tmp_path / "state" / "index.db"))
    connection.execute("UPDATE section SET body = body || ' unheard of'")
    connection.execute("UPDATE meta SET value = 0 WHERE key = 'clean'")
    connection.close()
    play(tmp_path, second)
    with closing(
        Store.open(tmp_path / "state" / "index.db", root=str(tmp_path / "wiki"), name="wiki")
    ) as store:
        assert store.check_integrity() == ()  # after the daemon: its transactions are on the same connection
