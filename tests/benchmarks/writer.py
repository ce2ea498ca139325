"""The measures of the writer, taken in process: full builds, a start with nothing changed, single edits.

The indexer is put together as the commands put it together. Wikis that are edited are copies.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from indexerd.command.logs import get_logger
from indexerd.core.model import ProjectionOptions
from indexerd.core.sync.plan import Late, Outcome
from indexerd.core.sync.reconcile import ToRead
from indexerd.pipeline.indexer import Indexer, never
from indexerd.pipeline.workers import Projector
from indexerd.store import Store
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree
from tests.benchmarks.baselines import insert_raw, stat_tree, update_rows
from tests.benchmarks.corpus import find_pages
from tests.benchmarks.ratio import Ratio, Timing, alternate, clocked, percentiles
from tests.benchmarks.setting import Setting

START_ROUNDS: Final = 11  # what takes milliseconds needs more rounds than a build
EDITS: Final = 40  # a round; 5 rounds give 200 samples, enough for a 99th percentile of 2
MERGE_EVERY: Final = 4  # edits; between them the full text is merged, as the daemon does (spec 2.3)
CORES: Final = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def indexing(root: Path, db: Path, workers: int) -> Iterator[tuple[Indexer, Store]]:
    """An indexer of the wiki at `root`, and its store; 0 workers: everything in this process."""
    tree = Tree(str(root), TreeSettings())
    options = ProjectionOptions()
    projector = Projector(tree, options, workers=workers)
    store = Store.open(db, root=str(root), name=root.name)
    try:
        yield Indexer(tree=tree, store=store, projector=projector, options=options, log=get_logger()), store
    finally:
        projector.close()
        store.close()


def update(root: Path, db: Path, workers: int) -> int:
    """Bring the index at `db` up to date; the number of changed pages."""
    with indexing(root, db, workers) as (indexer, _):
        return indexer.apply(indexer.scan()).changed


def ensure_built(setting: Setting) -> Path:
    """The finished index that several measures share."""
    if not setting.db.exists():
        update(setting.root, setting.db, CORES)
    return setting.db


def _timed_build(setting: Setting, workers: int) -> Timing:
    return clocked(partial(update, setting.root, setting.fresh_db(), workers))


def _timed_raw(setting: Setting) -> Timing:
    return clocked(partial(insert_raw, setting.root, setting.fresh_db()))


def build_serial(setting: Setting) -> Ratio:
    """A full build in one process against reading the files and inserting them raw."""
    sides = alternate(partial(_timed_build, setting, 0), partial(_timed_raw, setting), setting.rounds)
    pages = sum(1 for _ in find_pages(setting.root))
    return Ratio.by_cpu("build, serial / raw insert", setting.corpus, sides, 7.5, f"{pages} pages")


def build_workers(setting: Setting) -> Ratio:
    """A full build with a worker for every core against one without workers."""
    sides = alternate(
        partial(_timed_build, setting, CORES), partial(_timed_build, setting, 0), setting.rounds
    )
    goal = 0.6 if CORES > 1 else None
    return Ratio.by_wall(f"build, {CORES} workers / serial", setting.corpus, sides, goal)


class Replayed(Projector):
    """Gives outcomes that were made before, so that only what comes after them is measured."""

    def __init__(self, tree: Tree, options: ProjectionOptions, wanted: Sequence[ToRead]) -> None:
        super().__init__(tree, options, workers=0)
        self._made = {one.path: one for one in super().outcomes(wanted, never)}

    def outcomes(
        self, wanted: Sequence[ToRead], stop: Callable[[], bool], patience_s: float | None = None
    ) -> Generator[Outcome | Late, None, None]:
        del stop, patience_s
        yield from (self._made[page.path] for page in wanted)


def store_alone(setting: Setting) -> Ratio:
    """Writing what a build projected, against inserting the files raw."""
    tree, options = Tree(str(setting.root), TreeSettings()), ProjectionOptions()
    with indexing(setting.root, setting.fresh_db(), 0) as (indexer, _):
        replayed = Replayed(tree, options, indexer.scan().work.read)

    def write() -> Timing:
        store = Store.open(setting.fresh_db(), root=str(setting.root), name=setting.root.name)
        writer = Indexer(tree=tree, store=store, projector=replayed, options=options, log=get_logger())
        scanned = writer.scan()
        took = clocked(partial(writer.apply, scanned))
        store.close()
        return took

    sides = alternate(write, partial(_timed_raw, setting), setting.rounds)
    return Ratio.by_cpu("store alone / raw insert", setting.corpus, sides)


def start_unchanged(setting: Setting) -> Ratio:
    """Opening an index and finding that nothing changed, against looking at every file's stamp."""
    db = ensure_built(setting)
    sides = alternate(
        partial(clocked, partial(update, setting.root, db, CORES)),
        partial(clocked, partial(stat_tree, str(setting.root))),
        setting.at_least(START_ROUNDS),
    )
    return Ratio.by_wall("start, nothing changed / stat", setting.corpus, sides, 2.5)


def edit(indexer: Indexer, root: Path, path: Path, number: int) -> float:
    """Add a paragraph to a page; seconds of CPU from then to the commit."""
    with path.open("a", encoding="utf-8") as page:
        page.write(f"\nEdited {number} times.\n")
    began = time.process_time()
    indexer.apply(indexer.scan([str(path.relative_to(root))]))
    return time.process_time() - began


def edit_to_commit(setting: Setting) -> Ratio:
    """One saved page, read, projected and committed, against a commit that updates one plain row."""
    copy = setting.work / "edited"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(setting.root, copy / "wiki", symlinks=True)
    root, db = copy / "wiki", copy / "index" / "index.db"
    update(root, db, CORES)
    samples: list[float] = []
    plain: list[float] = []
    with indexing(root, db, 0) as (indexer, store):
        pages = cycle(list(find_pages(root))[:: max(1, EDITS // 4)])
        for number in range(setting.rounds):
            for nth, path in enumerate(islice(pages, EDITS)):
                samples.append(edit(indexer, root, path, number))
                if nth % MERGE_EVERY == 0:
                    store.merge()
            plain += update_rows(copy / f"plain-{number}.db", EDITS)
    taken = tuple(samples)
    figures = percentiles(taken, (0.5, 0.99, 1.0))
    remark = f"{figures}; goal 2, 4, 8 ms"
    return Ratio("edit to commit / plain update", setting.corpus, "CPU s", taken, tuple(plain), remark=remark)
