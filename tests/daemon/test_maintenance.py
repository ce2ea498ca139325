"""Merging and checkpointing: when they are bought, when they are put off, and that they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from indexerd.daemon.maintenance import (
    IDLE_AFTER_S,
    IDLE_RETRY_S,
    MERGE_EVERY_COMMITS,
    PASSIVE_PAGES,
    Maintenance,
)
from indexerd.pipeline.indexer import Indexer
from indexerd.store import Store
from tests.building import Bench


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Bench, Indexer, Store]]:
    bench = Bench(tmp_path)
    bench.write(a="# A\n\nwords\n")
    with bench.opened() as (indexer, store):
        indexer.apply(indexer.scan())
        yield bench, indexer, store


@pytest.fixture
def store(opened: tuple[Bench, Indexer, Store]) -> Store:
    return opened[2]


def test_nothing_is_due_before_anything_was_committed(store: Store) -> None:
    maintenance = Maintenance(store, Clock())
    maintenance.committed(0)
    assert maintenance.next_at is None
    assert not maintenance.is_due()


def test_the_log_is_emptied_once_when_it_has_been_quiet(store: Store) -> None:
    clock = Clock()
    maintenance = Maintenance(store, clock)
    maintenance.committed(1)
    assert maintenance.next_at == IDLE_AFTER_S
    clock.now = IDLE_AFTER_S - 0.01
    assert not maintenance.is_due()
    clock.now = IDLE_AFTER_S
    assert maintenance.is_due()
    maintenance.run()
    assert store.wal_bytes == 0
    assert not maintenance.is_due()


def test_a_reader_in_the_way_puts_it_off(opened: tuple[Bench, Indexer, Store]) -> None:
    bench, indexer, store = opened
    clock = Clock()
    maintenance = Maintenance(store, clock)
    with closing(apsw.Connection(str(store.path), flags=apsw.SQLITE_OPEN_READONLY)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM page").fetchall()
        bench.write(b="# B")
        indexer.apply(indexer.scan())
        maintenance.committed(1)
        clock.now = IDLE_AFTER_S
        maintenance.run()
        assert maintenance.next_at == IDLE_AFTER_S + IDLE_RETRY_S
        assert not maintenance.is_due()
    clock.now += IDLE_RETRY_S
    maintenance.run()
    assert store.wal_bytes == 0


def test_merging_is_bought_every_few_commits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bought = []
    monkeypatch.setattr(Store, "merge", lambda store: bought.append(1))
    maintenance = Maintenance(store, Clock())
    for _ in range(MERGE_EVERY_COMMITS):
        assert not maintenance.is_due()
        maintenance.committed(1)
    assert maintenance.is_due()
    maintenance.run()
    assert not maintenance.is_due()
    assert len(bought) == 1


def test_a_long_log_is_moved_to_the_file_between_batches(store: Store) -> None:
    maintenance = Maintenance(store, Clock())
    store.wal_pages = PASSIVE_PAGES
    assert not maintenance.is_due()
    store.wal_pages = PASSIVE_PAGES + 1
    assert maintenance.is_due()
    maintenance.run()
    store.wal_pages = 1
    assert not maintenance.is_due()


def test_memory_is_given_back_once_when_it_is_quiet_after_a_scan(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = []
    monkeypatch.setattr(Store, "release_memory", lambda store: released.append(1))
    clock = Clock()
    maintenance = Maintenance(store, clock)
    maintenance.scanned()
    assert not maintenance.is_due()
    clock.now = IDLE_AFTER_S
    assert maintenance.is_due()
    maintenance.run()
    assert not maintenance.is_due()
    assert len(released) == 1


def test_what_failed_is_put_off(store: Store) -> None:
    clock = Clock()
    maintenance = Maintenance(store, clock)
    maintenance.committed(MERGE_EVERY_COMMITS)
    clock.now = IDLE_AFTER_S
    maintenance.put_off()
    assert not maintenance.is_due()
    assert maintenance.next_at == IDLE_AFTER_S + IDLE_RETRY_S
