"""Open pages follow the wiki: edits, deletions, renames, a rebuild, a daemon that comes and goes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Route

from tests.crash.process import LiveDaemon, wait_until
from tests.web.browser.conftest import Opener, Window
from tests.web.served import PAGES, PATIENCE_S, Served, serving
from tests.wikiq.built_wiki import BuiltWiki
from tests.wikiq.sample_index import SampleIndex

pytestmark = pytest.mark.slow

TABS: Final = 12
STORM: Final = 3_000  # pages
# A browser without locks, whose tabs are hidden and shown by a test.
WITHOUT_LOCKS: Final = """
    Object.defineProperty(navigator, "locks", { value: undefined });
    Object.defineProperty(document, "hidden", { get: () => window.isAway });
    window.show = isShown => {
        window.isAway = !isShown;
        document.dispatchEvent(new Event("visibilitychange"));
    };
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    """A daemon that follows the small wiki."""
    folder = tmp_path_factory.mktemp("following")
    daemon = LiveDaemon(folder / "wiki", folder / "state" / "index.db")
    write_pages(daemon.root)
    daemon.start()
    yield daemon
    if daemon.process is not None:
        daemon.stop()


@pytest.fixture(scope="module")
def served(daemon: LiveDaemon) -> Iterator[Served]:
    with serving(BuiltWiki(SampleIndex(root=daemon.root, db=daemon.db)), "--db", str(daemon.db)) as server:
        yield server


@pytest.fixture
def live(daemon: LiveDaemon) -> LiveDaemon:
    """The daemon, with the wiki as it was before any test."""
    for path in daemon.root.rglob("*.md"):
        if path.relative_to(daemon.root).as_posix() not in PAGES:
            path.unlink()
    write_pages(daemon.root)
    if daemon.process is None:
        daemon.start()
    daemon.wait_equal(PATIENCE_S)
    return daemon


def write_pages(root: Path) -> None:
    for path, text in PAGES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.fixture
def window(opener: Opener, served: Served) -> Window:
    return opener(served)


def until_followed(window: Window) -> None:
    """Until the page is told of commits: what is saved before that is caught up with, and proves nothing."""
    window.until("async () => (await navigator.locks.query()).held.length === 1", 1)


def test_an_edit_shows_without_losing_the_place(live: LiveDaemon, window: Window) -> None:
    page = window.page
    long = "# Long\n\n" + "".join(f"## Part {n}\n\nWords of part {n}.\n\n" for n in range(60))
    (live.root / "long.md").write_text(long)
    window.go("/")
    window.until_text("Long")
    window.go("/p/long#part-30")
    until_followed(window)
    page.evaluate(
        """() => {
            const words = document.querySelector("#part-30 p").firstChild;
            getSelection().setBaseAndExtent(words, 0, words, 5);
            document.querySelector("input").value = "half a quest";
        }"""
    )
    before = page.evaluate("document.querySelector('#part-30').getBoundingClientRect().top")
    (live.root / "long.md").write_text(long.replace("Words of part 31", "Fresh words of part 31"))
    window.until_text("Fresh words of part 31")
    after = page.evaluate("document.querySelector('#part-30').getBoundingClientRect().top")
    assert abs(before - after) < 2
    assert page.evaluate("getSelection().toString()") == "Words"
    assert page.input_value("input") == "half a quest"


def test_a_list_keeps_its_selected_hit(live: LiveDaemon, window: Window) -> None:
    window.go("/?q=the")
    until_followed(window)
    window.page.keyboard.press("j")
    window.page.keyboard.press("j")
    chosen = window.selected
    (live.root / "first.md").write_text("# The the the\n\nThe the the the.\n")
    window.until_text("The the the the")
    assert window.selected == chosen


def test_deleted_and_renamed_pages_say_so(live: LiveDaemon, window: Window) -> None:
    window.go("/p/network")
    until_followed(window)
    (live.root / "network.md").rename(live.root / "net.md")
    window.until_text("net.md", "aside")  # the title is the same, and leads there
    (live.root / "net.md").unlink()
    window.until_text("There is no such page")


def test_topics_and_problems_follow_too(live: LiveDaemon, opener: Opener, served: Served) -> None:
    topics = opener(served)
    topics.go("/topics")
    check = opener(served, beside=topics)
    check.go("/check")
    (live.root / "more.md").write_text("---\ntopics: [brand-new]\n---\n# More\n\n[gone](nowhere.md)\n")
    topics.until_text("brand-new")
    check.until_text("nowhere.md")


def test_a_daemon_that_stops_and_starts_is_told(live: LiveDaemon, window: Window) -> None:
    window.until("document.querySelector('.state.live')")
    live.stop()
    window.until_text("the daemon is not running")
    window.until("document.querySelector('.state.behind')")
    live.start()
    window.until("document.querySelector('.state.live')")


def test_a_daemon_that_stops_before_the_stream_opens_is_told(live: LiveDaemon, window: Window) -> None:
    def stop_first(route: Route) -> None:
        if live.process is not None:
            live.stop()
        route.continue_()

    window.page.route("**/events", stop_first)
    window.go("/p/network")
    window.until_text("the daemon is not running")
    assert live.process is None


def test_a_rebuilt_index_takes_the_place_of_the_old_one(live: LiveDaemon, window: Window) -> None:
    window.go("/p/network")
    until_followed(window)
    before = window.page.get_attribute("main", "data-at")
    live.stop()
    (live.root / "network.md").write_text("# Network\n\nRebuilt words.\n")
    for file in live.db.parent.glob("index.db*"):
        file.unlink()
    build = [str(Path(sys.executable).with_name("indexerd")), "build", str(live.root), "--db", str(live.db)]
    subprocess.run(build, check=True, capture_output=True, timeout=120, env=dict(os.environ))
    window.until_text("Rebuilt words.")
    after = window.page.get_attribute("main", "data-at")
    assert str(before).partition(":")[0] != str(after).partition(":")[0]


def test_an_index_that_goes_and_comes_back_is_told(live: LiveDaemon, window: Window) -> None:
    until_followed(window)
    live.stop()
    away = live.db.rename(live.db.with_name("away.db"))
    window.until("document.querySelector('.state.lost')")
    away.rename(live.db)
    window.until_text("Network")


def test_a_lost_stream_is_told_and_caught_up_with(live: LiveDaemon, window: Window) -> None:
    page = window.page
    page.route("**/events", lambda route: route.fulfill(content_type="text/event-stream", body=""))
    window.go("/p/network")
    window.until("document.querySelector('.state').textContent === 'reconnecting'")
    (live.root / "network.md").write_text("# Network\n\nWritten meanwhile.\n")
    live.wait_equal(20)
    page.unroute("**/events")
    window.until_text("Written meanwhile.")
    window.until("document.querySelector('.state.live')")


def test_twelve_tabs_share_one_stream(live: LiveDaemon, opener: Opener, served: Served) -> None:
    first = opener(served)
    tabs = [first, *(opener(served, beside=first) for _ in range(TABS - 1))]
    for tab in tabs:
        tab.go("/p/network")
        tab.until_text("The gateway.")
    until_followed(first)
    assert len(first.page.evaluate("navigator.locks.query()")["pending"]) == TABS - 1
    (live.root / "network.md").write_text("# Network\n\nSeen by all.\n")
    for tab in tabs:
        tab.until_text("Seen by all.")
    assert sum(tab.streams for tab in tabs) == 1
    leader = next(tab for tab in tabs if tab.streams)
    leader.page.close()
    rest = [tab for tab in tabs if tab is not leader]
    until_followed(rest[0])
    (live.root / "network.md").write_text("# Network\n\nSeen by the rest.\n")
    for tab in rest:
        tab.until_text("Seen by the rest.")
    assert sum(tab.streams for tab in rest) == 1


def test_without_locks_only_the_visible_tab_holds_a_stream(
    live: LiveDaemon, opener: Opener, served: Served
) -> None:
    first = opener(served, script=WITHOUT_LOCKS)
    first.go("/p/network")
    first.page.evaluate("show(false)")
    second = opener(served, beside=first, script=WITHOUT_LOCKS)
    second.go("/p/network")
    second.until("document.querySelector('.state.live')")
    wait_until(lambda: (first.settle().streams, second.settle().streams) == (0, 1), PATIENCE_S, "one stream")
    (live.root / "network.md").write_text("# Network\n\nSeen by the one that is shown.\n")
    second.until_text("Seen by the one that is shown.")
    second.page.evaluate("show(false)")
    first.page.evaluate("show(true)")
    first.until_text("Seen by the one that is shown.")
    wait_until(lambda: (first.settle().streams, second.settle().streams) == (1, 0), PATIENCE_S, "one stream")


def test_a_storm_is_at_most_one_refresh_a_second(live: LiveDaemon, opener: Opener, served: Served) -> None:
    """The last of these tests: what it writes need not be taken away again."""
    window = opener(served)
    window.go("/?q=storm")
    until_followed(window)
    beside = opener(served, beside=window)
    beside.go("/topics")
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url) if "q=storm" in request.url else None)
    began = time.monotonic()
    for number in range(STORM):
        (live.root / f"storm-{number}.md").write_text(f"# Storm {number}\n\nA storm.\n")
    live.wait_equal(120)
    window.until_text(f"{STORM} pages")
    passed = time.monotonic() - began
    assert 0 < len([url for url in asked if "/section" not in url]) <= passed + 2
