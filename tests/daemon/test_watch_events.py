"""What a report of the watcher asks for: nothing where the daemon wrote itself, pages wherever they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexerd.core.sync.scheduler import Scheduler
from indexerd.daemon.environment import Surroundings, own_paths
from indexerd.daemon.scan_audit import ScanBook
from indexerd.daemon.status import Status
from indexerd.daemon.watch_events import WatchEvents
from indexerd.service.notify import ServiceManager
from indexerd.service.status_file import StateFile
from indexerd.tree.watcher import open_notifier
from tests.following import Clock, Log


def hearing_of(root: Path, index: Path) -> WatchEvents:
    """One as the daemon makes it for this place of the index."""
    clock, folder = Clock(), index.parent
    around = Surroundings(
        state=StateFile(str(folder / "state.json")),
        control=str(folder / "control.sock"),
        service=ServiceManager(),
        open_notifier=open_notifier,
    )
    return WatchEvents(
        scheduler=Scheduler(),
        status=Status(control=None, index=None, building=False),
        scans=ScanBook(),
        own_paths=own_paths(str(root), str(index), around),
        wake=lambda: None,
        ask_reload=lambda: None,
        clock=clock.monotonic,
        log=Log(),
    )


@pytest.mark.parametrize("folder", ["", "sub", "deep/er"])
def test_own_files_beside_pages_are_no_work_and_the_pages_are(tmp_path: Path, folder: str) -> None:
    """Else the daemon would be kept busy by its own words, or deaf to all that lies beside its index."""
    hearing = hearing_of(tmp_path, tmp_path / folder / "notes.db")
    own = ("notes.db", "notes.db-wal", "notes.db-shm", "index.lock", "state.json", "state.json.new")
    for name in (*own, "control.sock"):
        assert not hearing.matters(os.path.join(folder, name))
    for name in ("a.md", "notes.md", "notes.db.md", "below/a.md", "below"):
        assert hearing.matters(os.path.join(folder, name))


def test_an_index_outside_the_wiki_hides_nothing(tmp_path: Path) -> None:
    hearing = hearing_of(tmp_path / "wiki", tmp_path / "index.db")
    assert hearing.matters("index.db")
    assert hearing.matters("state.json")
