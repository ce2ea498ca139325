"""The measures of the writer, taken in process: full builds, a start with nothing changed, single edits.

The indexer is put together as the commands put it together. Wikis that are edited are copies.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from indexerd.command.logs import get_logger
from indexerd.core.model import ProjectionOptions
from indexerd.pipeline.indexer import Indexer
from indexerd.pipeline.workers import Projector
from indexerd.store import Store
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree
from tests.benchmarks.baselines import insert_raw, stat_tree, update_rows
from tests.benchmarks.corpus import find_pages
from tests.benchmarks.ratio import Ratio, alternate, percentiles, seconds
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
        return indexer.apply(indexer.survey()).changed


def ensure_built(setting: Setting) -> Path:
    """The finished index that several measures share."""
    if not setting.db.exists():
        update(setting.root, setting.db, CORES)
    return setting.db


def _timed_build(setting: Setting, workers: int) -> float:
    return seconds(partial(update, setting.root, setting.fresh_db(), workers))


def _timed_raw(setting: Setting) -> float:
    return seconds(partial(insert_raw, setting.root, setting.fresh_db()))


def build_serial(setting: Setting) -> Ratio:
    """A full build in one process against reading the files and inserting them raw."""
    subject, baseline = alternate(
        partial(_timed_build, setting, 0), partial(_timed_raw, setting), setting.rounds
    )
    pages = sum(1 for _ in find_pages(setting.root))
    return Ratio(
        "build, serial / raw insert", setting.corpus, "s", subject, baseline, 9.0, remark=f"{pages} pages"
    )


def build_workers(setting: Setting) -> Ratio:
    """A full build with a worker for every core against one without workers."""
    subject, baseline = alternate(
        partial(_timed_build, setting, CORES), partial(_timed_build, setting, 0), setting.rounds
    )
    goal = 0.6 if CORES > 1 else None
    return Ratio(f"build, {CORES} workers / serial", setting.corpus, "s", subject, baseline, goal)


def start_unchanged(setting: Setting) -> Ratio:
    """Opening an index and finding that nothing changed, against looking at every file's stamp."""
    db = ensure_built(setting)
    subject, baseline = alternate(
        partial(seconds, partial(update, setting.root, db, CORES)),
        partial(seconds, partial(stat_tree, str(setting.root))),
        max(setting.rounds, START_ROUNDS),
    )
    return Ratio("start, nothing changed / stat", setting.corpus, "s", subject, baseline, 3.0)


def _edit(indexer: Indexer, root: Path, path: Path, number: int) -> float:
    """Add a paragraph to a page; seconds from then to the commit."""
    with path.open("a", encoding="utf-8") as page:
        page.write(f"\nEdited {number} times.\n")
    return seconds(lambda: indexer.apply(indexer.survey([str(path.relative_to(root))])))


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
                samples.append(_edit(indexer, root, path, number))
                if nth % MERGE_EVERY == 0:
                    store.merge()
            plain += update_rows(copy / f"plain-{number}.db", EDITS)
    taken = tuple(samples)
    figures = percentiles(taken, (0.5, 0.99, 1.0))
    return Ratio("edit to commit / plain update", setting.corpus, "s", taken, tuple(plain), remark=figures)
