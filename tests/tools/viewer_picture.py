"""`python -m tests.tools.viewer_picture FILE`: the picture of the viewer in the README, of its own wiki."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from tests.imports import REPOSITORY
from tests.web.browser.conftest import CHROMIUM, QUIET
from tests.web.served import serving
from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.running import running_daemon

NOTES: Final = REPOSITORY / "tests" / "readme" / "notes"
WORDS: Final = "restore a single table"


def main(target: str) -> None:
    pages = {str(path.relative_to(NOTES)): path.read_text("utf-8") for path in NOTES.rglob("*.md")}
    with tempfile.TemporaryDirectory() as folder:
        wiki = build_wiki(Path(folder), pages)
        with running_daemon(wiki.index), serving(wiki) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
            page = browser.new_page(viewport={"width": 1240, "height": 480})
            page.goto(server.address)
            page.fill("input", WORDS)
            page.wait_for_selector(".preview mark")
            page.screenshot(path=target)
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
