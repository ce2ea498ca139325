"""The wiki that most tests of the reader ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.index.database import Database, Snapshot, open_database

PAGES = (
    SamplePage(
        "run-lifecycle.md",
        "Preamble about runs.\n\n# Run Lifecycle\n\nHow a run starts and ends.\n\n"
        "## Cancellation\n\nCancelling a run ends the agent's process group and waits for its exit.\n\n"
        "## Retry\n\nFailed runs are retried with backoff.\n",
        title="Run Lifecycle",
        summary="From start to end.",
        updated_at="2026-03-01T00:00:00.000Z",
        topics=("architecture", "runs"),
        aliases=("How runs live",),
        mentions=(("src/app/process.py", False), ("src/app/runs", True)),
        links=(("paths.md", "paths"), ("gone.md", "a page that is not there")),
    ),
    SamplePage(
        "paths.md",
        "# Path normalization\n\nPaths are normalized before they are stored.\n\n"
        "## Windows\n\nBackslashes become slashes.\n",
        updated_at="2026-02-01T00:00:00.000Z",
        topics=("architecture",),
        mentions=(("src/app/process.py", False),),
    ),
    SamplePage(
        "guide/README.md",
        "# Guide\n\nHow to install the agent.\n\n## Troubleshooting\n\nRead the log first.\n",
        updated_at="2026-01-15T00:00:00.000Z",
        topics=("howto",),
        links=(("run-lifecycle.md", "runs"),),
    ),
    SamplePage(
        "guide/setup.md", "# Setup\n\nInstall the agent with one command.\n", topics=("howto/install",)
    ),
    SamplePage(
        "old/setup.md", "# Old setup\n\nInstalling was harder.\n", updated_at="2025-12-01T00:00:00.000Z"
    ),
    SamplePage("notes/short.md", "Just a note about gardens without any heading.\n"),
)
TOPICS = {"runs": ("architecture",), "architecture": (), "howto": (), "howto/install": ("howto",)}


@pytest.fixture
def index(tmp_path: Path) -> SampleIndex:
    """An index that the test may change."""
    return write_sample(tmp_path, PAGES, topics=TOPICS)


@pytest.fixture(scope="session")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    """The same index for all tests that only read."""
    return write_sample(tmp_path_factory.mktemp("wiki"), PAGES, topics=TOPICS)


@pytest.fixture
def database(shared_index: SampleIndex) -> Iterator[Database]:
    opened = open_database(str(shared_index.db))
    yield opened
    opened.close()


@pytest.fixture
def snapshot(database: Database) -> Iterator[Snapshot]:
    with database.snapshot() as state:
        yield state
