"""Time as text: one form that sorts as time does, whatever a disk or a zone gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from indexerd.contract.moments import moment_text, parse_time, time_text


@pytest.mark.parametrize(
    "time_ns, text",
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_764_500_000_123_999_999, "2025-11-30T10:53:20.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800_000_000_000, "0001-01-01T00:00:00.000Z"),
        (-62_135_596_800_000_000_001, "0001-01-01T00:00:00.000Z"),
        (253_402_300_800_000_000_000, "9999-12-31T23:59:59.000Z"),
        (1 << 200, "9999-12-31T23:59:59.000Z"),
    ],
)
def test_any_time_that_a_disk_gives_has_a_text(time_ns: int, text: str) -> None:
    assert time_text(time_ns) == text


def test_the_text_of_a_moment_is_in_utc_and_read_back() -> None:
    moment = datetime(2026, 7, 14, 1, 30, 0, 999_999, timezone(timedelta(hours=2)))
    assert moment_text(moment) == "2026-07-13T23:30:00.999Z"
    assert parse_time(moment_text(moment)) == moment.replace(microsecond=999_000)


@pytest.mark.parametrize("text", ["2026-07-14T01:30", "2026-07-14T01:30Z", "2026-07-14 01:30:00.000"])
def test_a_time_without_a_zone_is_utc(text: str) -> None:
    assert parse_time(text) == datetime(2026, 7, 14, 1, 30, tzinfo=UTC)


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="never"):
        parse_time("never")
