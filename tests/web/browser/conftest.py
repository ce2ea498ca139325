"""One headless Chromium for all tests of a module, and pages that remember what went wrong in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, BrowserContext, Page  # noqa: E402 - behind the line that may skip

from tests.web.served import Served  # noqa: E402

CHROMIUM: Final = shutil.which("chromium") or "/usr/bin/chromium"
QUIET: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE_MS: Final = 60_000


@dataclass(slots=True)
class Window:
    """A page of a browser that was let in, and how many streams it has open.

    `faults` are errors of the console and requests elsewhere.
    """

    page: Page
    server: Served
    patience_ms: int = PATIENCE_MS
    faults: list[str] = field(default_factory=list)
    streams: int = 0

    def count_stream(self, url: str, change: int) -> None:
        if url.endswith("/events"):
            self.streams += change

    def settle(self) -> Window:
        """The window, once what it has told until now was heard."""
        self.page.wait_for_timeout(20)
        return self

    def go(self, path: str) -> None:
        self.page.goto(f"http://localhost:{self.server.port}{path}")

    def until(self, condition: str, value: Any = None) -> None:
        """Wait until a condition holds, in JavaScript; a function of `value`, or an expression."""
        if value is None:  # an expression would be evaluated, which the policy of our pages forbids
            condition = f"() => {condition}"
        self.page.wait_for_function(condition, arg=value, timeout=self.patience_ms)

    def until_text(self, text: str, where: str = "main") -> None:
        self.until(
            "([where, text]) => document.querySelector(where)?.innerText.includes(text)", [where, text]
        )

    def until_address(self, ending: str) -> None:
        self.until("ending => decodeURI(location.href).endsWith(ending)", ending)

    @property
    def selected(self) -> str:
        place = self.page.evaluate("document.querySelector('.hit[aria-selected=true]')?.dataset.place || ''")
        return str(place)


Opener = Callable[..., Window]


@contextmanager
def launched() -> Iterator[Browser]:
    """One headless Chromium."""
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if shutil.which(CHROMIUM) is None:
        pytest.skip("chromium is not installed")
    with launched() as opened:
        yield opened


@pytest.fixture
def opener(browser: Browser) -> Iterator[Opener]:
    with opening(browser) as open_window:
        yield open_window


@contextmanager
def opening(browser: Browser, patience_ms: int = PATIENCE_MS) -> Iterator[Opener]:
    """Opens windows, each in a browser of its own unless `beside` another; none may have had a fault.

    `script` runs in a window before those of its pages.
    """
    with ExitStack() as contexts:
        windows: list[Window] = []

        def open_window(
            server: Served, *, beside: Window | None = None, script: str = "", **options: Any
        ) -> Window:
            context = beside.page.context if beside else _context(browser, contexts, options)
            window = Window(context.new_page(), server, patience_ms)
            page, faults = window.page, window.faults
            page.add_init_script(script)
            page.set_default_timeout(patience_ms)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda told: _note_error(told.type, told.text, faults))
            page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
            page.on("request", lambda request: _note_elsewhere(request.url, server, faults))
            page.on("request", lambda request: window.count_stream(request.url, 1))
            for ending in ("requestfailed", "requestfinished"):
                page.on(ending, lambda request: window.count_stream(request.url, -1))
            page.goto(server.address)
            windows.append(window)
            return window

        yield open_window
        assert [window.faults for window in windows if window.faults] == []


def _context(browser: Browser, contexts: ExitStack, options: dict[str, Any]) -> BrowserContext:
    context = browser.new_context(**({"viewport": {"width": 1400, "height": 900}} | options))
    contexts.callback(context.close)
    return context


def _note_error(kind: str, text: str, faults: list[str]) -> None:
    if kind == "error" and not text.startswith("Failed to load resource"):  # a page or index that is gone
        faults.append(text)


def _note_elsewhere(url: str, server: Served, faults: list[str]) -> None:
    if not url.startswith((f"http://localhost:{server.port}/", "data:")):
        faults.append(f"a request to {url}")
