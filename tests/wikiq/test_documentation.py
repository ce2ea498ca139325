"""The documentation is a wiki like any other: `wikiq check --strict` finds nothing in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.building import REPOSITORY
from tests.wikiq.running import environment


def test_the_documentation_has_nothing_wrong_with_it(tmp_path: Path) -> None:
    db = tmp_path / "index.db"
    for words in ("indexerd.main build docs --db", "wikiq.main check --strict --db"):
        done = subprocess.run(
            [sys.executable, "-m", *words.split(), str(db)],
            cwd=REPOSITORY,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
