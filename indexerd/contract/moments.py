"""Time as text, once for both programs: ISO 8601, UTC, milliseconds, so that text sorts as time does.

It stands in the contract since wikiq compares what it writes with what the index holds.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

# The name is what type checkers go by: importing typing costs a search as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = _EPOCH.replace(year=1)
_LAST: Final = _EPOCH.replace(year=9999, month=12, day=31, hour=23, minute=59, second=59)
_NS_IN_MS: Final = 1_000_000


def time_text(time_ns: int) -> str:
    """Write nanoseconds since 1970; beyond the years 1 to 9999, the nearest there is."""
    try:
        moment = _EPOCH + timedelta(milliseconds=time_ns // _NS_IN_MS)
    except OverflowError:
        moment = _LAST if time_ns > 0 else _FIRST
    return moment_text(moment)


def moment_text(moment: datetime) -> str:
    """Write a moment with a zone. Raises OverflowError where UTC leaves the years 1 to 9999."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def parse_time(text: str) -> datetime:
    """Read ISO 8601; without a zone it is UTC, so that text means the same on every machine. ValueError."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
