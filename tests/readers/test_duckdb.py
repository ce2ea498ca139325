"""Every view of the contract, read by DuckDB: it parses the views with a grammar of its own."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from indexerd.core.model import Diagnostic, TopicDeclaration
from indexerd.core.sync.model import PathDiagnostics, Plan, ScanRecord
from indexerd.store.file.schema import VIEWS
from tests.store.wiki import NOON, bring, open_store
from tests.strangers import PYTHON, STRANGERS

pytestmark = pytest.mark.slow

READ_S: Final = 120.0  # it takes one, on an idle machine
WIKI: Final = {
    "README.md": "# Home\n\n[Runs](guide/runs.md) [broken](nope.md) and `src/app/main.py`\n\n## Runs\n\nx\n",
    "guide/runs.md": "---\ntitle: Runs\naliases: [Setup]\ntopics: [ops/runs]\n"
    "sources: [{id: s, type: file, path: src/app/}]\n---\n# Runs\n\nCancel.\n\n## Cancellation\n\nWait.\n",
}
READ: Final = """
import json, sys
from pathlib import Path
import duckdb, duckdb_extension_sqlite_scanner as scanner

(extension,) = Path(scanner.__file__).parent.rglob("*.duckdb_extension")
connection = duckdb.connect()
connection.execute(f"LOAD '{extension}'")
connection.execute(f"ATTACH '{sys.argv[1]}' AS wiki (TYPE sqlite, READ_ONLY)")
rows = {}
for view in sys.argv[2:]:
    rows[view] = [list(map(str, row)) for row in connection.execute(f"SELECT * FROM wiki.{view}").fetchall()]
print(json.dumps(rows))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("duckdb")
    with open_store(folder) as store:
        bring(store, WIKI, topics=(TopicDeclaration("ops", "Operations", None, ()),))
        said = PathDiagnostics("pipe.md", (Diagnostic("not_regular", "is no file; remove it"),))
        store.apply(Plan(diagnostics=(said,)), committed_at=NOON)
        store.record_scan(ScanRecord(NOON, NOON, "start", 3, 3))
    return folder / "index.db"


@pytest.fixture(scope="module")
def told(index: Path) -> dict[str, Any]:
    """The rows of each view as DuckDB gives them, as text."""
    if not list(STRANGERS.glob("python/lib/*/site-packages/duckdb_extension_sqlite_scanner")):
        pytest.skip("duckdb is not installed: make strangers")
    command = [str(PYTHON), "-c", READ, str(index), *VIEWS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=READ_S)
    assert done.returncode == 0, done.stderr
    rows: dict[str, Any] = json.loads(done.stdout)
    return rows


@pytest.mark.parametrize("view", VIEWS)
def test_duckdb_reads_each_view_as_sqlite_does(view: str, index: Path, told: dict[str, Any]) -> None:
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as reader:
        rows = [list(map(str, row)) for row in reader.execute(f"SELECT * FROM {view}")]
    assert rows
    assert sorted(told[view]) == sorted(rows)
