"""Opens the index a command asks, waits for it to be fresh where that was asked for, and closes it."""

from __future__ import annotations

from datetime import UTC, datetime

from wikiq.errors import NOT_FRESH
from wikiq.freshness import read_freshness, staleness
from wikiq.locate import open_index
from wikiq.results import IndexAge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from wikiq.barrier import Barrier
    from wikiq.database import Database
    from wikiq.request import Source
    from wikiq.results import Freshness
    from wikiq.surroundings import Surroundings


class Asked:
    """An open index, closed at the end of its `with` block.

    `is_fresh`: freshness was not asked for, or could be had. `exit_status` turns that of the answer
    into that of the command.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.is_fresh = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def make_fresh(self, timeout_s: float) -> Barrier:
        """Wait for `timeout_s` at most until the index holds what is on the disk now.

        The database is another one afterwards where the file was replaced.
        """
        from wikiq.barrier import make_fresh

        self.database, barrier = make_fresh(self.database, timeout_s)
        self.is_fresh = barrier.fresh
        return barrier

    def tell_age(self, surroundings: Surroundings) -> IndexAge:
        """Give what every answer says of its index; note in one line when it may be behind the tree."""
        with self.database.snapshot() as snapshot:
            freshness = read_freshness(self.database, snapshot, datetime.now(UTC))
        if (warning := staleness(freshness, snapshot.root)) is not None:
            surroundings.note(warning)
        return IndexAge(
            wiki=snapshot.wiki,
            index_id=snapshot.index_id,
            generation=snapshot.generation,
            age_s=freshness.age_s,
            stale=freshness.stale,
        )

    def freshness(self) -> Freshness:
        """Tell how far the index may be behind its tree now."""
        with self.database.snapshot() as snapshot:
            return read_freshness(self.database, snapshot, datetime.now(UTC))

    def exit_status(self, status: int) -> int:
        """Answered, but freshness was asked for and could not be had: 3."""
        return status if self.is_fresh else NOT_FRESH


def opened(source: Source, surroundings: Surroundings) -> Asked:
    """Open the index that `source` means. Raises what `open_index` does."""
    asked = Asked(
        open_index(db=source.db, wiki=source.wiki, environ=surroundings.environ, folder=surroundings.folder)
    )
    if source.fresh:
        barrier = asked.make_fresh(source.timeout)
        if not barrier.fresh:
            surroundings.note(f"the answer may be behind the disk: {barrier.problem}")
    return asked
