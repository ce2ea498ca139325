"""Intervals at their limits, and one step past them."""

from __future__ import annotations

import pytest

from indexerd.core.sync.intervals import (
    LONGEST_BACK_OFF_S,
    LONGEST_INTERVAL_S,
    LONGEST_REST_S,
    SHORTEST_INTERVAL_S,
    back_off_s,
    rest_s,
    scan_interval_s,
)


@pytest.mark.parametrize(
    "took_s, watching, interval_s",
    [
        (0.0, True, SHORTEST_INTERVAL_S),
        (0.005, True, SHORTEST_INTERVAL_S),
        (0.016, True, 16.0),
        (0.9, True, LONGEST_INTERVAL_S),
        (60.0, True, LONGEST_INTERVAL_S),
        (0.016, False, SHORTEST_INTERVAL_S),
        (2.0, False, 20.0),
    ],
)
def test_a_scan_costs_a_bounded_share_of_a_core(took_s: float, watching: bool, interval_s: float) -> None:
    assert scan_interval_s(took_s, watching=watching) == pytest.approx(interval_s)


def test_until_a_change_is_confirmed_scans_come_ten_times_as_often() -> None:
    assert scan_interval_s(0.1, watching=True, confirmed=False) == pytest.approx(10.0)
    assert scan_interval_s(0.1, watching=False, confirmed=False) == scan_interval_s(0.1, watching=False)


@pytest.mark.parametrize("took_s, waits_s", [(0.0, 0.0), (0.23, 4.6), (60.0, LONGEST_REST_S)])
def test_a_costly_page_takes_a_twentieth_of_a_core(took_s: float, waits_s: float) -> None:
    assert rest_s(took_s) == pytest.approx(waits_s)


def test_a_back_off_doubles_up_to_its_limit() -> None:
    waits = [back_off_s(failures) for failures in range(1, 2_000)]
    assert waits[:4] == [0.25, 0.5, 1.0, 2.0]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_BACK_OFF_S
