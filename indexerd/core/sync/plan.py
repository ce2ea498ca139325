"""Composes one transaction from a batch of read pages, with the slugs that they have in it.

A page that comes or goes may change the slug of its neighbours, so the neighbours are part of the
batch (spec 1.3). Pure: what the index knows is asked of `Known`, the store writes what comes out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol

from indexerd.core.model import Diagnostic, Page, Stamp, TopicDeclaration
from indexerd.core.page.slugs import (
    Slugged,
    affected_groups,
    assign_slugs,
    base_slug,
    claimed_by_losers,
    collision_diagnostic,
)
from indexerd.core.sync.model import IndexedPage, PathDiagnostics, Plan, Touch, Upsert
from indexerd.core.sync.reconcile import scan_part


@dataclass(frozen=True, slots=True)
class Projected:
    """A page that was read and projected. `stamp` is that of the bytes.

    `fallback`: why the quick reading failed, so that markdown-it read it; None where it did not.
    """

    page: Page
    stamp: Stamp
    racy: bool
    fallback: str | None = None

    @property
    def path(self) -> str:
        """Where the page is."""
        return self.page.path


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A page whose bytes are those of the index."""

    path: str
    stamp: Stamp
    racy: bool


@dataclass(frozen=True, slots=True)
class Vanished:
    """A page that was there when the tree was scanned and is not any more.

    What is known of it stays until a scan has seen that it is gone: a disk that is unmounted while
    pages are read must not empty the index.
    """

    path: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A page that is there and could not be read; what is known of it stays."""

    path: str
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class Late:
    """A page that takes so long that the others go on without it; no part of a plan.

    A worker goes on with it. What is known of it stays until it is asked for again and its outcome is there.
    """

    path: str


Outcome = Projected | Unchanged | Vanished | Unread


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that one transaction is to hold. `said`: what a scan now says of paths."""

    outcomes: Sequence[Outcome] = ()
    gone: Sequence[str] = ()
    said: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    topics: tuple[TopicDeclaration, ...] | None = None
    complete: bool = False


class Known(Protocol):
    """What a plan asks of the index."""

    def fetch_indexed(self, paths: Collection[str]) -> dict[str, IndexedPage]:
        """The pages that the index has at these paths."""

    def fetch_neighbours(self, base_slugs: Collection[str]) -> set[str]:
        """The paths of the pages whose base slug is one of these."""

    def fetch_diagnostics(self, prefixes: Collection[str]) -> dict[str, tuple[Diagnostic, ...]]:
        """What is said of the paths at or below these, and perhaps of others."""


def compose_plan(gathered: Gathered, known: Known, *, projection: str) -> Plan:
    """The transaction that brings the index to what was gathered."""
    paths = {outcome.path for outcome in gathered.outcomes} | set(gathered.gone)
    indexed = known.fetch_indexed(paths)
    projected = {outcome.path for outcome in gathered.outcomes if isinstance(outcome, Projected)}
    coming, going = projected - indexed.keys(), set(gathered.gone) & indexed.keys()
    settled = _settle_slugs(coming, going, known)
    indexed |= known.fetch_indexed(settled.keys() - indexed.keys() - coming)
    said = known.fetch_diagnostics({*paths, *settled, *gathered.said})
    upserts, touches = [], []
    for outcome in gathered.outcomes:
        if isinstance(outcome, Projected):
            slug = settled[outcome.path].slug if outcome.path in settled else indexed[outcome.path].slug
            upserts.append(Upsert(outcome.page, slug, outcome.stamp, outcome.racy))
        elif isinstance(outcome, Unchanged) and _is_touched(outcome, indexed[outcome.path]):
            touches.append(Touch(outcome.path, outcome.stamp, outcome.racy))
    written = {upsert.page.path for upsert in upserts}
    renamed = [
        (path, slugged.slug)
        for path, slugged in settled.items()
        if path not in written and slugged.slug != indexed[path].slug
    ]
    return Plan(
        upserts=tuple(upserts),
        touches=tuple(touches),
        deletes=tuple(sorted(going, key=str.encode)),
        renamed=tuple(sorted(renamed)),
        diagnostics=_said(gathered, said, settled, written, going),
        topics=gathered.topics,
        projection=projection,
        complete=gathered.complete,
    )


def _settle_slugs(coming: AbstractSet[str], going: AbstractSet[str], known: Known) -> dict[str, Slugged]:
    """The slugs of the pages that come, and of all that share or shared a base slug with a change."""
    groups = {group for path in coming | going for group in affected_groups(path)}
    if not groups:
        return {}
    members = (known.fetch_neighbours(groups) | coming) - going
    claimed = _claimed_groups(members)
    claimants = known.fetch_neighbours(claimed) - going if claimed else set()
    slugs = assign_slugs(members | claimants)
    return {path: slugs[path] for path in members}


def _claimed_groups(members: AbstractSet[str]) -> set[str]:
    """The base slugs that a page losing its own slug among `members` would take."""
    groups: dict[str, list[str]] = defaultdict(list)
    for path in members:
        groups[base_slug(path)].append(path)
    rivals = [path for group in groups.values() if len(group) > 1 for path in group]
    return set(claimed_by_losers(rivals)) - groups.keys()


def _is_touched(outcome: Unchanged, page: IndexedPage) -> bool:
    return (outcome.stamp, outcome.racy) != (page.stamp, page.racy)


def _said(
    gathered: Gathered,
    known: Mapping[str, tuple[Diagnostic, ...]],
    settled: Mapping[str, Slugged],
    written: set[str],
    going: set[str],
) -> tuple[PathDiagnostics, ...]:
    """What is said of each path, whole, wherever that changes or an upsert would drop it."""
    scanned: dict[str, tuple[Diagnostic, ...]] = dict(gathered.said)
    for outcome in gathered.outcomes:
        if not isinstance(outcome, Vanished):
            scanned[outcome.path] = (outcome.diagnostic,) if isinstance(outcome, Unread) else ()
    said = {}
    for path in {*scanned, *settled}:
        before = known.get(path, ())
        slug_part = () if path in going else _slug_part(path, before, settled)  # no page, no slug
        now = (*scanned.get(path, scan_part(before)), *slug_part)
        if now != before or (now and path in written):
            said[path] = now
    return tuple(PathDiagnostics(path, said[path]) for path in sorted(said, key=str.encode))


def _slug_part(
    path: str, before: tuple[Diagnostic, ...], settled: Mapping[str, Slugged]
) -> tuple[Diagnostic, ...]:
    slugged = settled.get(path)
    if slugged is None:
        part = set(scan_part(before))
        return tuple(diagnostic for diagnostic in before if diagnostic not in part)
    return () if slugged.winner is None else (collision_diagnostic(slugged, base_slug(path)),)
