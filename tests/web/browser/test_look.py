"""How pages look and read: accessibility rules, small and dark screens, print, no script, every script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.strangers import AXE
from tests.web.browser.conftest import Opener
from tests.web.served import PAGES, Served, serving
from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.running import running_daemon

pytestmark = pytest.mark.slow

RICH: Final = (
    "---\ntopics: [look/rich]\n---\n\n# Rich\n\n> [!warning] Mind\n> the `gap`.\n\n"
    "- [x] done\n- [ ] not done\n\n"
    "| a | b |\n|---|--:|\n| 1 | 2 |\n\n```python\n@decorated\ndef f(x: int = 1) -> str:  # a comment\n"
    '    """Doc."""\n    return f"{x!r}" + str(None) if x else \'no\'\n```\n\nA note[^1], $x^2$, <https://example.org>,\n'
    "![](nowhere.png) and ![](https://example.org/remote.png), [broken](gone.md).\n\n[^1]: The note.\n\n"
    "Term\n: meaning\n\n## Part\n\n#### Deep\n\nwords `src/app.py`\n"
)
SCRIPTS: Final = {
    "日本.md": "# 日本の首都\n\n憲法上の首都はアムステルダム、日本の首都は東京です。\n",
    "rtl.md": "# שלום עולם\n\nהמפתח נמצא בחדר שתים עשרה.\n",
    "emoji.md": "# Emoji\n\nA 👩‍👩‍👧 family 𝒳 found the treasure 🏴‍☠️ there.\n",
}
ROUTES: Final = (
    "/", "/?q=restore+the+table", "/?q=nowhere+atall", "/p/rich?q=words+note", "/p/index", "/p/gone-page",
    "/section?page=rich.md:40", "/topics", "/topics/look/rich", "/file/src/app.py", "/check", "/changes",
    "/status",
)  # fmt: skip
RULES: Final = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    "resultTypes": ["violations"],
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    wiki = build_wiki(tmp_path_factory.mktemp("look"), {**PAGES, "rich.md": RICH, **SCRIPTS})
    with serving(wiki) as server:
        yield server


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken_on_any_route(opener: Opener, served: Served, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; see `make strangers`")
    window = opener(served, color_scheme=scheme)
    found: dict[str, list[str]] = {}
    for route in ROUTES:
        window.go(route)
        window.page.wait_for_load_state("load")
        if route.startswith("/?q=restore"):
            window.until_text("Fetch the dump", ".preview")
        window.page.evaluate(AXE.read_text("utf-8"))
        violations = window.page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
        found |= {
            f"{route} {one['id']}": [node["html"][:200] for node in one["nodes"][:3]] for one in violations
        }
    assert found == {}


def test_the_list_of_keys_breaks_no_rule(opener: Opener, served: Served) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; see `make strangers`")
    window = opener(served)
    window.page.keyboard.press("?")
    window.page.evaluate(AXE.read_text("utf-8"))
    assert window.page.evaluate("rules => axe.run(document, rules)", RULES)["violations"] == []


@pytest.mark.parametrize("width, zoom", [(320, 1), (640, 2)])
def test_neither_a_narrow_screen_nor_zoom_needs_sideways_scrolling(
    opener: Opener, served: Served, width: int, zoom: int
) -> None:
    """A screen of 1280 at 200 % is one of 640 with twice as many dots."""
    window = opener(served, viewport={"width": width, "height": 640}, device_scale_factor=zoom)
    for route in ROUTES:
        window.go(route)
        assert window.page.evaluate("document.documentElement.scrollWidth") <= width, route
        assert not window.page.locator(".outline").is_visible()


def test_a_wide_screen_has_the_preview_and_a_phone_has_not(opener: Opener, served: Served) -> None:
    wide = opener(served)
    wide.go("/?q=fetch")
    wide.until_text("Fetch the dump", ".preview")
    phone = opener(served, viewport={"width": 390, "height": 844})
    phone.go("/?q=fetch")
    assert not phone.page.locator(".preview").is_visible()


def test_the_section_that_was_found_stands_below_the_bar(opener: Opener, served: Served) -> None:
    window = opener(served, viewport={"width": 1400, "height": 300})
    window.go("/p/ops/backup?q=dump#restore-a-single-table")
    heading = window.page.locator("#restore-a-single-table h3").bounding_box()
    bar = window.page.locator("header").bounding_box()
    assert heading is not None
    assert bar is not None
    assert 0 <= heading["y"] - bar["height"] < 60
    line = "getComputedStyle(document.querySelector('#restore-a-single-table'), '::before').borderLeftWidth"
    assert window.page.evaluate(line) == "3px"
    window.until(
        "document.querySelector('.outline [aria-current]')?.textContent === 'Restore a single table'"
    )


def test_dark_is_dark(opener: Opener, served: Served) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = opener(served), opener(served, color_scheme="dark")
    assert light.page.evaluate(colour) == "rgb(253, 253, 251)"
    assert dark.page.evaluate(colour) == "rgb(24, 25, 28)"


def test_print_leaves_the_text_alone(opener: Opener, served: Served) -> None:
    window = opener(served)
    window.go("/p/rich")
    window.page.emulate_media(media="print")
    for part in ("header", ".outline", "aside"):
        assert not window.page.locator(part).is_visible()
    assert window.page.locator("article").is_visible()


def test_everything_is_reached_without_a_script(opener: Opener, served: Served) -> None:
    window = opener(served, java_script_enabled=False)
    page = window.page
    page.fill("input", "fetch the dump")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=fetch+the+dump")
    page.locator(".hit h2 a").first.click()
    page.wait_for_url("**/p/ops/backup?q=fetch+the+dump#restore-a-single-table")
    assert page.locator("mark").first.is_visible()
    page.locator("nav a", has_text="Topics").click()
    page.locator("main a", has_text="ops").click()
    assert page.locator(".hit").count() == 1


@pytest.mark.parametrize(
    "words, marked",
    [
        ("日本の首都", {"日本の首都", "の首都"}),
        ("המפתח", {"המפתח"}),
        ("treasure", {"treasure"}),
        ("family", {"family"}),
    ],
)
def test_marks_stand_on_the_right_characters(
    opener: Opener, served: Served, words: str, marked: set[str]
) -> None:
    window = opener(served)
    window.page.fill("input", words)
    window.until("document.querySelector('.hit mark')")
    assert set(window.page.locator(".hit mark").all_inner_texts()) <= marked
    window.page.keyboard.press("Enter")
    window.until("document.querySelector('article mark')")
    texts = set(window.page.locator("main.page mark").all_inner_texts())
    assert texts
    assert texts <= marked


def test_hebrew_is_read_from_the_right(opener: Opener, served: Served) -> None:
    window = opener(served)
    window.go("/p/rtl")
    assert window.page.evaluate("getComputedStyle(document.querySelector('article')).direction") == "rtl"


def test_a_followed_wiki_shows_no_warning(opener: Opener, served: Served) -> None:
    with running_daemon(served.wiki.index):
        window = opener(served)
        window.until("document.querySelector('.state.live')")
        assert window.page.locator(".warning").count() == 0
