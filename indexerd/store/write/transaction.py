"""One plan as one set of writes: rows, full text, links, topics, diagnostics, generation, change feed.

The order is what the parts force on each other: old values of the full text before rows change,
links once names stand, the generation when it is known that a reader sees a difference.
"""

from __future__ import annotations

import apsw

from indexerd.contract.file import PROJECTION_VERSION
from indexerd.core.model import Diagnostic
from indexerd.core.sync.model import Applied, Plan
from indexerd.store.file.connection import read_meta, write_meta
from indexerd.store.write.change_feed import BY_PATH, BY_PROJECTION, write_changes, write_diagnostics
from indexerd.store.write.fulltext import write_full_text
from indexerd.store.write.link_targets import write_links
from indexerd.store.write.page_diff import PageGatherer
from indexerd.store.write.row_changes import write_rows
from indexerd.store.write.topic_graph import write_topics


def write_plan(connection: apsw.Connection, plan: Plan, *, generation: int, committed_at: str) -> Applied:
    """Write `plan` inside the caller's transaction; it becomes `generation` where a reader sees it."""
    changes_before = connection.total_changes()
    pages = _gather(connection, plan, generation)
    changes = pages.changes
    full_text = write_full_text(connection, changes)
    write_rows(connection, changes)
    write_links(connection, changes)
    public = write_topics(connection, changes, plan.topics) | pages.public
    public |= _write_diagnostics(connection, plan, generation)
    came, went = write_changes(connection, generation, committed_at, pages.before, pages.after)
    meta = read_meta(connection)
    if public or came or went:
        write_meta(connection, generation=generation, committed_at=committed_at)
    else:
        generation = int(meta["generation"] or 0)
    if plan.complete and (meta["building"] or meta["projection_version"] != PROJECTION_VERSION):
        write_meta(connection, building=0, projection_version=PROJECTION_VERSION)
    return Applied(
        generation=generation,
        committed=connection.total_changes() != changes_before,
        upserted=came,
        deleted=went,
        touched=pages.touched,
        sections_inserted=len(changes.sections_inserted),
        sections_updated=len(changes.sections_updated),
        sections_deleted=len(changes.sections_deleted),
        full_text=full_text,
    )


def _gather(connection: apsw.Connection, plan: Plan, generation: int) -> PageGatherer:
    pages = PageGatherer(connection, plan.projection, generation)
    for path in plan.deletes:
        pages.delete(path)
    slugs = dict(plan.renamed)
    touches = {touch.path: touch for touch in plan.touches}
    for path in slugs | touches:
        pages.keep(path, slug=slugs.get(path), touch=touches.get(path))
    for upsert in plan.upserts:
        pages.upsert(upsert)
    return pages


def _write_diagnostics(connection: apsw.Connection, plan: Plan, generation: int) -> bool:
    """Write the diagnostics of projections and scans; whether a reader sees a difference."""
    projected: dict[str, tuple[Diagnostic, ...]] = dict.fromkeys(plan.deletes, ())
    projected |= {upsert.page.path: upsert.page.diagnostics for upsert in plan.upserts}
    looked: dict[str, tuple[Diagnostic, ...]] = dict.fromkeys(projected, ())
    looked |= {found.path: found.diagnostics for found in plan.diagnostics}
    changed = False
    for origin, said in ((BY_PROJECTION, projected), (BY_PATH, looked)):
        for path, diagnostics in said.items():
            changed |= write_diagnostics(connection, path, origin, diagnostics, generation)
    return changed
