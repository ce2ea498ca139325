"""The time on a disk whose clock is another one than this machine's."""

from __future__ import annotations

import pytest

from indexerd.core.model import Stamp
from indexerd.core.sync.disk_clock import LATEST_CLOCK_NS, DiskClock
from indexerd.core.sync.reconcile import RACY_NS, is_racy

S = 1_000_000_000
WALL = 1_000_000 * S
HOUR = 3600 * S


def saved_at(ctime_ns: int, device: int = 1) -> Stamp:
    return Stamp(device, 7, 10, ctime_ns, ctime_ns)


@pytest.mark.parametrize("behind", [0, 1, HOUR])
def test_a_page_saved_a_moment_ago_is_young_however_late_the_clock_of_its_disk(behind: int) -> None:
    clock, page = DiskClock(), saved_at(WALL - behind)
    clock.observe([saved_at(5), page], 0)
    assert is_racy(page, clock.now(page, 0, WALL))
    assert is_racy(page, clock.now(page, RACY_NS, WALL + RACY_NS))
    assert not is_racy(page, clock.now(page, RACY_NS + 1, WALL + RACY_NS + 1))


def test_a_newer_change_on_the_same_disk_makes_a_page_old() -> None:
    clock, page = DiskClock(), saved_at(WALL - HOUR)
    clock.observe([page, saved_at(page.ctime_ns + RACY_NS + 1)], 0)
    assert not is_racy(page, clock.now(page, 0, WALL))


def test_another_disk_says_nothing_of_this_one() -> None:
    clock, page = DiskClock(), saved_at(WALL - HOUR)
    clock.observe([page, saved_at(WALL, device=2)], 0)
    assert is_racy(page, clock.now(page, 0, WALL))


def test_what_is_older_than_any_clock_is_late_is_old_at_once() -> None:
    """Else each build would hash all pages of a clone once more."""
    clock, page = DiskClock(), saved_at(WALL - LATEST_CLOCK_NS - RACY_NS - 1)
    clock.observe([page], 0)
    assert not is_racy(page, clock.now(page, 0, WALL))


def test_of_two_clocks_the_earlier_one_counts() -> None:
    """Both were put back: what is saved now bears a time that the disk has seen before."""
    clock, page = DiskClock(), saved_at(WALL - HOUR)
    clock.observe([saved_at(WALL)], 0)
    assert is_racy(page, clock.now(page, S, WALL - HOUR + S))
