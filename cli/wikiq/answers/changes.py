"""The change feed: what changed after a generation (spec 2.2)."""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.index import sql
from wikiq.model.request import LARGEST_INTEGER
from wikiq.model.results import ChangeRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.index.database import Snapshot


class Changes(Record):
    """A piece of the change feed. Changes up to generation `floor` are no longer kept."""

    index_id: str
    generation: int
    floor: int
    rows: tuple[ChangeRow, ...]


def changes(snapshot: Snapshot, since: int) -> Changes:
    """Give the changes after generation `since`; one below the floor has missed some: start over."""
    rows = snapshot.rows(sql.SELECT_CHANGES, (min(since, LARGEST_INTEGER),))
    (floor,) = snapshot.only_row(sql.SELECT_CHANGES_FLOOR)
    return Changes(
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        floor=floor,
        rows=tuple(ChangeRow(**dict(zip(ChangeRow.fields, row, strict=True))) for row in rows),
    )
