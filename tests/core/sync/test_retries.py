"""When a page that was given up is tried again."""

from __future__ import annotations

from indexerd.core.model import Stamp
from indexerd.core.sync.retries import RETRY_AFTER_S, Retries

ONE = Stamp(1, 2, 3, 4, 5)
OTHER = ONE._replace(ctime_ns=6)


def test_a_page_rests_longer_each_time_and_then_until_it_changes_or_the_next_start() -> None:
    retries, now = Retries(), 100.0
    for attempts, wait in enumerate(RETRY_AFTER_S, start=1):
        retries.give_up("a.md", ONE, now)
        assert retries.attempts("a.md", ONE) == attempts
        assert retries.next_at() == now + wait
        assert retries.is_resting("a.md", ONE, now + wait - 0.1)
        now += wait
        assert not retries.is_resting("a.md", ONE, now)
    retries.give_up("a.md", ONE, now)
    assert retries.next_at() is None
    assert retries.is_resting("a.md", ONE, now + 1e9)
    assert retries.paths == ("a.md",)
    assert not retries.is_resting("a.md", OTHER, now)
    assert retries.attempts("a.md", OTHER) == 0


def test_a_page_that_was_projected_is_forgotten() -> None:
    retries = Retries()
    retries.give_up("a.md", ONE, 0.0)
    retries.forget("a.md")
    retries.forget("never.md")
    assert (retries.paths, retries.next_at()) == ((), None)
