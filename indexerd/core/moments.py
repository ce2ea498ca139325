"""Time as text: ISO 8601 UTC with milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime


def time_text(time_ns: int) -> str:
    """A moment as the index writes it: ISO 8601 UTC with milliseconds."""
    moment = datetime.fromtimestamp(time_ns / 1e9, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='milliseconds')}Z"
