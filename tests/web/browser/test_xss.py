"""No page runs, fetches or opens anything in a browser, wherever it puts what tries to.

What a window notes as a fault (a dialog, an error of the console, a request elsewhere) fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.web.browser.conftest import Opener
from tests.web.served import Served, serving
from tests.web.xss_vectors import PLACES, VECTORS
from tests.wikiq.built_wiki import build_wiki

pytestmark = pytest.mark.slow

TOGETHER = 8  # vectors of a page; each stands in sections of its own, which are cleaned by themselves
TITLE, FRONT_MATTER = PLACES[1], PLACES[4]
BODIES = (PLACES[0], *PLACES[2:4], *PLACES[5:])
PAGES = {
    f"{start:03}.md": TITLE.replace("{}", VECTORS[start])
    + "\n".join(
        place.replace("{}", vector) for vector in VECTORS[start : start + TOGETHER] for place in BODIES
    )
    for start in range(0, len(VECTORS), TOGETHER)
}
TITLED = {
    f"titled/{number:03}.md": FRONT_MATTER.replace("{}", vector.replace("'", "''"))
    for number, vector in enumerate(VECTORS)
    if "\n" not in vector
}
NAMED = {
    f"named/{vector}.md": f"# Named\n\nanswer {number}\n"
    for number, vector in enumerate(VECTORS)
    if "/" not in vector and "\n" not in vector and len(vector.encode()) < 200
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(build_wiki(tmp_path_factory.mktemp("hostile"), PAGES | TITLED | NAMED)) as server:
        yield server


def test_no_page_does_anything(opener: Opener, served: Served) -> None:
    window = opener(served)
    for path in (*PAGES, *list(TITLED)[::4], *list(NAMED)[::4]):  # of the many, one in four
        window.go(f"/p/{quote(path)}?q=alert")
        assert window.page.locator("main").count() == 1, path
    assert window.page.evaluate("document.querySelectorAll('script').length") == 1  # our own


@pytest.mark.parametrize(
    "route", ["/", "/?q=alert", "/?q=evil+example&sections=1", "/?q=answer", "/topics", "/check", "/changes"]
)
def test_no_list_does_anything(opener: Opener, served: Served, route: str) -> None:
    window = opener(served)
    window.go(route)
    assert window.page.evaluate("document.querySelectorAll('main img, main script, main svg').length") == 0


@pytest.mark.parametrize("vector", [*VECTORS[:4], '"><img src=x onerror=alert(1)>', "{{7*7}}"])
def test_what_is_asked_is_text(opener: Opener, served: Served, vector: str) -> None:
    window = opener(served)
    window.go(f"/?q={quote(vector)}")
    window.go(f"/p/{quote(vector, safe='')}")
