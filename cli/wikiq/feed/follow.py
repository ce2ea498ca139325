"""Follows an index and feeds what is committed, while files are replaced and servers restarted."""

from __future__ import annotations

import time

from wikiq.errors import DamagedIndexError, NoIndexError, UnreadableIndexError
from wikiq.feed.feeder import UP_TO_DATE, Feeder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wikiq.feed.feeder import Fed
    from wikiq.index.database import Database

FOLLOW_PAUSE_S = 0.25  # between two looks at the generation: one row of .1 ms
LOAD_DEADLINE_S = 3600.0  # of the processor; a wiki of 66,000 sections takes a minute
AWAY_S = 60.0  # how long an index or a server may be away before that is an error
AWAY_PAUSE_S = 0.5


def follow_index(
    feeder: Feeder,
    open_index: Callable[[], Database],
    *,
    pause: Callable[[float], None],
    note: Callable[[str], None],
) -> Iterator[Fed]:
    """Give every look that wrote something, for ever; goes on in a file that takes the place of this one.

    Raises WikiqError where the index or the server is away for AWAY_S, or where something is refused.
    """
    away_since: float | None = None
    while True:
        try:
            if feeder.is_lost:
                feeder.connect()
            for fed in _follow_file(feeder, open_index, pause):
                away_since = None
                if fed.how != UP_TO_DATE:
                    yield fed
        except (NoIndexError, DamagedIndexError, UnreadableIndexError) as error:
            if away_since is None:
                away_since = time.monotonic()
                note(f"{error}; waiting for it")
            if time.monotonic() - away_since > AWAY_S:
                raise
            pause(AWAY_PAUSE_S)


def _follow_file(
    feeder: Feeder, open_index: Callable[[], Database], pause: Callable[[float], None]
) -> Iterator[Fed]:
    """Feed what is committed, a snapshot each time, until another file takes the place of this one."""
    database = open_index()
    try:
        while not database.is_replaced():
            with database.snapshot(LOAD_DEADLINE_S) as snapshot:
                fed = feeder.feed(snapshot)
            yield fed
            pause(FOLLOW_PAUSE_S)
    finally:
        database.close()
