"""One build of the whole tree, as `indexerd build` does it: what is surprising is scanned a second time.

The daemon has a scheduler and patience of its own; a build is over when it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from indexerd.core.sync.confirmation import CONFIRM_AFTER_S
from indexerd.core.sync.paths import WHOLE_TREE
from indexerd.pipeline.indexer import Indexer, never
from indexerd.pipeline.results import ScanResult, Update

SETTLE_PAUSES_S: Final = (0.1, 0.4, 1.6)  # for pages that are being written while `build` runs


def build_whole(
    indexer: Indexer,
    *,
    stop: Callable[[], bool] = never,
    progress: Callable[[int, int], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[ScanResult, Update]:
    """Bring the index up to date once: what `indexerd build` does.

    A surprising number of deletions is believed when a second scan agrees; pages that are being
    written, and what the disk refuses, are waited for a little, then left to the next build, with a
    diagnostic.
    """
    scanned = _confirmed_scan(indexer, WHOLE_TREE, stop, sleep)
    update = indexer.apply(scanned, stop=stop, progress=progress)
    left = (*update.left, *scanned.scan.failing)
    for pause in SETTLE_PAUSES_S:
        if not left:
            break
        sleep(pause)
        later = _confirmed_scan(indexer, left, stop, sleep)
        update.join(indexer.apply(later, stop=stop))
        left = (*update.left, *later.scan.failing)
    indexer.record(scanned, update, "build", always=True)  # no daemon says when the tree was scanned
    return scanned, update


def _confirmed_scan(
    indexer: Indexer, covers: Sequence[str], stop: Callable[[], bool], sleep: Callable[[float], None]
) -> ScanResult:
    scanned = indexer.scan(covers, stop=stop)
    if indexer.is_surprising(scanned):
        sleep(CONFIRM_AFTER_S)
        scanned = indexer.scan(covers, stop=stop)
    return scanned
