"""Dates as people type them: ISO 8601 in local time unless it says otherwise, or an age like 7d.

Pure: the present moment comes in. What comes out compares as text with the index's `updated_at`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from indexerd.contract.moments import moment_text
from wikiq.errors import UsageError

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAYS_AGO = {"today": 0, "yesterday": 1}
_MONTH_LENGTH = len("2026-07")
_REMEDY = (
    "write a date like 2026-07-14, 2026-07 or yesterday, a time like 2026-07-14T09:30, or an age like 7d"
)


def parse_since(text: str, now: datetime) -> str:
    """Give the first moment that `text` means; a day begins at its midnight."""
    return _stamp(_moment(text, now)[0], text)


def parse_until(text: str, now: datetime) -> str:
    """Give the first moment after what `text` means: a day or a month is meant whole."""
    moment, is_day = _moment(text, now)
    try:
        if is_day and _is_month(text.strip()):
            return _stamp((moment + timedelta(days=31)).replace(day=1), text)
        return _stamp(moment + timedelta(days=1) if is_day else moment, text)
    except OverflowError:
        raise UsageError(text, "is out of range", _REMEDY) from None


def _moment(text: str, now: datetime) -> tuple[datetime, bool]:
    """Read `text`; tell also whether it names a day rather than a moment of it."""
    typed = text.strip()
    try:
        if typed[:-1].isdecimal() and typed[-1:].lower() in _UNITS:
            return now - int(typed[:-1]) * _UNITS[typed[-1].lower()], False
        if typed.lower() in _DAYS_AGO:
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
            return midnight - timedelta(days=_DAYS_AGO[typed.lower()]), True
        if _is_month(typed):
            return datetime.fromisoformat(f"{typed}-01"), True
        # Without a time of day, digits and hyphens are all there is.
        return datetime.fromisoformat(typed), not set(typed) & set("T :")
    except (ValueError, OverflowError):
        raise UsageError(text, "is no date", _REMEDY) from None


def _is_month(typed: str) -> bool:
    return len(typed) == _MONTH_LENGTH and typed[4] == "-" and typed.replace("-", "").isdecimal()


def _stamp(moment: datetime, text: str) -> str:
    try:
        return moment_text(moment)
    except (ValueError, OverflowError):  # the years 1 and 9999 have no room for a time zone
        raise UsageError(text, "is out of range", _REMEDY) from None
