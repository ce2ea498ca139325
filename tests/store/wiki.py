"""A wiki as a table of paths and texts, brought into a store the way a scan would do it.

Plays the part of scan and reconcile in the fewest words, so that the store's tests depend on pages
and slugs alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from indexerd.core.model import Page, ProjectionOptions, Stamp, TopicDeclaration
from indexerd.core.page.slugs import assign_slugs, base_slug, collision_diagnostic
from indexerd.core.project import project_page
from indexerd.core.sync.model import Applied, PathDiagnostics, Plan, Upsert
from indexerd.store import Snapshot, Store
from indexerd.store.read.public_rows import PUBLIC_ROWS

NOON = "2026-01-01T12:00:00.000Z"
MTIME_NS = 1_767_268_800_000_000_000  # the same moment
Rows = dict[str, list[tuple[object, ...]]]


def open_store(folder: Path, *, share_group: str | None = None, anew: bool = False) -> Store:
    return Store.open(folder / "index.db", root="/wiki", name="wiki", share_group=share_group, anew=anew)


def project(path: str, text: str) -> Page:
    return project_page(text.encode(), path, ProjectionOptions())


def stamp_of(text: str, mtime_ns: int = MTIME_NS) -> Stamp:
    inode = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    return Stamp(1, inode, len(text.encode()), mtime_ns, mtime_ns)


def plan_for(
    store: Store,
    wiki: Mapping[str, str],
    *,
    topics: tuple[TopicDeclaration, ...] | None = None,
    projection: str = "p1",
) -> Plan:
    """What brings the store to `wiki`: pages whose text differs, pages gone, slugs that move."""
    indexed = store.fetch_indexed()
    slugged = assign_slugs(wiki)
    upserts, renamed, said = [], [], []
    for path, text in wiki.items():
        known, slug = indexed.get(path), slugged[path].slug
        stale = known is None or known.content_hash != hashlib.sha256(text.encode()).hexdigest()
        if stale or (known is not None and known.projection != projection):
            upserts.append(Upsert(project(path, text), slug, stamp_of(text), racy=False))
        elif known is not None and known.slug != slug:
            renamed.append((path, slug))
        lost = slugged[path].winner is not None
        diagnostics = (collision_diagnostic(slugged[path], base_slug(path)),) if lost else ()
        said.append(PathDiagnostics(path, diagnostics))
    return Plan(
        upserts=tuple(upserts),
        deletes=tuple(path for path in indexed if path not in wiki),
        renamed=tuple(renamed),
        diagnostics=tuple(said),
        topics=topics,
        projection=projection,
        complete=True,
    )


def bring(
    store: Store, wiki: Mapping[str, str], *, topics: tuple[TopicDeclaration, ...] | None = None
) -> Applied:
    return store.apply(plan_for(store, wiki, topics=topics), committed_at=NOON)


def rows_of(folder: Path) -> Rows:
    """All public rows but ids, generations and times; through a connection of its own."""
    with Snapshot.open(folder / "index.db") as snapshot:
        return {view: list(snapshot.public_rows(view)) for view in PUBLIC_ROWS}


def build(
    folder: Path, wiki: Mapping[str, str], *, topics: tuple[TopicDeclaration, ...] | None = None
) -> Rows:
    """The rows of an index that was made from nothing."""
    with open_store(folder) as store:
        bring(store, wiki, topics=topics)
    return rows_of(folder)
