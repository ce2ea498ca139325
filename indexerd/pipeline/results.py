"""What one pass from the tree to the index carries: what was found, and what came of it.

Records only; the indexer makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from indexerd.core.sync.model import Applied, IndexedPage
from indexerd.core.sync.paths import WHOLE_TREE
from indexerd.core.sync.reconcile import Scan, Work
from indexerd.tree.topics_file import Declared


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The scan of part of the tree and the work that follows from it, before anything is read or written."""

    scan: Scan
    work: Work
    indexed: Mapping[str, IndexedPage]
    declared: Declared | None = None  # only where that is new

    @property
    def is_whole(self) -> bool:
        """Whether the whole tree was scanned."""
        return self.scan.covers == WHOLE_TREE


@dataclass(slots=True)
class Update:
    """The result of applying a scanned.

    `fallbacks`: pages that only markdown-it could read, for a fault of the quick way.
    `unread`: pages that are there and could not be read. `left`: pages to scan again, since
    they kept changing, went while they were to be read, or the disk refused them; `late`: pages that
    a worker still projects. What is known of either stays until then.
    """

    generation: int = 0
    commits: int = 0
    upserted: int = 0
    deleted: int = 0
    projected: int = 0
    full_text: int = 0
    fallbacks: int = 0
    unread: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """Entries in the change feed."""
        return self.upserted + self.deleted

    def add(self, applied: Applied) -> None:
        """Add the counts of a transaction."""
        self.generation = applied.generation
        self.commits += applied.committed
        self.upserted += applied.upserted
        self.deleted += applied.deleted
        self.full_text += applied.full_text

    def join(self, later: Update) -> None:
        """Add the counts of a second attempt at the pages that were left."""
        self.generation = later.generation
        self.commits += later.commits
        self.upserted += later.upserted
        self.deleted += later.deleted
        self.projected += later.projected
        self.full_text += later.full_text
        self.fallbacks += later.fallbacks
        tried = set(self.left)
        self.unread = [path for path in self.unread if path not in tried] + later.unread
        self.left = later.left
