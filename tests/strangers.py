"""Where `make strangers` puts the programs of others that some tests run."""

from __future__ import annotations

import os
from typing import Final

from tests.imports import REPOSITORY

STRANGERS: Final = REPOSITORY / ".venv-strangers"
# The script of accessibility rules that the browser's tests put into a page.
AXE: Final = STRANGERS / "node_modules" / "axe-core" / "axe.min.js"
# A venv of its own, so that no package of theirs comes between this project and its lock file.
PYTHON: Final = STRANGERS / "python" / "bin" / "python"


def put_on_path() -> None:
    """Let tests find these programs, behind those that the machine has."""
    if STRANGERS.is_dir():
        os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), str(STRANGERS / "bin")))
        os.environ.setdefault("NODE_PATH", str(STRANGERS / "node_modules"))
