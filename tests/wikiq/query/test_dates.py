"""Dates as people type them, and what they mean in the index."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.errors import UsageError
from wikiq.query.dates import parse_since, parse_until

NOW = datetime(2026, 7, 14, 12, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text, since, until",
    [
        ("2026-07-14", "2026-07-13T22:00:00.000Z", "2026-07-14T22:00:00.000Z"),  # summer time
        ("2026-01-14", "2026-01-13T23:00:00.000Z", "2026-01-14T23:00:00.000Z"),
        ("2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"),  # a day of 23 hours
        ("20260714", "2026-07-13T22:00:00.000Z", "2026-07-14T22:00:00.000Z"),
        ("2026-07-14T09:30", "2026-07-14T07:30:00.000Z", "2026-07-14T07:30:00.000Z"),
        ("2026-07-14 09:30:01.5", "2026-07-14T07:30:01.500Z", "2026-07-14T07:30:01.500Z"),
        ("2026-07-14T09:30Z", "2026-07-14T09:30:00.000Z", "2026-07-14T09:30:00.000Z"),
        ("2026-07-14T09:30-05:00", "2026-07-14T14:30:00.000Z", "2026-07-14T14:30:00.000Z"),
        ("7d", "2026-07-07T12:30:00.000Z", "2026-07-07T12:30:00.000Z"),
        (" 2W ", "2026-06-30T12:30:00.000Z", "2026-06-30T12:30:00.000Z"),
        ("yesterday", "2026-07-12T22:00:00.000Z", "2026-07-13T22:00:00.000Z"),
        ("Today", "2026-07-13T22:00:00.000Z", "2026-07-14T22:00:00.000Z"),
        ("2026-03", "2026-02-28T23:00:00.000Z", "2026-03-31T22:00:00.000Z"),
        ("2026-12", "2026-11-30T23:00:00.000Z", "2026-12-31T23:00:00.000Z"),
        ("12h", "2026-07-14T00:30:00.000Z", "2026-07-14T00:30:00.000Z"),
    ],
)
def test_a_day_is_meant_whole_and_in_local_time(text: str, since: str, until: str) -> None:
    assert parse_since(text, NOW) == since
    assert parse_until(text, NOW) == until


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2026-00",
        "2026-02-30",
        "2026-13-01",
        "7",
        "7x",
        "-7d",
        "d",
        "99999999999d",
        "9999-12-31",
        "0001-01-01",
    ],
)
def test_what_is_no_date_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="write a date like 2026-07-14"):
        parse_since(text, NOW), parse_until(text, NOW)


@given(st.text(max_size=20))
def test_any_text_gives_a_date_or_a_refusal(text: str) -> None:
    try:
        assert parse_since(text, NOW).endswith("Z")
        assert parse_since(text, NOW) <= parse_until(text, NOW)
    except UsageError:
        pass
