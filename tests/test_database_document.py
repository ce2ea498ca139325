"""docs/database.md against a file that the store wrote: its tables name what is there, its code runs.

The queries also run in the oldest SQLite at hand: shells named after their version, `sqlite3-3.31.1`
say, are looked for on PATH beside `sqlite3` itself.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexerd.contract.file import APPLICATION_ID, COLUMNS, META_KEYS, READER_PRAGMAS, TOKENIZER
from indexerd.core.model import Diagnostic, TopicDeclaration
from indexerd.core.sync.model import PathDiagnostics, Plan, ScanRecord
from tests import documents
from tests.imports import REPOSITORY
from tests.store.wiki import NOON, bring, open_store

PLACE = REPOSITORY / "docs" / "database.md"
DOCUMENT = PLACE.read_text("utf-8")
WIKI = {
    "README.md": "# Home\n\n[Runs](guide/runs.md) [[Setup]] [broken](nope.md) and `src/app/main.py`\n",
    "guide/runs.md": "---\ntopics: [ops/runs]\nsources: [{id: s, type: file, path: src/app/}]\n---\n"
    "# Run Lifecycle\n\nCancel a running worker.\n\n## Cancellation\n\n### Confirmation\n\nWait for exit.\n",
    "guide/install.md": "---\ntitle: Install\naliases: [Setup]\ntopics: ops\n---\n# Install\n\n## Linux\n\n"
    "文章を検索する\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
}
VALUES: dict[str, int | str] = {
    "key": "setup",
    "slug": "guide/runs",
    "heading_path": '["Run Lifecycle","Cancellation","Confirmation"]',
    "two_elements": '["Cancellation","Confirmation"]',
    "topic": "ops",
    "file": "src/app/main.py",
    "generation": 0,
}


def blocks(language: str) -> list[str]:
    return documents.blocks(PLACE, language)


def first_line(block: str) -> str:
    return block.partition("\n")[0].removeprefix("-- ")


def documented(view: str) -> list[str]:
    """Names in the first column of the table below the heading of a view."""
    (section,) = re.findall(rf"^### {view}\n(.*?)(?=^##)", DOCUMENT, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wiki")
    with open_store(folder) as store:
        bring(store, WIKI, topics=(TopicDeclaration("ops", "Operations", None, ()),))
        said = PathDiagnostics("pipe.md", (Diagnostic("not_regular", "is no file; remove it"),))
        store.apply(Plan(diagnostics=(said,)), committed_at=NOON)
        store.record_scan(ScanRecord(NOON, NOON, "start", 3, 3))
    return folder / "index.db"


@pytest.fixture
def reader(index: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
    for pragma in READER_PRAGMAS:
        connection.execute(pragma)
    yield connection
    connection.close()


def test_the_document_has_every_view_and_no_other() -> None:
    assert set(re.findall(r"^### (v1_\w+)$", DOCUMENT, re.MULTILINE)) == COLUMNS.keys()


@pytest.mark.parametrize("view", COLUMNS)
def test_the_document_tells_every_column_in_its_order(view: str, reader: sqlite3.Connection) -> None:
    live = [row[0] for row in reader.execute(f"SELECT * FROM {view} LIMIT 0").description]
    assert documented(view) == live


@pytest.mark.parametrize("view", COLUMNS)
def test_every_view_holds_a_row_of_the_sample(view: str, reader: sqlite3.Connection) -> None:
    assert reader.execute(f"SELECT * FROM {view}").fetchall()


def test_the_document_tells_every_key_of_meta_and_the_numbers(reader: sqlite3.Connection) -> None:
    (table,) = re.findall(r"^\| key \| meaning \|\n(.*?)\n\n", DOCUMENT, re.MULTILINE | re.DOTALL)
    told = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert told == set(META_KEYS) == {key for (key,) in reader.execute("SELECT key FROM meta")}
    assert f"{APPLICATION_ID} (0x{APPLICATION_ID:X}," in DOCUMENT
    assert TOKENIZER in DOCUMENT


@pytest.mark.parametrize("query", blocks("sql"), ids=first_line)
def test_a_documented_query_finds_something(query: str, reader: sqlite3.Connection) -> None:
    found = reader.execute(query, VALUES).fetchall()
    assert found
    assert None not in found[0][:2]


def test_the_documented_code_for_python_runs(index: Path, tmp_path: Path) -> None:
    names = {"INDEX": str(index), "OWN": str(tmp_path / "own.db"), "embed": lambda text: text[::-1].encode()}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in blocks("python"):
            exec(compile(block, "docs/database.md", "exec"), names)
    for value in names.values():
        if isinstance(value, sqlite3.Connection):
            value.close()
    assert "guide/runs:5  Run Lifecycle" in printed.getvalue()
    own = sqlite3.connect(tmp_path / "own.db")
    assert own.execute("SELECT count(*) FROM vector").fetchone()[0] >= 3
    own.close()


def test_the_documented_code_for_node_runs(index: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: make strangers")
    (script,) = blocks("js")
    (other,) = re.findall(r"first two lines are\n`(.*?)`", DOCUMENT, re.DOTALL)
    attempts = (script, "\n".join([other, *script.splitlines()[3:]]))
    environment = {**os.environ, "INDEX": str(index)}
    for attempt in attempts:
        done = subprocess.run(
            [node, "-e", attempt], capture_output=True, text=True, check=False, env=environment
        )
        if done.returncode == 0:
            assert "guide/runs:5  Run Lifecycle" in done.stdout
            return
        assert "node:sqlite" in done.stderr or "better-sqlite3" in done.stderr, done.stderr
    pytest.skip("this node has neither node:sqlite nor better-sqlite3: make strangers")


def test_the_documented_command_of_the_shell_runs(index: Path) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("the sqlite3 shell is not installed")
    (script,) = blocks("sh")
    done = subprocess.run(
        ["sh", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "INDEX": str(index)},
    )
    assert "guide/runs:5 Run Lifecycle" in done.stdout
    assert done.stderr == ""


Version = tuple[int, ...]


def old_shell() -> tuple[Version, str]:
    """Version and path of the oldest sqlite3 shell on PATH."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    shells = [str(shell) for folder in folders for shell in (*folder.glob("sqlite3-3.*"), folder / "sqlite3")]
    return min(
        ((version_of(shell), shell) for shell in shells if os.access(shell, os.X_OK)),
        default=(sqlite3.sqlite_version_info, ""),
    )


def version_of(shell: str) -> Version:
    said = subprocess.run([shell, "-version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, said.split()[0].split(".")))


def literal(value: int | str) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def assert_same(found: list[str], expected: tuple[object, ...]) -> None:
    """What a shell printed of a row, held against the row; scores may differ in their last digits."""
    assert len(found) == len(expected)
    for text, value in zip(found, expected, strict=True):
        if isinstance(value, float):
            assert float(text) == pytest.approx(value)
        else:
            assert text == ("" if value is None else str(value))


QUERIES = (
    *(f"SELECT * FROM {view} ORDER BY {', '.join(names)} LIMIT 100" for view, names in COLUMNS.items()),
    *blocks("sql"),
)


@pytest.mark.parametrize("query", QUERIES, ids=first_line)
def test_an_old_sqlite_reads_what_a_new_one_reads(
    query: str, index: Path, reader: sqlite3.Connection
) -> None:
    version, shell = old_shell()
    if version >= sqlite3.sqlite_version_info:
        pytest.skip("no sqlite3 shell older than this Python's SQLite is on PATH: make strangers")
    bound = re.sub(r"(?<=[\s(]):(\w+)", lambda name: literal(VALUES[name[1]]), query)
    done = subprocess.run(
        [shell, "-batch", "-ascii", f"file:{index}?mode=ro"],
        input=";\n".join((*READER_PRAGMAS, bound.rstrip(";\n"), "")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = reader.execute(query, VALUES).fetchall()
    rows = [row.split("\x1f") for row in done.stdout.split("\x1e")[:-1]]
    assert len(rows) == len(expected) > 0
    for found, row in zip(rows, expected, strict=True):
        assert_same(found, row)


def test_reading_leaves_the_files_as_they_are(index: Path, reader: sqlite3.Connection) -> None:
    names = sorted(os.listdir(index.parent))
    reader.execute("SELECT count(*) FROM v1_pages").fetchone()
    reader.close()
    assert (
        sorted(os.listdir(index.parent))
        == names
        == ["index.db", "index.db-shm", "index.db-wal", "index.lock"]
    )
