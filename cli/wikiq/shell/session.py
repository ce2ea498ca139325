"""Opens the index a command asks, waits for it to be fresh where that was asked for, and closes it."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from indexerd.contract.which_index import is_within
from wikiq.errors import NOT_FRESH, NOTHING_FOUND, WikiqError
from wikiq.index.freshness import read_freshness, staleness
from wikiq.index.locate import DB_VARIABLE, open_index
from wikiq.model.results import IndexAge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from wikiq.index.barrier_client import Barrier
    from wikiq.index.database import Database
    from wikiq.model.request import Source
    from wikiq.model.results import Freshness
    from wikiq.output.context import Surroundings


class Asked:
    """An open index, closed at the end of its `with` block.

    `is_fresh`: freshness was not asked for, or could be had. `exit_status` turns that of the answer
    into that of the command.
    """

    def __init__(self, database: Database, *, is_named: bool) -> None:
        self.database = database
        self._is_named = is_named
        self.is_fresh = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self.database.close()
        if isinstance(error, WikiqError) and error.exit_status == NOTHING_FOUND and not self.is_fresh:
            error.exit_status = NOT_FRESH  # what is not found may be there

    def make_fresh(self, timeout_s: float, surroundings: Surroundings) -> Barrier:
        """Wait for `timeout_s` at most until the index holds what is on the disk now.

        Names the wiki where nobody did and the current folder is not in it: that folder is not what is
        fresh. The database is another one afterwards where the file was replaced.
        """
        from wikiq.index.barrier_client import make_fresh

        if not self._is_named:
            with self.database.snapshot() as snapshot:
                name, root = snapshot.wiki, snapshot.root
            if not is_within(os.path.realpath(surroundings.folder), root):
                surroundings.note(f"this is about the wiki {name} in {root}")
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
    environ = surroundings.environ
    database = open_index(db=source.db, wiki=source.wiki, environ=environ, folder=surroundings.folder)
    asked = Asked(database, is_named=bool(source.db or source.wiki or environ.get(DB_VARIABLE)))
    if source.fresh:
        barrier = asked.make_fresh(source.timeout, surroundings)
        if not barrier.fresh:
            surroundings.note(f"the answer may be behind the disk: {barrier.problem}")
    return asked
