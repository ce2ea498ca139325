"""One daemon for all tests of a module that leave it running, and a folder of its own for each."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.process import LiveDaemon, wait_until

WATCHING_S = 30.0


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    """A daemon as a process of its own that watches a wiki."""
    folder = tmp_path_factory.mktemp("live")
    root = folder / "wiki"
    root.mkdir()
    (root / "first.md").write_text("# First\n")
    live = LiveDaemon(root, folder / "state" / "index.db")
    live.start()
    wait_until(lambda: live.state()["mode"] == "watching", WATCHING_S, "watching")
    yield live
    live.stop(signal.SIGKILL)


@pytest.fixture
def room(daemon: LiveDaemon, request: pytest.FixtureRequest) -> Path:
    """A folder in the wiki for this test alone."""
    folder = daemon.root / re.sub(r"\W+", "-", request.node.name)
    folder.mkdir()
    return folder
