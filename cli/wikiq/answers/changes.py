"""The change feed: what changed after a generation (spec 2.2)."""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.errors import UsageError
from wikiq.index import sql
from wikiq.model.request import LARGEST_INTEGER
from wikiq.model.results import ChangeRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.index.database import Snapshot


class Changes(Record):
    """A piece of the change feed. Changes up to generation `floor` are no longer kept.

    `through` is the generation to go on from: that of the last row where a limit cut the rest off, else
    the index's own.
    """

    index_id: str
    generation: int
    floor: int
    through: int
    rows: tuple[ChangeRow, ...]


def changes(snapshot: Snapshot, since: int, *, limit: int | None = None) -> Changes:
    """Give the changes after generation `since`; one below the floor has missed some: start over.

    With a `limit` whole generations are given, as many as have that many rows together, and at least one.
    """
    most = -1 if limit is None else limit + 1
    rows = snapshot.records(ChangeRow, sql.SELECT_CHANGES, (min(since, LARGEST_INTEGER), most))
    through = snapshot.generation
    if limit is not None and len(rows) > limit:
        cut = rows[-1].generation
        whole = [row for row in rows if row.generation < cut]
        rows = whole or snapshot.records(ChangeRow, sql.SELECT_CHANGES_OF, (cut,))
        through = rows[-1].generation
    (floor,) = snapshot.only_row(sql.SELECT_CHANGES_FLOOR)
    return Changes(
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        floor=floor,
        through=through,
        rows=tuple(rows),
    )


def known_changes(snapshot: Snapshot, since: int) -> Changes:
    """Give the changes after `since`; UsageError where some of them are not known here."""
    found = changes(snapshot, since)
    if since < found.floor:
        raise UsageError(
            f"--since {since}",
            f"changes up to generation {found.floor} are no longer kept",
            f"start over: list the pages, then follow with --since {found.generation}",
        )
    if since > found.generation:
        # Nothing would be said until this index gets there, and what it did before would be missed.
        raise UsageError(
            f"--since {since}", f"this index is at generation {found.generation}", "start over with --since 0"
        )
    return found
