"""What a search loads: the list is its start-up cost (docs/decisions/2026-11-29-start-of-a-search.md)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.wikiq.running import environment
from tests.wikiq.sample_index import SampleIndex

# What each costs, of the 12 ms that `import sqlite3` takes: dataclasses 7, typing 3, hashlib 2.5,
# pathlib 3, click 18, urllib 2, contextlib .5.
HEAVY = {
    "anyio", "apsw", "argparse", "asyncio", "click", "contextlib", "dataclasses", "difflib", "hashlib",
    "indexerd.core.model", "indexerd.store.file.schema", "inspect", "logging", "markdown_it", "pathlib",
    "shutil", "structlog", "subprocess", "tempfile", "typing", "urllib", "watchfiles", "yaml",
}  # fmt: skip

SCRIPT = """
import json, sys
sys.argv = ["wikiq", *json.loads(sys.argv[1])]
from wikiq.main import run_process
status = run_process()
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["agent"],
        ["search", "agent", "--json"],
        ["agent", "--topic", "howto", "--since", "2026-01-01"],
        ["agent", "--ndjson", "--limit", "3", "--sections"],
        ["--under", "howto"],
        ["nothing-like-that"],
    ],
)
def test_a_search_loads_only_what_it_needs(shared_index: SampleIndex, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(arguments)],
        cwd=shared_index.root,
        env=environment(shared_index.root.parent),
        capture_output=True,
        text=True,
        check=True,
    )
    status, loaded = json.loads(done.stderr.splitlines()[-1])
    assert status in (0, 1)
    assert HEAVY.intersection(loaded) == set()
