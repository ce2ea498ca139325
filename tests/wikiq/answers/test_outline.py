"""Outline, expansion and heading paths: of which sections they speak, as services and as commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wikiq.asking import answer
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import run_wikiq
from wikiq.answers.outline import expand, outline, resolve
from wikiq.errors import UnknownPageError, UnknownSectionError
from wikiq.index.database import Database, open_database

GUIDE = """Before all.

# Guide

Hello.

## Install

Get it.

### Linux

apt

### macOS

brew

#### Old versions

port

## Install "it"

quoted

## Retry

once

## Retry

twice
"""
LONG = "# Long\n\n" + "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(30)) + "\n"
PAGES = {
    "guide.md": GUIDE,
    "front.md": "---\ntitle: Front\n---\n## A\n\na\n\n### B\n\nb\n\n### B,C\n\nbc\n\n## A\n\nagain\n",
    "odd.md": '---\ntitle: Odd\n---\n# "\n\nq\n\n## ","\n\n## \\\\\n\nb\n\n#\n\n## ] [\n\n# ","\n\n## "\n',
    "long.md": LONG,
    "bare.md": "Just text.\n\nMore.\n",
}


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    return build_wiki(tmp_path_factory.mktemp("structure"), PAGES)


@pytest.fixture
def database(wiki: BuiltWiki) -> Iterator[Database]:
    opened = open_database(str(wiki.index.db))
    yield opened
    opened.close()


def headings(database: Database, name: str, depth: int = 2) -> list[str]:
    return [section.heading for section in answer(database, expand, name, depth=depth).sections]


def test_an_outline_tells_levels_paths_anchors_and_lines(database: Database) -> None:
    found = answer(database, outline, "guide")
    assert (found.slug, found.title, found.path) == ("guide", "Guide", "guide.md")
    assert [(row.level, row.heading, row.start_line, row.anchor) for row in found.sections[:4]] == [
        (0, "Guide", 1, ""),
        (1, "Guide", 3, "guide"),
        (2, "Install", 7, "install"),
        (3, "Linux", 11, "linux"),
    ]
    assert found.sections[3].heading_path == ("Guide", "Install", "Linux")
    assert found.sections[3].section_path == ("Install", "Linux")


@pytest.mark.parametrize(
    "name, depth, expected",
    [
        ("guide#old-versions", 2, ["macOS", "Old versions"]),
        ("guide#old-versions", 1, ["Install", "Linux", "macOS", "Old versions"]),
        ("guide#linux", 2, ["Linux"]),
        ("guide#install", 2, ["Install", "Linux", "macOS", "Old versions"]),
        ('guide#Install "it"', 2, ['Install "it"']),
        ("guide#retry", 2, ["Retry", "Retry"]),
        ("guide#Install > macOS", 2, ["macOS", "Old versions"]),
        ("guide#Guide > Install > macOS", 2, ["macOS", "Old versions"]),
        ("front#b", 2, ["B"]),
        ("front#b", 1, ["A", "B", "B,C", "A"]),
        ("front", 2, ["A", "B", "B,C", "A"]),
        ("front#b", 0, ["A", "B", "B,C", "A"]),
        ("odd#0001", 1, ['"', '","', "\\"]),
        ("odd#0001", 2, ['","']),
        ("odd#0005", 1, ['","', '"']),
        ("bare", 2, ["bare"]),
    ],
)
def test_an_expansion_is_all_that_shares_the_first_elements_of_the_path(
    database: Database, name: str, depth: int, expected: list[str]
) -> None:
    assert headings(database, name, depth) == expected


def test_an_expansion_has_the_text_of_its_sections(database: Database) -> None:
    found = answer(database, expand, "guide#macos")
    assert found.section_path == ("Install", "macOS")
    text = GUIDE[GUIDE.index("### macOS") : GUIDE.index('## Install "it"')]
    assert "".join(section.source for section in found.sections) == text


def test_every_path_of_an_outline_resolves_to_its_section_with_and_without_a_redundant_title(
    database: Database,
) -> None:
    for path in PAGES:
        for row in answer(database, outline, path).sections:
            for heading_path in (row.heading_path, row.section_path):
                found = [section.section_id for section in answer(database, resolve, path, heading_path)]
                assert row.section_id in found


def test_sections_that_share_a_path_are_given_in_order_and_an_introduction_last(database: Database) -> None:
    assert [section.start_line for section in answer(database, resolve, "guide", ["Retry"])] == [27, 31]
    for path in ((), ("Guide",)):
        assert [section.level for section in answer(database, resolve, "guide", path)] == [1, 0]


def test_a_path_as_chunks_show_it_resolves_too(database: Database) -> None:
    assert [section.heading for section in answer(database, resolve, "long", ["part 2 of 5"])] == ["Long"]
    assert [section.level for section in answer(database, resolve, "bare", ["lines 1–3"])] == [0]
    assert answer(database, resolve, "guide", ["Install", "lines"]) == ()


def test_a_miss_says_what_there_is(database: Database) -> None:
    with pytest.raises(UnknownPageError):
        answer(database, outline, "gone")
    with pytest.raises(UnknownSectionError, match="did you mean guide#linux"):
        answer(database, expand, "guide#linu")


def test_the_outline_is_printed_with_tabs_as_rows_and_as_a_document(wiki: BuiltWiki) -> None:
    plain = run_wikiq("outline", "guide.md", index=wiki.index)
    assert plain.out.splitlines()[2] == "guide.md:7\t2\tInstall\tinstall"
    document = run_wikiq("outline", "guide", "--json", index=wiki.index).json
    assert (document["format"], document["slug"], len(document["sections"])) == (1, "guide", 9)
    lines = run_wikiq("outline", "guide", "--format", "{path}:{line} {heading}", index=wiki.index).out
    assert lines.splitlines()[1] == "guide.md:3 Guide"


def test_the_expansion_is_printed_as_text_and_as_a_document(wiki: BuiltWiki) -> None:
    plain = run_wikiq("expand", "guide#macos", index=wiki.index)
    assert (plain.status, plain.out) == (0, "### macOS\n\nbrew\n\n#### Old versions\n\nport\n\n")
    document = run_wikiq("expand", "guide#macos", "--json", "--depth", "1", index=wiki.index).json
    assert document["section_path"] == ["Install"]
    assert [section["heading"] for section in document["sections"]][1:3] == ["Linux", "macOS"]
    missing = run_wikiq("expand", "guide#gone", index=wiki.index)
    assert (missing.status, missing.out) == (1, "")
    assert "there is no such section" in missing.err


def test_open_starts_the_editor_at_the_line_of_the_section(wiki: BuiltWiki, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    editor.chmod(0o755)
    done = run_wikiq("open", "guide#linux", index=wiki.index, EDITOR=f"{editor} --wait")
    told = (tmp_path / "told").read_text().splitlines()
    assert (done.status, told) == (0, ["--wait", "+11", "--", str(wiki.index.root / "guide.md")])
    run_wikiq("open", "guide.md:12", index=wiki.index, EDITOR=f"{editor} --wait")
    assert (tmp_path / "told").read_text().splitlines()[1] == "+12"
    failed = run_wikiq("open", "guide", index=wiki.index, EDITOR="no-such-editor")
    assert failed.status == 2
    assert "set VISUAL or EDITOR" in failed.err
