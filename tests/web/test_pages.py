"""What a browser without a script gets: whole pages on every route, and each state in words."""

from __future__ import annotations

import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from tests.web.served import PAGES, Served, serving, write_wiki
from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.running import running_daemon
from wikiq.model.results import TopicRow
from wikiq.web import frame
from wikiq.web.hit_lists import cut_at
from wikiq.web.wiki_views import DEEPEST, tree_of

ROUTES: Final = (
    "/", "/?q=restore+table", "/?q=restore&topic=net&sections=1", "/?q=nowhere", "/?topic=net", "/?q=-",
    "/p/ops/backup?q=restore", "/p/index", "/p/empty", "/p/%E6%97%A5%E6%9C%AC",
    "/section?page=ops/backup.md:11&q=dump",
    "/topics", "/topics/net", "/file/tools/backup.sh", "/check", "/changes", "/status",
)  # fmt: skip
VOID: Final = frozenset({"meta", "link", "input", "br", "hr", "img"})


class Reader(HTMLParser):
    """Holds a page against the rules that every page keeps."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.bad: list[str] = []
        self.tags: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.bad += [f"{tag} {name}" for name in given if name.startswith("on") or name == "style"]
        self.bad += [tag] if tag == "style" or (tag == "script" and not given.get("src")) else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"/{tag}")


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_is_a_whole_page_without_inline_code(served: Served, route: str) -> None:
    answer = served.get(route)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Reader(answer.text)
    assert (page.bad, page.open) == ([], [])
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("h1") == page.tags.count("main") == 1
    assert answer.text.startswith("<!doctype html>")


@pytest.mark.parametrize("route", ROUTES)
def test_a_part_is_cut_from_the_same_template(served: Served, route: str) -> None:
    whole, part = served.get(route).text, served.get(route, X_Part="main")
    assert part.headers["vary"] == "x-part"
    assert not part.text.startswith("<!doctype")
    pattern = re.compile(r"<main.*</main>", re.DOTALL)
    if not route.startswith("/section"):  # a preview stands on another page, which has its heading already
        timeless = re.compile(r"\d+ ms|last scan \S+ \w+ ago|age_s|\d+ (s|min) ")
        one, other = (
            timeless.sub("", found[0]) for text in (whole, part.text) if (found := pattern.search(text))
        )
        assert one == other


def test_hits_lead_to_their_section_with_the_words(served: Served) -> None:
    html = served.get("/?q=fetch+the+dump").text
    assert 'href="/p/ops/backup?q=fetch+the+dump#restore-a-single-table"' in html
    assert "<mark>Fetch</mark>" in html
    assert "<bdi>ops/backup.md:13</bdi>" in html
    assert 'href="/topics/net"' in html


def test_the_last_word_is_a_beginning_on_every_way_to_the_list(served: Served) -> None:
    assert "ops/backup.md" in served.get("/?q=retent").text
    assert "<mark>Retention</mark>" in served.get("/p/ops/backup?q=retent").text


def test_a_page_shows_what_is_around_it(served: Served) -> None:
    html = served.get("/p/network").text
    assert '<section id="vpn"' in html
    assert "topics:" not in html  # the front matter
    assert 'href="/p/index"' in html  # linked from
    assert "Start with the network" in html
    backup = served.get("/p/ops/backup").text
    assert ">Backup and restore</bdi>" in served.get("/p/index").text  # where it leads, by title
    assert 'href="/file/tools/backup.sh"' in backup
    assert 'src="/files/ops/dot.png"' in backup
    assert 'src="/files/dot.svg"' in backup


@pytest.mark.parametrize(
    "path, location",
    [
        ("/p/network.md", "/p/network"),
        ("/p/Network", "/p/network"),
        ("/p/ops/backup.md:14?q=dump", "/p/ops/backup?q=dump#restore-a-single-table"),
        ("/p/ops/backup%23restore", "/p/ops/backup#restore"),
    ],
)
def test_another_name_of_a_page_leads_to_its_address(served: Served, path: str, location: str) -> None:
    answer = served.get(path)
    assert (answer.status, answer.headers["location"]) == (303, location)


def test_a_preview_is_one_section_with_what_is_below_it(served: Served) -> None:
    html = served.get("/section?page=ops/backup.md:10&q=dump", X_Part="section").text
    assert "Restore a single table" in html
    assert "<mark>dump</mark>" in html
    assert "Thirty days" not in html


@pytest.mark.parametrize(
    "path, status, words",
    [
        ("/?q=nowhere", 200, ["Nothing holds", "newest pages"]),
        ("/?q=netwrok", 200, ["No page has", "network"]),
        ("/?q=-", 200, ["Nothing to look for yet"]),
        ("/?q=%22half", 200, ["Nothing holds"]),
        ("/p/netwrok", 404, ["no such page", "network"]),
        ("/p/network%23vnp", 404, ["no such section", "network#vpn"]),
        ("/topics/nte", 404, ["no such topic", "net"]),
        ("/?q=a&topic=nte", 404, ["no such topic"]),
        ("/?q=a&since=never", 400, ["never"]),
        ("/section?page=", 400, ["names no page"]),
        ("/nothing", 404, ["no such address"]),
        ("/p/empty", 200, ["This page is empty"]),
        ("/file/no/such/file", 200, ["No page mentions"]),
        ("/", 200, ["the daemon is not running", "indexerd run"]),
    ],
)
def test_a_state_is_said_in_words(served: Served, path: str, status: int, words: list[str]) -> None:
    answer = served.get(path)
    assert answer.status == status
    for word in words:
        assert word in answer.text


def test_a_daemon_that_runs_is_told_by_live(served: Served) -> None:
    with running_daemon(served.wiki.index):
        html = served.get("/").text
    assert 'class="state live"' in html
    assert "warning" not in html


def test_changed_and_gone_pages_are_flagged(tmp_path: Path) -> None:
    with serving(write_wiki(tmp_path)) as server:
        root = server.wiki.index.root
        (root / "network.md").write_text("# Other\n\nmore\n")
        (root / "index.md").unlink()
        assert '<strong class="flag">changed</strong>' in server.get("/?q=vpn").text
        assert '<strong class="flag">gone</strong>' in server.get("/?q=start").text
        assert "has changed on the disk" in server.get("/p/network").text
        assert "gone from the disk" in server.get("/p/index").text


def test_an_empty_wiki_says_so(tmp_path: Path) -> None:
    with serving(build_wiki(tmp_path, {})) as server:
        assert "This wiki has no pages yet." in server.get("/").text
        for path in ("/topics", "/check", "/changes", "/status"):
            assert server.get(path).status == 200


def test_an_index_that_is_gone_damaged_or_replaced_is_told_and_taken_up_again(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path)
    db = wiki.index.db
    with serving(wiki) as server:
        assert server.get("/").status == 200
        away = db.rename(db.with_name("away.db"))
        gone = server.get("/?q=vpn")
        assert (gone.status, 'class="state lost"' in gone.text) == (503, True)
        assert server.get("/api/status").status == 503
        db.write_bytes(b"no index" * 1000)
        assert server.get("/p/network").status == 503
        db.unlink()
        away.rename(db)
        assert server.get("/?q=vpn").status == 200
        other = build_wiki(tmp_path / "other", {"new.md": "# New\n\nall new\n"})
        other.index.db.rename(db)
        assert "all <mark>new</mark>" in server.get("/?q=new").text


def test_a_question_that_takes_too_long_is_said_so(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {f"{number}.md": f"# Page {number}\n\nword\n" for number in range(200)})
    hurried = "import wikiq.index.database as d\nd.DEADLINE_S = 0.0\nfrom wikiq.main import main\nmain()\n"
    with serving(wiki, program=(sys.executable, "-c", hurried)) as server:
        page, document = server.get("/?q=word"), server.get("/api/search?q=word")
    assert (page.status, document.status) == (504, 504)
    told = document.json["error"]
    assert told["remedy"] in unescape(page.text)
    assert told["problem"][1:] in unescape(page.text)


def test_a_first_build_says_how_far_it_is(tmp_path: Path) -> None:
    wiki = write_wiki(tmp_path)
    wiki.index.alter("INSERT OR REPLACE INTO meta (key, value) VALUES ('building', '1')")
    with serving(wiki) as server:
        assert f"{len(PAGES)} pages so far" in server.get("/").text


def test_a_page_too_large_to_render_is_shown_as_its_source(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {"big.md": "# Big\n\n" + ("a" * 9_999 + "\n") * 201})
    with serving(wiki) as server:
        html = server.get("/p/big").text
    assert "Shown as its source: the page has more than" in html
    assert 'href="/raw/big.md"' in html


def test_the_source_of_a_page_is_plain_text(served: Served) -> None:
    answer = served.get("/raw/network.md")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == PAGES["network.md"]


def test_script_and_style_sheet_stay_small_and_may_be_kept(served: Served) -> None:
    sizes = [len((Path(frame.STATIC) / name).read_bytes()) for name in frame.ASSETS]
    assert sum(sizes) <= 16 * 1024
    address = re.findall(r'"(/static/[^"]+)"', served.get("/").text)
    assert len(address) == 2
    for one in address:
        answer = served.get(one)
        assert (answer.status, "immutable" in answer.headers["cache-control"]) == (200, True)


def test_a_text_is_cut_at_its_ranges_whatever_its_characters() -> None:
    text = "a𝒳 日本 עברית 👩‍👩‍👧 end"
    pieces = cut_at(text, ((1, 2), (3, 5), (6, 11)))
    assert [piece for piece, marked in pieces if marked] == ["𝒳", "日本", "עברית"]
    assert "".join(piece for piece, _ in pieces) == text


def topic_row(topic: str, *parents: str) -> TopicRow:
    return TopicRow(topic=topic, title=None, description=None, parents=parents, pages=1, pages_under=1)


def placed(*rows: TopicRow) -> list[tuple[str, int]]:
    return [(topic.row.topic, topic.depth) for topic in tree_of(rows)]


def test_a_circle_of_topics_is_no_endless_tree() -> None:
    rows = [topic_row("a", "b"), topic_row("b", "a"), topic_row("c", "c", "gone"), topic_row("d")]
    assert placed(*rows, topic_row("e", "d"))[:2] == [("d", 0), ("e", 1)]
    assert {name for name, _ in placed(*rows)} == {"a", "b", "c", "d"}  # each is reached


def test_a_topic_below_two_has_its_own_below_it_at_its_first_place() -> None:
    rows = [topic_row("a"), topic_row("b"), topic_row("c", "a", "b"), topic_row("d", "c")]
    assert placed(*rows) == [("a", 0), ("c", 1), ("d", 2), ("b", 0), ("c", 1)]


def test_a_hostile_graph_of_topics_is_shown_in_as_many_lines_as_it_has_edges() -> None:
    levels = [[topic_row(f"0{side}") for side in "ab"]]
    for number in range(1, 2_000):
        above = [row.topic for row in levels[-1]]
        levels.append([topic_row(f"{number}{side}", *above) for side in "ab"])
    tree = placed(*(row for level in levels for row in level))
    assert len(tree) == 2 + 4 * 1_999
    assert max(depth for _, depth in tree) == DEEPEST
