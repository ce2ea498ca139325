"""The only writer of the index: what others take from this package."""

from indexerd.store.snapshot import Snapshot
from indexerd.store.store import Checkpoint, Store

__all__ = ["Checkpoint", "Snapshot", "Store"]
