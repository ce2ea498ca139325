from indexerd.store.snapshot import Snapshot
from indexerd.store.store import Checkpoint, Store

__all__ = ["Checkpoint", "Snapshot", "Store"]
