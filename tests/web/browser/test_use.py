"""A minute of use; `python -m tests.web.browser.use` is the hour."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.web.browser.conftest import CHROMIUM
from tests.web.browser.use import Act, using

pytestmark = pytest.mark.slow

PAGES = 12


def test_nothing_stale_is_shown_unmarked_whatever_happens_to_the_wiki(tmp_path: Path) -> None:
    if shutil.which(CHROMIUM) is None:
        pytest.skip("chromium is not installed")
    root = tmp_path / "wiki"
    root.mkdir()
    for number in range(PAGES):
        (root / f"{number}.md").write_text(f"# Page {number}\n\nHow to install and create a remote module.\n")
    with using(root, tmp_path / "state" / "index.db") as used:
        for act in Act:
            used.step(act)
    assert used.steps == len(Act)
