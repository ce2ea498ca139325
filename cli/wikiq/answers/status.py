"""What the index holds, how old it is and what is wrong: the answer of `wikiq status`."""

from __future__ import annotations

from indexerd.contract.file import PROJECTION_VERSION
from wikiq.index import sql
from wikiq.index.freshness import freshness_of
from wikiq.model.results import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.index.database import Snapshot


def status(snapshot: Snapshot) -> Status:
    """Report what the index holds, how old it is and what is wrong."""
    pages, sections = snapshot.only_row(sql.COUNT_ALL)
    kinds = dict(snapshot.rows(sql.COUNT_DIAGNOSTICS))
    freshness = freshness_of(snapshot)
    return Status(
        wiki=snapshot.wiki,
        root=snapshot.root,
        db=snapshot.database.path,
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        mode=freshness.mode,
        daemon=freshness.daemon,
        stale=freshness.stale,
        age_s=freshness.age_s,
        reason=freshness.reason,
        remedy=freshness.remedy,
        building=bool(snapshot.meta.get("building")),
        writer=str(snapshot.meta.get("writer", "")),
        projection_current=snapshot.meta.get("projection_version") == PROJECTION_VERSION,
        pages=pages,
        sections=sections,
        pending=freshness.pending,
        last_scan=freshness.last_scan,
        counters=freshness.counters,
        problems=sum(kinds.values()),
        problem_kinds=kinds,
    )
