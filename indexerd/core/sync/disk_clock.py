"""What time it is at least on each file system, by the newest change seen there.

A server's clock may be hours behind this machine's: a page saved a moment ago then looks old, and a second
edit under an equal stamp would be missed. Pure: the times are passed in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from indexerd.core.model import Stamp

# No clock is late by more than a time zone; what is a day old is certainly past.
LATEST_CLOCK_NS: Final = 86_400 * 1_000_000_000


class DiskClock:
    """Learns from stamps; between two of them time passes there as here."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int]] = {}  # device -> newest change, and when it was first seen

    def observe(self, stamps: Iterable[Stamp], monotonic_ns: int) -> None:
        """Take note of files as they were found at `monotonic_ns`."""
        newest: dict[int, int] = {}
        for stamp in stamps:
            if stamp.ctime_ns > newest.get(stamp.device, 0):
                newest[stamp.device] = stamp.ctime_ns
        for device, ctime_ns in newest.items():
            if ctime_ns > self._at_least(device, monotonic_ns):
                self._seen[device] = ctime_ns, monotonic_ns

    def now(self, stamp: Stamp, monotonic_ns: int, wall_ns: int) -> int:
        """The time on the file's disk; where clocks disagree, the earlier one, which proves less."""
        return min(wall_ns, max(self._at_least(stamp.device, monotonic_ns), wall_ns - LATEST_CLOCK_NS))

    def _at_least(self, device: int, monotonic_ns: int) -> int:
        newest, seen_at = self._seen.get(device, (0, monotonic_ns))
        return newest + monotonic_ns - seen_at
