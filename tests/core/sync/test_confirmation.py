"""Observations that are believed only when they are made twice."""

from __future__ import annotations

import pytest

from indexerd.core.model import Stamp
from indexerd.core.sync.confirmation import Confirmation, is_emptied


def test_an_observation_is_believed_when_it_is_made_again_after_the_wait() -> None:
    waiting = Confirmation(2.0)
    assert not waiting.believe("root", (1, 2), 10.0)
    assert waiting.keys == ("root",)
    assert waiting.next_at() == 12.0
    assert not waiting.believe("root", (1, 2), 11.99)
    assert waiting.believe("root", (1, 2), 12.0)
    assert not waiting.keys


def test_another_observation_starts_the_wait_anew() -> None:
    waiting = Confirmation(2.0)
    waiting.believe("root", (1, 2), 10.0)
    assert not waiting.believe("root", (1, 3), 12.0)
    assert waiting.next_at() == 14.0
    assert waiting.believe("root", (1, 3), 14.0)


def test_a_scan_that_finds_nothing_surprising_ends_the_wait() -> None:
    waiting = Confirmation(2.0)
    waiting.believe("root", (1, 2), 10.0)
    waiting.forget("root")
    waiting.forget("never doubted")
    assert waiting.next_at() is None
    assert not waiting.believe("root", (1, 2), 12.0)


def test_what_changes_all_the_time_is_believed_after_the_longest_wait() -> None:
    waiting = Confirmation(0.5, at_most_s=2.0)
    believed = [waiting.believe("hot.md", step, step * 0.25) for step in range(9)]
    assert believed == [False] * 8 + [True]


def test_observations_are_held_apart_by_key_and_the_first_is_due_first() -> None:
    waiting = Confirmation(0.5)
    waiting.believe("a.md", 1, 10.0)
    waiting.believe("b.md", 1, 10.2)
    assert waiting.next_at() == 10.5
    assert waiting.believe("a.md", 1, 10.5)
    assert waiting.next_at() == pytest.approx(10.7)


@pytest.mark.parametrize(
    "before, now, emptied",
    [
        ((1, 7, 100), (1, 7, 0), True),
        ((1, 7, 100), (1, 7, 49), True),
        ((1, 7, 100), (1, 7, 50), False),
        ((1, 7, 100), (1, 8, 0), False),  # renamed into place
        ((1, 7, 100), (2, 7, 0), False),
        ((1, 7, 0), (1, 7, 0), False),
        ((1, 7, 1), (1, 7, 0), True),
    ],
)
def test_a_file_is_emptied_when_it_lost_more_than_half_of_itself_in_place(
    before: tuple[int, int, int], now: tuple[int, int, int], emptied: bool
) -> None:
    assert is_emptied(Stamp(*before, 0, 0), Stamp(*now, 0, 0)) is emptied
