"""The one way from the tree to the index: scan, reconcile, read, project, apply.

`indexerd build`, `indexerd verify` and the daemon all go through here, for a path, a subtree or the
whole tree; what is not to be believed at first sight is the caller's to decide between the two halves.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final, TypeVar

from indexerd.contract.moments import time_text
from indexerd.contract.places import is_below
from indexerd.core.model import Diagnostic, ProjectionOptions
from indexerd.core.page.names import CONFIG_FILE, TOPICS_FILE
from indexerd.core.project import projection_fingerprint
from indexerd.core.sync.confirmation import needs_confirmation
from indexerd.core.sync.disk_clock import DiskClock
from indexerd.core.sync.model import IndexedPage, ScanRecord
from indexerd.core.sync.paths import WHOLE_TREE, outermost
from indexerd.core.sync.plan import (
    Gathered,
    Late,
    Outcome,
    Projected,
    Unread,
    Vanished,
    compose_plan,
)
from indexerd.core.sync.reconcile import READ_FAILED, UNSETTLED, Scan, Work, plan_scan
from indexerd.core.sync.retries import Retries
from indexerd.errors import IndexerdError, RootError
from indexerd.pipeline.page_task import PARSER_FAILED, is_given_up, without_text
from indexerd.pipeline.results import ScanResult, Update
from indexerd.pipeline.workers import Projector
from indexerd.store import Store
from indexerd.tree.topics_file import Declarations
from indexerd.tree.tree import Tree

# One commit: a folder of 1,000 pages moves at once; a commit a page costs twice as much (spec 2.3).
COMMIT_PAGES: Final = 1000
COMMIT_BYTES: Final = 16 << 20  # of pages; their records take some five times that in memory
_PASSING: Final = {UNSETTLED, READ_FAILED}  # perhaps not so the next time

V = TypeVar("V")


def never() -> bool:
    """The `stop` of a caller that does not stop."""
    return False


class Indexer:
    """Brings an index to what the tree says. Not for several threads at once.

    `settings_problem`: why the wiki's own settings are left out, which the next scan notes.
    """

    def __init__(
        self,
        *,
        tree: Tree,
        store: Store,
        projector: Projector,
        options: ProjectionOptions,
        log: Any,
        settings_problem: Diagnostic | None = None,
    ) -> None:
        self._settings_problem = settings_problem
        self._tree = tree
        self._store = store
        self._projector = projector
        self._projection = projection_fingerprint(options)
        self._log = log
        self._declarations = Declarations(tree)
        self._retries = Retries()
        self._clock = DiskClock()

    def settings_changed(self, problem: Diagnostic | None) -> None:
        """The wiki's own settings are left out for this reason from now on, None: they are used."""
        self._settings_problem = problem

    @property
    def given_up(self) -> tuple[str, ...]:
        """The pages without text since they took too much time or memory."""
        return self._retries.paths

    @property
    def retry_at(self) -> float | None:
        """When (monotonic seconds) one of them is tried again by a scan, None without one."""
        return self._retries.next_at()

    def scan(self, covers: Sequence[str] = WHOLE_TREE, *, stop: Callable[[], bool] = never) -> ScanResult:
        """Scan `covers` (files or folders, '' the whole tree) and compare with the index.

        Raises what `Tree.scan` raises, RootError for an empty folder where another was, and Stopped.
        """
        covers = WHOLE_TREE if self._store.needs_rebuild else outermost(covers)
        with _uncollected():
            return self._scan(covers, stop)

    def _scan(self, covers: Sequence[str], stop: Callable[[], bool]) -> ScanResult:
        scan = self._tree.scan(covers, stop=stop)
        if "" in covers and not scan.stamps:
            self._refuse_unmounted(scan)
        if self._settings_problem is not None and ("" in covers or CONFIG_FILE in covers):
            scan = scan.with_diagnostics({CONFIG_FILE: (self._settings_problem,)})
        declared = None
        if "" in covers or TOPICS_FILE in covers:
            declared = self._declarations.look()
            if declared.problem is not None:
                scan = scan.with_diagnostics({TOPICS_FILE: (declared.problem,)})
            if not self._declarations.are_new(declared):
                declared = None
        indexed: dict[str, IndexedPage] = {}
        for cover in covers:
            indexed |= self._store.fetch_indexed(prefix=cover)
        work = plan_scan(
            scan,
            indexed,
            self._store.fetch_diagnostics({*covers, *scan.diagnostics}),
            projection=self._projection,
            max_page_bytes=self._tree.settings.max_page_bytes,
        )
        self._forget_late(work, covers)
        return ScanResult(scan, self._timed(self._without_resting(work, scan), scan), indexed, declared)

    def _timed(self, work: Work, scan: Scan) -> Work:
        """The work with the time on the disk of each page."""
        if not work.read:
            return work
        here, wall = time.monotonic_ns(), time.time_ns()
        self._clock.observe(scan.stamps.values(), here)
        return replace(
            work,
            read=tuple(
                replace(page, now_ns=self._clock.now(scan.stamps[page.path], here, wall))
                for page in work.read
            ),
        )

    def _without_resting(self, work: Work, scan: Scan) -> Work:
        """The work without pages that were given up a moment ago; the others know their attempts."""
        given_up, now = set(self._retries.paths), time.monotonic()
        for path in given_up.intersection(work.gone):
            self._retries.forget(path)
        if given_up.isdisjoint(page.path for page in work.read):
            return work
        read = (
            replace(page, attempts=self._retries.attempts(page.path, scan.stamps[page.path]))
            for page in work.read
            if not self._retries.is_resting(page.path, scan.stamps[page.path], now)
        )
        return replace(work, read=tuple(read))

    def _forget_late(self, work: Work, covers: Sequence[str]) -> None:
        """Let go of pages that a worker goes on with and that need not be read any more."""
        wanted = {page.path for page in work.read}
        for path in self._projector.late:
            if path not in wanted and any(is_below(path, cover) for cover in covers):
                self._projector.forget(path)

    @property
    def kept_root(self) -> str | None:
        """The root of the last complete scan, None before the first one."""
        return self._store.root_id

    def _refuse_unmounted(self, scan: Scan) -> None:
        """Raise RootError where no page is left and the folder is another one than the rows are of.

        A disk that is not mounted looks like that. Never believed, else two scans, or one start too
        early, would be enough to lose every page (spec 3.3).
        """
        if self.kept_root in {None, scan.root} or not self._store.count_pages(at_most=1):
            return
        raise RootError(
            self._tree.root,
            "is another folder than before, and has no pages; is its disk mounted?",
            "put the folder back; where the wiki is to be empty, remove its index",
        )

    def is_surprising(self, scanned: ScanResult) -> bool:
        """Whether so many pages are gone that a second scan must confirm it (spec 3.3)."""
        if self._store.needs_rebuild:  # as if nothing were indexed, and the new rows take the old ones' place
            shown = self._store.fetch_shown_paths()
            return needs_confirmation(len(shown), len(shown - scanned.scan.stamps.keys()))
        gone = len(scanned.work.gone)
        if not gone:
            return False
        total = len(scanned.indexed) if scanned.is_whole else self._store.count_pages(at_most=2 * gone)
        return needs_confirmation(total, gone)

    def apply(
        self,
        scanned: ScanResult,
        *,
        hold: Collection[str] = (),
        keep_gone: bool = False,
        accept: Callable[[Outcome], bool] | None = None,
        stop: Callable[[], bool] = never,
        progress: Callable[[int, int], None] | None = None,
        patience_s: float | None = None,
    ) -> Update:
        """Read, project and write what the scanned found, in as few transactions as memory allows.

        Pages of `hold` stay as they are, with `keep_gone` those that are gone as well, and those whose
        outcome `accept` refuses. `progress` is told pages done and pages in all. A page that takes longer
        than `patience_s` is late, except in a first build, which has nobody to keep waiting. Raises Stopped;
        what is committed by then stays. A rebuild can keep nothing, so with `keep_gone` it is left for later.
        """
        wanted = [page for page in scanned.work.read if page.path not in hold]
        complete = scanned.is_whole and not hold and not keep_gone
        gone = () if keep_gone else scanned.work.gone
        update = Update(generation=self._store.generation)
        declared = scanned.declared
        if keep_gone and self._store.needs_rebuild:
            return update
        if not (wanted or gone or scanned.work.said or declared is not None or complete):
            return update
        if self._store.building or self._store.needs_rebuild:
            patience_s = None
        found = self._projector.outcomes(wanted, stop, patience_s)
        outcomes = _in_time(_counted(found, len(wanted), progress), update)
        with self._store.rebuilding() if self._store.needs_rebuild else nullcontext():
            for batch, is_last in _batches(filter(accept, outcomes) if accept else outcomes):
                self._commit(
                    Gathered(
                        outcomes=batch,
                        gone=gone if is_last else (),  # last: readers never see fewer pages
                        said=scanned.work.said if is_last else {},
                        topics=declared.topics if declared is not None and is_last else None,
                        complete=complete and is_last and not update.late,
                    ),
                    update,
                )
        if declared is not None:
            self._declarations.note_applied(declared)
        if complete:
            self._store.keep_root(scanned.scan.root)
        return update

    def record(
        self,
        scanned: ScanResult,
        update: Update,
        reason: str,
        *,
        missed_by_events: int = 0,
        always: bool = False,
    ) -> None:
        """Keep a scan of the whole tree for `v1_scans`, if it found anything, or `always`."""
        self._store.record_scan(
            ScanRecord(
                started_at=time_text(scanned.scan.started_ns),
                finished_at=time_text(time.time_ns()),
                reason=reason,
                pages_seen=len(scanned.scan.stamps),
                pages_changed=update.changed,
                missed_by_events=missed_by_events,
            ),
            always=always,
        )

    def _commit(self, gathered: Gathered, update: Update) -> None:
        """One transaction; where a page among them makes it fail, that page alone is left without text."""
        try:
            self._commit_at_once(gathered, update)
        except (IndexerdError, OSError, MemoryError):
            raise  # of the disk or the machine, not of a page
        except Exception as error:
            half = len(gathered.outcomes) // 2
            if half:
                self._commit(Gathered(outcomes=gathered.outcomes[:half]), update)
                self._commit(replace(gathered, outcomes=gathered.outcomes[half:]), update)
                return
            outcome = gathered.outcomes[0] if gathered.outcomes else None
            if not isinstance(outcome, Projected) or not outcome.page.sections:
                raise
            reason = f"{type(error).__name__}: {error}"
            self._commit(replace(gathered, outcomes=(without_text(outcome, reason),)), update)

    def _commit_at_once(self, gathered: Gathered, update: Update) -> None:
        plan = compose_plan(gathered, self._store, projection=self._projection)
        update.add(self._store.apply(plan, committed_at=time_text(time.time_ns())))
        self._report(gathered.outcomes, update)

    def _report(self, outcomes: Iterable[Outcome], update: Update) -> None:
        for outcome in outcomes:
            if is_given_up(outcome) and isinstance(outcome, Projected):
                self._retries.give_up(outcome.path, outcome.stamp, time.monotonic())
            else:
                self._retries.forget(outcome.path)
            if isinstance(outcome, Projected):
                update.projected += 1
                if outcome.fallback is not None:
                    update.fallbacks += 1
                    self._log.warning("page.read_slowly", path=outcome.path, reason=outcome.fallback)
                for diagnostic in outcome.page.diagnostics:
                    if diagnostic.kind == PARSER_FAILED:
                        self._log.warning("page.failed", path=outcome.path, reason=diagnostic.message)
            elif isinstance(outcome, Vanished):
                update.left.append(outcome.path)
            elif isinstance(outcome, Unread):
                self._log.warning("page.skipped", path=outcome.path, reason=outcome.diagnostic.message)
                update.unread.append(outcome.path)
                if outcome.diagnostic.kind in _PASSING:
                    update.left.append(outcome.path)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cyclic collector, which runs hundreds of times over tuples that hold no cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _counted(outcomes: Iterable[V], total: int, progress: Callable[[int, int], None] | None) -> Iterator[V]:
    """The same outcomes, and `progress` told of each."""
    for done, outcome in enumerate(outcomes, start=1):
        if progress is not None:
            progress(done, total)
        yield outcome


def _in_time(outcomes: Iterable[Outcome | Late], update: Update) -> Iterator[Outcome]:
    """The outcomes that are there; the pages that are late are noted."""
    for outcome in outcomes:
        if isinstance(outcome, Late):
            update.late.append(outcome.path)
        else:
            yield outcome


def _batches(outcomes: Iterable[Outcome]) -> Iterator[tuple[list[Outcome], bool]]:
    """The outcomes in what one commit holds, and whether it is the last; one batch at least."""
    batch: list[Outcome] = []
    size = 0
    for outcome in outcomes:
        if len(batch) >= COMMIT_PAGES or size >= COMMIT_BYTES:
            yield batch, False
            batch, size = [], 0
        batch.append(outcome)
        size += outcome.page.size if isinstance(outcome, Projected) else 0
    yield batch, True
