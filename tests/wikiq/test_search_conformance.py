"""The shared cases of a search, through the installed command over an index that `indexerd` built."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import SHARED, shared_folder
from tests.wikiq.running import Done, command, environment

CASES_FILE = SHARED / "conformance" / "search.json"
CASES: list[dict[str, Any]] = (
    json.loads(CASES_FILE.read_text("utf-8"))["queries"] if CASES_FILE.is_file() else []
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wiki of the cases, built."""
    told = json.loads((shared_folder("conformance") / "search.json").read_text("utf-8"))
    root = tmp_path_factory.mktemp("conformance") / "wiki"
    for path, text in told["pages"].items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8", newline="")
    built = [sys.executable, "-m", "indexerd.main", "build", str(root)]
    subprocess.run(built, env=environment(root.parent), check=True, capture_output=True)
    return root


def ask(root: Path, *arguments: str) -> Done:
    asked = command("search", "--json", *arguments)
    done = subprocess.run(asked, cwd=root, env=environment(root.parent), capture_output=True, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_there_are_cases() -> None:
    shared_folder("conformance")
    assert len(CASES) > 50


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_search_case(root: Path, case: dict[str, Any]) -> None:
    done = ask(root, *case["args"])
    assert done.status in case.get("exit_in", [case.get("exit", 0)]), done.err
    assert "Traceback" not in done.err
    hits = done.json["hits"] if done.out else []
    slugs = [hit["slug"] for hit in hits]
    if "first" in case:
        assert slugs[0] == case["first"]
    if "heading" in case:
        assert hits[0]["evidence"]["heading"] == case["heading"]
    if "slugs" in case:
        assert set(slugs) == set(case["slugs"])
    if case.get("unique_pages"):
        assert len(set(slugs)) == len(slugs)
    if case.get("corrected"):
        assert done.json["corrected"]
