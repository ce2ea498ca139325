"""How often the tree is scanned, and how long a failure is waited out. Numbers in, numbers out.

The periodic scan repairs what the watcher missed; its cost is bounded by the time the last one took.
"""

from __future__ import annotations

from typing import Final

from indexerd.contract.file import LONGEST_SCAN_INTERVAL_S

SCAN_SHARE: Final = 0.001  # of one core, while the watcher works and nothing happens (spec 3.2)
CONFIRMING_SHARE: Final = 0.01  # until a scan has confirmed what the watcher reported last
SCANNING_SHARE: Final = 0.1  # of one core, while scans are all there is
SHORTEST_INTERVAL_S: Final = 5.0
LONGEST_INTERVAL_S: Final = LONGEST_SCAN_INTERVAL_S

COSTLY_BYTES: Final = 256 << 10  # of a page; a smaller one never waits for what it costs
COSTLY_SHARE: Final = 0.05  # of a core, for a page that changes all the time
LONGEST_REST_S: Final = 30.0

FIRST_BACK_OFF_S: Final = 0.25
LONGEST_BACK_OFF_S: Final = 8.0  # a limit raised or a disk tidied up is made use of within 10 s (spec 7)

GAP_S: Final = 10.0  # the loop came by this much too late: the machine slept


def scan_interval_s(
    last_scan_s: float, *, watching: bool, confirmed: bool = True, shortest_s: float = SHORTEST_INTERVAL_S
) -> float:
    """Seconds from the end of a scan that took `last_scan_s` to the next one."""
    settled = SCAN_SHARE if confirmed else CONFIRMING_SHARE
    share = settled if watching else SCANNING_SHARE
    return min(max(last_scan_s / share, shortest_s), LONGEST_INTERVAL_S)


def rest_s(took_s: float) -> float:
    """Seconds for which reports of a costly page wait, when it took `took_s` to write it the last time."""
    return min(took_s / COSTLY_SHARE, LONGEST_REST_S)


def back_off_s(failures: int) -> float:
    """Seconds to wait after so many failures in a row, from 1: doubled each time, up to a limit."""
    return float(min(FIRST_BACK_OFF_S * 2 ** min(failures - 1, 20), LONGEST_BACK_OFF_S))
