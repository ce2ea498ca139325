"""Asks a service once, of a snapshot of its own, as a command does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from wikiq.index.database import Database, Snapshot

P = ParamSpec("P")
T = TypeVar("T")


def answer(
    database: Database, service: Callable[Concatenate[Snapshot, P], T], *words: P.args, **options: P.kwargs
) -> T:
    """What `service` gives for one snapshot of `database`."""
    with database.snapshot() as snapshot:
        return service(snapshot, *words, **options)
