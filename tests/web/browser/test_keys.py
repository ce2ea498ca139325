"""The keyboard walk: from typing to a section and back, without a mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.web.browser.conftest import Opener, Window
from tests.web.served import Served, serving, write_wiki

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("keys")
    wiki = write_wiki(folder)
    editor = folder / "editor"
    editor.write_text('#!/bin/sh\necho "$@" > "$0.asked"\n')
    editor.chmod(0o755)
    with serving(wiki, "--editor", EDITOR=str(editor)) as server:
        yield server


@pytest.fixture
def window(opener: Opener, served: Served) -> Window:
    return opener(served)


def search(window: Window, words: str, expected: str) -> None:
    """Type words and wait for the hit that they must give first."""
    window.page.keyboard.press("/")
    window.page.keyboard.type(words)
    window.until(
        "place => document.querySelector('.hit[aria-selected=true]')?.dataset.place === place", expected
    )


def test_the_whole_walk(window: Window) -> None:
    keyboard, page = window.page.keyboard, window.page
    search(window, "network", "network.md:5")
    assert page.evaluate("location.search") == "?q=network"
    assert page.evaluate("document.activeElement.getAttribute('aria-activedescendant')") == "wq-0"
    keyboard.press("ArrowDown")
    second = window.selected
    assert second not in ("", "network.md:5")
    keyboard.press("ArrowUp")
    assert window.selected == "network.md:5"
    keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    keyboard.press("j")
    assert window.selected == second
    keyboard.press("Enter")
    window.until("document.querySelector('main').dataset.part === 'page'")
    assert "?q=network" in page.url
    keyboard.press("Escape")
    window.until("document.querySelector('main').dataset.part === 'results'")
    assert (window.selected, page.evaluate("location.search")) == (second, "?q=network")
    keyboard.press("k")
    keyboard.press("Enter")
    window.until("document.querySelector('main').dataset.part === 'page'")
    page.go_back()
    window.until("document.querySelector('main').dataset.part === 'results'")
    assert window.selected == "network.md:5"


def test_sections_and_marks_are_walked(window: Window) -> None:
    window.go("/p/ops/backup?q=restore")
    keyboard, page = window.page.keyboard, window.page
    for expected in ("backup-and-restore", "restore", "restore-a-single-table", "retention"):
        keyboard.press("n")
        assert page.evaluate("location.hash") == f"#{expected}"
    keyboard.press("p")
    assert page.evaluate("location.hash") == "#restore-a-single-table"
    marks = page.evaluate("document.querySelectorAll('article mark').length")
    assert marks > 1
    keyboard.press("m")
    keyboard.press("m")
    keyboard.press("M")
    assert (
        page.evaluate("[...document.querySelectorAll('article mark')].findIndex(one => one.className)") == 0
    )


def test_places_are_copied(opener: Opener, served: Served) -> None:
    window = opener(served, permissions=["clipboard-read", "clipboard-write"])
    window.go("/p/ops/backup#restore-a-single-table")
    window.page.keyboard.press("y")
    window.until_text("copied ops/backup.md:11", ".told")
    assert window.page.evaluate("navigator.clipboard.readText()") == "ops/backup.md:11"
    window.page.keyboard.press("Shift+Y")
    window.until_text("copied [", ".told")
    link = "[Backup and restore > Restore a single table](ops/backup.md#restore-a-single-table)"
    assert window.page.evaluate("navigator.clipboard.readText()") == link
    window.go("/?q=fetch")
    window.page.keyboard.press("y")
    window.until_text("copied ops/backup.md:13", ".told")


def test_the_editor_opens_at_the_line(window: Window, served: Served) -> None:
    asked: Path = served.wiki.index.root.parent / "editor.asked"
    window.go("/p/ops/backup#restore-a-single-table")
    window.page.keyboard.press("e")
    window.until_text("opened", ".told")
    for _ in range(200):
        if asked.exists() and asked.read_text().strip():
            break
        window.page.wait_for_timeout(50)
    assert asked.read_text().split() == ["+11", "--", str(served.wiki.index.root / "ops" / "backup.md")]


@pytest.mark.parametrize("key, path", [("h", "/"), ("t", "/topics"), ("c", "/check"), ("s", "/status")])
def test_two_keys_lead_to_a_view(window: Window, key: str, path: str) -> None:
    window.go("/p/index")
    window.page.keyboard.press("g")
    window.page.keyboard.press(key)
    window.until("path => location.pathname === path", path)


def test_the_list_of_keys_opens_and_closes(window: Window) -> None:
    window.page.keyboard.press("?")
    assert window.page.locator("dialog").is_visible()
    window.page.keyboard.press("Escape")
    assert not window.page.locator("dialog").is_visible()


def test_no_key_fires_while_typing_or_with_a_modifier(window: Window) -> None:
    window.page.keyboard.press("/")
    window.page.keyboard.type("ngt?yj")
    assert window.page.input_value("input") == "ngt?yj"
    assert not window.page.locator("dialog").is_visible()
    window.go("/p/ops/backup")
    window.page.keyboard.press("Alt+n")
    assert window.page.evaluate("location.hash") == ""


def test_a_hit_opens_in_a_new_tab(window: Window) -> None:
    search(window, "vpn", "network.md:11")
    with window.page.context.expect_page() as opened:
        window.page.keyboard.press("Control+Enter")
    opened.value.wait_for_load_state()
    assert "/p/network?q=vpn#vpn" in opened.value.url
    assert "/?q=vpn" in window.page.url


def test_an_unfinished_sign_leaves_the_last_hits(window: Window) -> None:
    search(window, "vpn", "network.md:11")
    for sign in (' "ke', '"', " -"):
        window.page.keyboard.type(sign)
        window.until("text => decodeURIComponent(location.search).replaceAll('+', ' ').endsWith(text)", sign)
        window.page.wait_for_load_state("networkidle")
        assert window.selected == "network.md:11"
    window.page.fill("input", "--")
    window.until("decodeURIComponent(location.search) === '?q=--'")
    window.page.wait_for_load_state("networkidle")
    assert window.selected == "network.md:11"


def test_an_answer_that_comes_late_does_not_replace_a_newer_one(window: Window) -> None:
    page = window.page
    held: list[Route] = []

    def held_route(route: Route) -> None:  # Playwright wants a function of Python's own
        held.append(route)

    page.route("**/?q=vp", held_route)
    page.keyboard.press("/")
    page.keyboard.type("vp")
    window.until("location.search === '?q=vp'")
    page.keyboard.type("n key")
    window.until_text("network.md:11")
    assert len(held) == 1
    window.page.wait_for_load_state("networkidle")
    assert (page.input_value("input"), page.evaluate("location.search")) == ("vpn key", "?q=vpn+key")
    assert window.selected == "network.md:11"


def test_composing_asks_nothing_until_it_ends(window: Window) -> None:
    page = window.page
    page.evaluate(
        """() => {
            const box = document.querySelector("input");
            box.value = "日本";
            box.dispatchEvent(new InputEvent("input", { isComposing: true }));
        }"""
    )
    page.wait_for_load_state("networkidle")
    assert page.evaluate("location.search") == ""
    page.evaluate("document.querySelector('input').dispatchEvent(new CompositionEvent('compositionend'))")
    window.until("document.querySelector('.hit[aria-selected=true]')?.dataset.place.startsWith('日本.md')")


def test_a_click_on_a_page_in_the_list_is_found_again_by_going_back(window: Window) -> None:
    window.go("/?q=the")
    window.page.locator(".hit h2 a").nth(1).click()
    window.until("document.querySelector('main').dataset.part === 'page'")
    window.page.go_back()
    window.until("document.querySelectorAll('.hit')[1]?.ariaSelected === 'true'")
