"""What the library gives viewers, editors and agents: bundles, pieces of pages, marks, changes in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import run_wikiq
from wikiq.answers.changes import changes
from wikiq.answers.line_range import read_lines
from wikiq.answers.links import backlinks
from wikiq.answers.marks import marks
from wikiq.answers.outline import outline
from wikiq.answers.page_bundle import page_bundle
from wikiq.answers.pages import page
from wikiq.answers.search import search
from wikiq.answers.subtree import subtree
from wikiq.errors import UnknownSectionError, UsageError
from wikiq.index.database import Snapshot, open_database
from wikiq.model.request import Filters, SearchRequest
from wikiq.model.results import ChangeRow, href, place

GUIDE = (
    "---\ntags: [howto]\n---\n# Guide\n\nRead the [**setup**](setup.md#linux) first.\n\n"
    "## Install\n\nInstalling it.\n\n### Linux\n\nUse the package.\n\n### macOS\n\nUse the image.\n\n"
    "## Run\n\nStart it.\n"
)
PAGES = {
    "guide.md": GUIDE,
    "setup.md": "# Setup\n\n## Linux\n\nSee [the guide](guide.md), where `it` is *told*.\n",
    "log.md": "# ログ\n\n検索の索引を作る。\r\nsecond\x0cline\r\n",
}


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    return build_wiki(tmp_path_factory.mktemp("faces"), PAGES)


@pytest.fixture
def snapshot(wiki: BuiltWiki) -> Iterator[Snapshot]:
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as state:
        yield state


def test_a_bundle_is_what_its_services_give_one_by_one(snapshot: Snapshot) -> None:
    bundle = page_bundle(snapshot, "guide#install")
    assert bundle.page == page(snapshot, "guide#install")
    assert bundle.page.topics == ("howto",)
    assert bundle.outline == outline(snapshot, "guide")
    assert [link.target_slug for link in bundle.links] == ["setup"]
    assert bundle.backlinks == backlinks(snapshot, "guide")


def test_a_link_tells_the_section_it_stands_in_and_its_line_without_markup(snapshot: Snapshot) -> None:
    (link,) = backlinks(snapshot, "guide")
    assert (link.title, link.heading_path, link.anchor) == ("Setup", ("Setup", "Linux"), "linux")
    assert link.context == "See [the guide](guide.md), where `it` is *told*."
    assert link.plain == "See the guide, where it is told."


def test_a_subtree_is_its_section_with_everything_deeper(snapshot: Snapshot) -> None:
    found = subtree(snapshot, "guide#install", 10_000)
    assert [section.heading for section in found.sections] == ["Install", "Linux", "macOS"]
    assert (found.next, found.left) == (None, 0)
    assert [section.heading for section in subtree(snapshot, "guide#linux", 10_000).sections] == ["Linux"]


@pytest.mark.parametrize("budget", [1, 30, 60, 10_000])
def test_pieces_of_a_subtree_end_at_sections_and_together_are_all_of_it(
    snapshot: Snapshot, budget: int
) -> None:
    whole = subtree(snapshot, "guide", 10_000).sections
    pieces = [subtree(snapshot, "guide", budget)]
    while pieces[-1].next is not None:
        pieces.append(subtree(snapshot, "guide", budget, start=pieces[-1].next))
    assert tuple(section for piece in pieces for section in piece.sections) == whole
    for piece in pieces:
        assert len(piece.sections) == 1 or sum(len(one.source) for one in piece.sections) <= budget


def test_a_piece_goes_on_within_its_subtree_only(snapshot: Snapshot) -> None:
    with pytest.raises(UnknownSectionError, match="is not in this subtree"):
        subtree(snapshot, "guide#install", 100, start="9999")


def test_lines_are_those_of_the_file(snapshot: Snapshot) -> None:
    assert read_lines(snapshot, "guide.md:4-6").source == "".join(GUIDE.splitlines(keepends=True)[3:6])
    last = read_lines(snapshot, "log.md:3-99")
    assert (last.start_line, last.end_line) == (3, 4)
    assert last.source.endswith("second\x0cline\r\n")


@pytest.mark.parametrize(
    "name, error",
    [
        ("guide.md:200-300", UnknownSectionError),
        ("guide.md:6-4", UsageError),
        ("guide.md:0-4", UsageError),
        ("guide.md", UsageError),
    ],
)
def test_lines_that_are_not_there_are_said(snapshot: Snapshot, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_lines(snapshot, name)


def test_show_takes_lines(wiki: BuiltWiki) -> None:
    assert run_wikiq("show", "guide.md:4-4", index=wiki.index).out == "# Guide\n"
    assert run_wikiq("show", "guide.md:4-4", "--json", index=wiki.index).json["end_line"] == 4
    assert run_wikiq("show", "guide.md:99-100", index=wiki.index).status == 1


@pytest.mark.parametrize(
    "query, name, expected",
    [
        ("install", "guide#install", ["Install", "Installing"]),
        ("packgae", "guide#linux", ["package"]),
        ("索引", "log", ["索引"]),
        ("", "guide", []),
    ],
)
def test_marks_are_ranges_of_the_source(
    snapshot: Snapshot, query: str, name: str, expected: list[str]
) -> None:
    source = page(snapshot, name).source
    found = [source[start:end] for start, end in marks(snapshot, query, name)]
    assert found == expected


def test_changes_come_in_whole_generations(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, PAGES)
    for edit in range(3):
        wiki.bring(PAGES | {f"new-{edit}.md": "# New\n", "guide.md": f"# Guide {edit}\n"})
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
        everything, since = changes(snapshot, 0), 0
        rows: list[ChangeRow] = []
        while since < snapshot.generation:
            piece = changes(snapshot, since, limit=2)
            assert piece.through > since
            rows += piece.rows
            since = piece.through
    assert tuple(rows) == everything.rows
    assert everything.through == everything.generation


@pytest.mark.parametrize("query", ["", "-", "-gone", '"'])
def test_nothing_typed_yet_is_an_answer_without_hits(snapshot: Snapshot, query: str) -> None:
    found = search(snapshot, SearchRequest(query=query, prefix=True))
    assert (found.hits, found.total, found.generation) == ((), 0, snapshot.generation)
    listed = search(snapshot, SearchRequest(query="", prefix=True, filters=Filters(topics=("howto",))))
    assert [hit.slug for hit in listed.hits] == ["guide"]


def test_a_hit_has_one_place_and_one_address(snapshot: Snapshot, wiki: BuiltWiki) -> None:
    hit = search(snapshot, SearchRequest(query="package")).hits[0]
    path, line = place(hit)
    assert href(hit) == "guide.md#linux"
    assert run_wikiq("package", index=wiki.index).out.startswith(f"{path}:{line}\t")
