"""Compares every public row of an index with a fresh projection of its tree.

Builds a second index in a temporary folder, so it needs as much room on the disk, and compares the
two page by page. Takes no writer's lock and changes neither the index nor the tree.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from indexerd.contract.places import is_below
from indexerd.core.page.names import escape_name
from indexerd.pipeline.indexer import Indexer, never
from indexerd.store import Snapshot
from indexerd.store.read.public_rows import PUBLIC_ROWS, column_names

COMPARISONS: Final = 5  # a tree that moves, or an index that a daemon brings up to date, is compared again
PAUSE_S: Final = 1.0

Row = tuple[Any, ...]

# Which column holds the page or topic by which a view is ordered.
_KEYS: Final = {"v1_pages": 1, "v1_topic_tree": 1}
_COUNTING: Final = frozenset({"v1_topics", "v1_topic_parents", "v1_topic_tree"})  # over all pages


def find_differences(
    index: Path,
    fresh: Path,
    indexer: Indexer,
    *,
    stop: Callable[[], bool] = never,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, ...]:
    """One line for each difference between `index` and the tree, () when there is none.

    `indexer` fills the index at `fresh`, which is empty. While the tree or the index moves, they are
    compared again, a few times. Pages that cannot be read now are left out.
    """
    found: tuple[str, ...] = ()
    compared: object = None
    for nth in range(COMPARISONS):
        if nth:
            time.sleep(PAUSE_S)
        scanned = indexer.scan(stop=stop)
        update = indexer.apply(scanned, stop=stop, progress=progress)
        with Snapshot.open(index) as live, Snapshot.open(fresh) as wanted:
            generation = live.meta["generation"]
            if nth and generation == compared and not update.commits:
                break  # nothing moved: the differences are real
            found = tuple(_compare(live, wanted, {*scanned.scan.unseen, *update.unread}))
            compared = generation
        if not found:
            break
    return found


def check_integrity(index: Path, scratch: Path) -> tuple[str, ...]:
    """What is wrong with file, change feed and full text, one line each. `scratch`: room for a copy."""
    with Snapshot.open(index) as live:
        return live.check_integrity(scratch)


def _compare(live: Snapshot, wanted: Snapshot, unread: Collection[str]) -> Iterator[str]:
    skipped: set[str] = set()
    if unread:
        pages = live.fetch_indexed()
        for path in pages:
            if any(is_below(path, above) for above in unread):
                skipped |= {path, pages[path].slug}
        skipped |= set(unread)
    for view in PUBLIC_ROWS:
        if not (unread and view in _COUNTING):
            yield from compare_rows(view, live.public_rows(view), wanted.public_rows(view), skipped)


def compare_rows(
    view: str, indexed: Iterable[Row], fresh: Iterable[Row], skipped: Collection[str] = ()
) -> Iterator[str]:
    """The differences of one view; both sides are ordered by its key, and ties may come in any order."""
    key = itemgetter(_KEYS.get(view, 0))
    sides = [((name, list(rows)) for name, rows in groupby(side, key)) for side in (indexed, fresh)]
    left, right = (next(side, None) for side in sides)
    while left is not None or right is not None:
        name = min(side[0] for side in (left, right) if side is not None)
        ours: list[Row] = []
        theirs: list[Row] = []
        if left is not None and left[0] == name:
            ours, left = left[1], next(sides[0], None)
        if right is not None and right[0] == name:
            theirs, right = right[1], next(sides[1], None)
        if ours != theirs and name not in skipped and (what := _describe(view, ours, theirs)):
            yield f"{view} {escape_name(name)}: {what}"


def _describe(view: str, ours: list[Row], theirs: list[Row]) -> str:
    """How the rows of one page differ, '' when only their order does."""
    extra = sorted((Counter(ours) - Counter(theirs)).elements(), key=repr)
    missing = sorted((Counter(theirs) - Counter(ours)).elements(), key=repr)
    if not extra and not missing:
        return ""
    if not theirs:
        return "in the index, not in the tree"
    if not ours:
        return "in the tree, not in the index"
    if len(extra) != len(missing):
        return f"{len(ours)} rows in the index, {len(theirs)} expected"
    names = column_names(view)
    columns = {
        names[place]
        for one, other in zip(extra, missing, strict=True)
        for place in range(len(names))
        if one[place] != other[place]
    }
    return f"{len(extra)} of {len(ours)} rows differ in {', '.join(sorted(columns))}"
