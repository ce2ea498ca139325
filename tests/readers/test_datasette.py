"""docs/readers/datasette.md run as it stands: its metadata, its commands, against an index in use."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from tests.documents import blocks
from tests.imports import REPOSITORY
from tests.store.wiki import bring, open_store

DOCUMENT: Final = REPOSITORY / "docs" / "readers" / "datasette.md"
ANSWER_S: Final = 60.0  # it takes one, on an idle machine
WIKI: Final = {
    "README.md": "# Home\n\n[Runs](guide/runs.md)\n",
    "guide/runs.md": "# Run Lifecycle\n\n## Cancellation\n\nCancel a running worker; don't kill it.\n",
    "guide/c.md": "# C++\n\nA language without a worker.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasette")
    with open_store(folder) as store:
        bring(store, WIKI)
    (metadata,) = blocks(DOCUMENT, "json")
    (folder / "metadata.json").write_text(metadata)
    return folder / "index.db"


def get(index: Path, place: str, **values: str) -> Any:
    """What Datasette answers to one request."""
    datasette = shutil.which("datasette")
    if datasette is None:
        pytest.skip("datasette is not installed: make strangers")
    command = [datasette, str(index), "--metadata", str(index.with_name("metadata.json"))]
    query = urlencode({"_shape": "array", **values})
    done = subprocess.run(
        [*command, "--get", f"/index/{place}.json?{query}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=ANSWER_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, expected",
    [
        ("cancel worker", ["guide/runs", "guide/c"]),
        ("  don't ", ["guide/runs"]),
        ('"worker', ["guide/c", "guide/runs"]),
        ('NOT ( " AND c++', ["guide/c"]),
        ("nothing", []),
    ],
)
def test_the_documented_search_takes_whatever_is_typed(index: Path, words: str, expected: list[str]) -> None:
    found = get(index, "search", words=words)
    assert [row["slug"] for row in found] == expected


@pytest.mark.slow
def test_every_other_documented_query_finds_something(index: Path) -> None:
    (metadata,) = blocks(DOCUMENT, "json")
    queries = json.loads(metadata)["databases"]["index"]["queries"]
    assert queries.keys() == {"search", "backlinks", "changes"}
    assert [row["slug"] for row in get(index, "backlinks", slug="guide/runs")] == ["README"]
    assert len(get(index, "changes", generation="0")) == len(WIKI)
    assert get(index, "changes", generation="1") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "view, words, expected",
    [("v1_sections", "running worker", ["guide/runs"]), ("v1_pages", "guide", ["guide/c", "guide/runs"])],
)
def test_the_search_box_of_a_view_asks_the_full_text(
    index: Path, view: str, words: str, expected: list[str]
) -> None:
    assert sorted(row["slug"] for row in get(index, view, _search=words)) == expected


@pytest.mark.slow
def test_the_documented_commands_run_while_the_index_is_written(index: Path, tmp_path: Path) -> None:
    if shutil.which("datasette") is None:
        pytest.skip("datasette is not installed: make strangers")
    copy = tmp_path / "index.db"
    shutil.copy(index.with_name("metadata.json"), tmp_path)
    _, get_once = blocks(DOCUMENT, "sh")
    with open_store(tmp_path) as store:
        bring(store, WIKI)
        done = subprocess.run(
            ["sh", "-c", get_once],
            cwd=tmp_path,
            env=environment(copy),
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_S,
        )
        assert bring(store, {}).deleted == len(WIKI), "it holds no lock"
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row["slug"] for row in json.loads(done.stdout)] == ["guide/runs", "guide/c"]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"index.db", "index.db-shm", "index.db-wal", "index.lock", "metadata.json"}


def environment(index: Path) -> dict[str, str]:
    return {**os.environ, "INDEX": str(index)}
