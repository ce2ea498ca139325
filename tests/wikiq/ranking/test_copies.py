"""Copies of a text are one hit: which pages are copies, and which of them is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wikiq.asking import answer
from tests.wikiq.running import run_on_screen
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.answers.search import search
from wikiq.index.database import Database, open_database
from wikiq.model.request import SearchRequest
from wikiq.model.results import SearchResult
from wikiq.ranking.copies import split_language

OLD, NEW = "2024-01-01T00:00:00.000Z", "2025-01-01T00:00:00.000Z"
SPLATTING = "# Splatting\n\nHow to splat hashtable, of the parameters of a command, in version {}.\n"
PAGES = (
    *(SamplePage(f"docs/{one}/splat.md", SPLATTING.format(one)) for one in ("5.1", "7.4", "7.10")),
    SamplePage("kept/a.md", "# Quota\n\nThe quota is ten.\n", updated_at=NEW),
    SamplePage("kept/b.md", "# Quota\n\nThe quota is ten.\n", updated_at=OLD),
    SamplePage("kept/c.md", "# Quota\n\nThe quota is twenty.\n", updated_at=OLD),
    SamplePage("en/tar.md", "# tar\n\nWith this you can pack the files of a folder into an archive.\n"),
    SamplePage("de/tar.md", "# tar\n\nArchivprogramm: packt alle Dateien eines Ordners.\n"),
    SamplePage("zh/tar.md", "# tar\n\n归档工具。打包文件。\n"),
    SamplePage("hr/leave.md", "# Leave\n\nYou can ask for leave at the office of your manager.\n"),
    SamplePage("it/leave.md", "# Leave\n\nHand in the keys to your locker before you leave us.\n"),
    SamplePage("2023/retro.md", "# Retro\n\nThe retro of the old year.\n"),
    SamplePage("2024/retro.md", "# Retro\n\nThe retro of the new year.\n"),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    return write_sample(tmp_path_factory.mktemp("copies"), PAGES)


@pytest.fixture(scope="module")
def database(index: SampleIndex) -> Iterator[Database]:
    opened = open_database(str(index.db))
    yield opened
    opened.close()


def ask(database: Database, query: str, *, copies: bool = False, sections: bool = False) -> SearchResult:
    return answer(database, search, SearchRequest(query=query, copies=copies, sections=sections))


def found(result: SearchResult) -> list[tuple[str, list[str]]]:
    return [(hit.path, sorted(hit.copies)) for hit in result.hits]


@pytest.mark.parametrize("sections", [False, True])
def test_versions_of_a_page_are_one_hit_of_the_highest(database: Database, sections: bool) -> None:
    result = ask(database, "splat hashtable", sections=sections)
    assert found(result) == [("docs/7.10/splat.md", ["docs/5.1/splat.md", "docs/7.4/splat.md"])]
    assert (result.total, result.total_exact) == (1, True)


def test_the_same_text_is_one_hit_of_the_newest_page(database: Database) -> None:
    assert found(ask(database, "quota")) == [("kept/a.md", ["kept/b.md"]), ("kept/c.md", [])]


@pytest.mark.parametrize(
    "query, shown", [("tar", "en/tar.md"), ("打包 tar", "zh/tar.md"), ("tar alle Dateien packt", "de/tar.md")]
)
def test_translations_are_one_hit_in_the_language_of_the_question(
    database: Database, query: str, shown: str
) -> None:
    others = {"en/tar.md", "de/tar.md", "zh/tar.md"} - {shown}
    assert found(ask(database, query)) == [(shown, sorted(others))]


def test_two_english_texts_are_no_translations_of_each_other(database: Database) -> None:
    assert {path for path, _ in found(ask(database, "leave"))} == {"hr/leave.md", "it/leave.md"}


def test_years_are_no_versions(database: Database) -> None:
    assert {path for path, _ in found(ask(database, "retro"))} == {"2023/retro.md", "2024/retro.md"}


def test_copies_are_hits_of_their_own_where_that_is_asked_for(database: Database) -> None:
    result = ask(database, "splat hashtable", copies=True)
    assert (len(result.hits), result.total) == (3, 3)
    assert all(hit.copies == () for hit in result.hits)


def test_the_page_whose_path_was_typed_is_shown_and_no_newer_copy(database: Database) -> None:
    assert ask(database, "docs/5.1/splat.md").hits[0].path == "docs/5.1/splat.md"


def test_a_limit_counts_groups_and_the_copies_of_a_few_pages_do_not_fill_it(tmp_path: Path) -> None:
    pages = [
        SamplePage(f"v{version}.0/{name}.md", f"# {name}\n\nA rake of kind {name}.\n")
        for version in range(60)
        for name in ("one", "two", "three", "four", "five")
    ]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    result = answer(opened, search, SearchRequest(query="rake", limit=5))
    opened.close()
    assert sorted(hit.title for hit in result.hits) == ["five", "four", "one", "three", "two"]


def test_people_see_the_versions_a_hit_stands_in(index: SampleIndex) -> None:
    _, shown = run_on_screen("search", "splat hashtable", index=index)
    assert "also in 5.1, 7.4" in shown.decode()


@pytest.mark.parametrize(
    "path, split",
    [
        ("docs/zh-CN/a.md", ("docs/a.md", "zh-cn")),
        ("pages.pt_BR/tar.md", ("pages/tar.md", "pt_br")),
        ("a/tar.de.md", ("a/tar.md", "de")),
        ("a/sign-in.md", ("a/sign-in.md", "")),
        ("a/v1.2/tar.md", ("a/v1.2/tar.md", "")),
    ],
)
def test_the_language_of_a_path_is_a_folder_or_stands_behind_a_dot(path: str, split: tuple[str, str]) -> None:
    assert split_language(path) == split
