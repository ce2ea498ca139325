"""The records of a sync pass: what the index knows of a page, what to write, what was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from indexerd.core.model import Diagnostic, Page, Stamp, TopicDeclaration


class IndexedPage(NamedTuple):
    """What the index knows of a page before it is scanned again; a tuple for Stamp's reason.

    `racy`: the stamp was younger than two seconds when it was taken, so an equal stamp proves
    nothing and the bytes are hashed once more (spec 3.3). `projection`: the fingerprint under
    which its rows were made; another one means they are projected again.
    """

    path: str
    slug: str
    stamp: Stamp
    racy: bool
    content_hash: str | None
    projection: str


@dataclass(frozen=True, slots=True)
class Upsert:
    """A page to be written, under the slug it has among its neighbours."""

    page: Page
    slug: str
    stamp: Stamp
    racy: bool


@dataclass(frozen=True, slots=True)
class Touch:
    """A page whose bytes are the same under a new stamp."""

    path: str
    stamp: Stamp
    racy: bool


@dataclass(frozen=True, slots=True)
class PathDiagnostics:
    """All that a scan said of a path, apart from what the projection of a page there says.

    For a path that gives no page, keeps its old rows or lost its slug. Empty: nothing any more. An
    upsert or delete of the path drops what was said before, unless the same plan says it again.
    """

    path: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One transaction's worth of work for the store.

    `renamed`: path and new slug of pages whose rows stay as they are but whose neighbours changed.
    `topics`: the declarations of `topics.yaml`, None where they did not change. `projection`: the
    fingerprint under which the upserts were made. `complete`: with this plan the index holds all that
    a scan of the whole tree found, which ends a first build and a change of the projection version.
    """

    upserts: tuple[Upsert, ...] = ()
    touches: tuple[Touch, ...] = ()
    deletes: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[PathDiagnostics, ...] = ()
    topics: tuple[TopicDeclaration, ...] | None = None
    projection: str = ""
    complete: bool = False


@dataclass(frozen=True, slots=True)
class ScanRecord:
    """One scan that found something, for `v1_scans`. Times are ISO 8601 UTC with milliseconds."""

    started_at: str
    finished_at: str
    reason: str
    pages_seen: int
    pages_changed: int
    missed_by_events: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """What a plan came to. `generation` is the index's own, moved or not.

    `committed` is False when there was nothing to write. `upserted` and `deleted` count change
    entries, the rest rows; `full_text` counts rows of `sections_fts` that were touched.
    """

    generation: int
    committed: bool = False
    upserted: int = 0
    deleted: int = 0
    touched: int = 0
    sections_inserted: int = 0
    sections_updated: int = 0
    sections_deleted: int = 0
    full_text: int = 0
