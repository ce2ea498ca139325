"""What the tests of building share: a wiki in a folder, an index beside it, and looks into both."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexerd.command.logs import get_logger
from indexerd.core.model import ProjectionOptions
from indexerd.pipeline.indexer import Indexer
from indexerd.pipeline.results import ScanResult, Update
from indexerd.pipeline.whole_build import build_whole
from indexerd.pipeline.workers import Projector
from indexerd.store import Snapshot, Store
from indexerd.store.read.public_rows import PUBLIC_ROWS
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree

REPOSITORY = Path(__file__).resolve().parents[1]


def count_pages(db: str) -> int:
    """How many pages a reader sees at this moment."""
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM v1_pages").fetchall()[0][0])
    finally:
        connection.close()


@dataclass(slots=True)
class Bench:
    """A wiki under `folder`/wiki and its index in `folder`/index. Opened anew for every build."""

    folder: Path
    settings: TreeSettings = field(default_factory=TreeSettings)
    options: ProjectionOptions = field(default_factory=ProjectionOptions)
    workers: int = 0

    def __post_init__(self) -> None:
        self.root.mkdir(exist_ok=True)

    @property
    def root(self) -> Path:
        return self.folder / "wiki"

    @property
    def db(self) -> Path:
        return self.folder / "index" / "index.db"

    def write(self, **texts: str) -> None:
        """Pages by stem; `__` in a keyword stands for `/`."""
        for stem, text in texts.items():
            path = self.root / f"{stem.replace('__', '/')}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    @contextmanager
    def opened(self, db: Path | None = None) -> Iterator[tuple[Indexer, Store]]:
        tree = Tree(str(self.root), self.settings)
        projector = Projector(tree, self.options, workers=self.workers)
        with Store.open(db or self.db, root=str(self.root), name="wiki") as store:
            try:
                yield (
                    Indexer(
                        tree=tree, store=store, projector=projector, options=self.options, log=get_logger()
                    ),
                    store,
                )
            finally:
                projector.close()

    def build(self) -> Update:
        return self.build_and_survey()[1]

    def build_and_survey(self) -> tuple[ScanResult, Update]:
        with self.opened() as (indexer, _):
            return build_whole(indexer, sleep=lambda _: None)

    def fetch(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """As any other program would, but never while the index is open here.

        Two SQLite libraries on one file in one process drop each other's locks (spec 3.5).
        """
        connection = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def count_pages_elsewhere(self) -> int:
        """How many pages another process sees at this moment."""
        code = "import sys; from tests.building import count_pages; print(count_pages(sys.argv[1]))"
        command = [sys.executable, "-c", code, str(self.db)]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60)
        return int(done.stdout)

    def set_schema_version(self, version: int) -> None:
        """Make it an index of another program version."""
        connection = sqlite3.connect(self.db)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()

    def paths(self) -> list[str]:
        return [path for (path,) in self.fetch("SELECT path FROM v1_pages ORDER BY path")]

    def kinds(self) -> dict[str, list[str]]:
        """The kinds of diagnostics by path."""
        found: dict[str, list[str]] = {}
        for path, kind in self.fetch("SELECT path, kind FROM v1_diagnostics ORDER BY path, kind"):
            found.setdefault(path, []).append(kind)
        return found

    def public_rows(self, db: Path | None = None) -> dict[str, list[tuple[object, ...]]]:
        """Every public row without ids and generations."""
        with Snapshot.open(db or self.db) as snapshot:
            return {view: list(snapshot.public_rows(view)) for view in PUBLIC_ROWS}

    def fresh_rows(self) -> dict[str, list[tuple[object, ...]]]:
        """The public rows of an index made from nothing."""
        db = self.folder / "fresh" / "index.db"
        for leftover in db.parent.glob("*"):
            leftover.unlink()
        with self.opened(db) as (indexer, _):
            build_whole(indexer, sleep=lambda _: None)
        return self.public_rows(db)
