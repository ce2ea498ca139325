"""The official client of the protocol, in both eras, against `wikiq mcp`: see official_client.py."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.strangers import PYTHON
from tests.wikiq.conftest import PAGES, TOPICS
from tests.wikiq.running import command, environment
from tests.wikiq.sample_index import SamplePage, write_sample

MODES = ("auto", "legacy")
HERE = Path(__file__).parent
SLOW_PAGES = tuple(
    SamplePage(f"slow/{number}.md", f"# Slow {number}\n\n" + "slow words of a page. " * 300)
    for number in range(150)
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the client saw in both modes."""
    asked = "import mcp, mcp_types"
    is_there = PYTHON.exists() and not subprocess.run([PYTHON, "-c", asked], check=False).returncode
    if not is_there:
        pytest.skip("the official mcp client is not installed: make strangers")
    folder = tmp_path_factory.mktemp("official")
    indexes = {mode: write_sample(folder / mode, (*PAGES, *SLOW_PAGES), topics=TOPICS) for mode in MODES}
    spares = {mode: write_sample(folder / mode, PAGES[:1], name="spare") for mode in MODES}
    setting = {
        "command": command("mcp"),
        "tee": str(HERE / "tee.py"),
        "environ": environment(folder) | {"PYTHONPATH": os.pathsep.join(import_path())},
        "cwd": str(folder),
        "record": str(folder / "record"),
        "db": {mode: str(index.db) for mode, index in indexes.items()},
        "spare": {mode: str(spare.db) for mode, spare in spares.items()},
    }
    (folder / "setting.json").write_text(json.dumps(setting))
    done = subprocess.run(
        [PYTHON, HERE / "official_client.py", folder / "setting.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def import_path() -> list[str]:
    """Where this interpreter finds the project, for a server that is started by another one."""
    root = HERE.parents[2]
    return [str(root), str(root / "cli")]


@pytest.mark.parametrize("mode, version", [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_is_served_in_its_own_era(told: dict[str, Any], mode: str, version: str) -> None:
    seen = told[mode]
    assert seen["version"] == version
    assert seen["tools"] == ["search", "read", "outline", "list", "status"]
    assert seen["refused"] == [True] * 5
    assert seen["unknown_tool"] == -32602
    assert seen["messages"]["tools/call"] >= 30
    assert seen["messages"]["error"] >= 1


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_may_cancel_flood_lose_and_restart_the_server(
    told: dict[str, Any], mode: str
) -> None:
    seen = told[mode]
    assert seen["cancelled"] == [True, True, True]
    assert seen["flood"].keys() <= {"CallToolResult", "-32000"}
    assert sum(seen["flood"].values()) == 100
    assert seen["flood"]["CallToolResult"] >= 64
    assert seen["replaced"].startswith("1 page,")
    assert seen["restarted"]
