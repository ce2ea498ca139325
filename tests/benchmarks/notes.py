"""What stands in the way of the goals that are missed, by the beginning of a measure's name. Text only."""

from __future__ import annotations

from typing import Final

NOTES: Final[dict[str, str]] = {}
