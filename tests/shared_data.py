"""Where the material that several projects share lies, beside this repository.

`shared_folder` names a folder of it. A checkout without the material skips what needs it, with the
reason; it never fetches anything.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def shared_folder(name: str) -> Path:
    """The folder `name` of the shared material; skips the test that asks where it is absent."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent: the shared {name} material is not part of the repository")
    return folder
