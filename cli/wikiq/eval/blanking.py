"""A copy of an index in memory, in which single sections can be without their own heading for a while.

A set may ask for the heading of a section (`blank_heading`), which then must not answer itself.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager

from indexerd.contract.terms import grams
from wikiq.index import sql
from wikiq.index.database import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class BlankingCopy:
    """The copy; nothing of it outlives `close`, and the index itself is only read."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        snapshot.connection.backup(self._connection)
        self.snapshot = Snapshot(
            connection=self._connection,
            meta=snapshot.meta,
            database=snapshot.database,
            daemon=snapshot.daemon,
            moment=snapshot.moment,
        )

    def close(self) -> None:
        """Drop the copy."""
        self._connection.close()

    @contextmanager
    def without_headings(self, section_rowids: Sequence[int]) -> Iterator[Snapshot]:
        """Take the own headings of some sections out of what is searched, within the block."""
        run = self._connection.execute
        run("BEGIN")
        try:
            for rowid in section_rowids:
                texts = self.snapshot.only_row(sql.SELECT_INDEXED_TEXTS, (rowid,))
                run(sql.BLANK_WORDS, (rowid,))
                pieces = [grams(text) for text in texts]
                if any(pieces):
                    run(sql.REMOVE_PIECES, (rowid, *pieces))
                    title, ancestors, _, body = pieces
                    run(sql.ADD_PIECES, (rowid, title, ancestors, body))
                run(sql.BLANK_HEADING, (rowid,))
            yield self.snapshot
        finally:
            run("ROLLBACK")
