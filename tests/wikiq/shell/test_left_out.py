"""A page that is asked for, is on the disk and not in the index: the rule that leaves it out is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import run_wikiq
from wikiq.errors import UnknownPageError
from wikiq.shell.left_out import explain_absence

PAGES = {"a.md": "# A\n", "guide/b.md": "# B\n"}


@pytest.fixture
def wiki(tmp_path: Path) -> BuiltWiki:
    """A wiki with a page, one that is ignored, and one that came later."""
    built = build_wiki(tmp_path, PAGES)
    root = built.index.root
    (root / ".gitignore").write_text("drafts/\n")
    (root / "drafts").mkdir()
    (root / "drafts" / "plan.md").write_text("# Plan\n")
    (root / "guide" / "late.md").write_text("# Late\n")
    (root / "guide" / "markdown_it.py").write_text("raise SystemExit('imported from the wiki')\n")
    return built


@pytest.mark.parametrize(
    "words, cwd, told",
    [
        (("show", "drafts/plan.md"), "", "drafts/plan.md: {}left out: drafts: .gitignore:1: drafts/"),
        (("outline", "drafts/plan"), "", "drafts/plan: {}left out: drafts: .gitignore:1: drafts/"),
        (("links", "late.md"), "guide", "late.md: {}`indexerd build {root}` takes it in"),
        (
            ("show", ".gitignore"),
            "",
            ".gitignore: {}left out: names that begin with a dot are hidden",
        ),
    ],
)
def test_a_page_that_is_on_the_disk_alone_is_told_with_what_leaves_it_out(
    wiki: BuiltWiki, words: tuple[str, ...], cwd: str, told: str
) -> None:
    root = wiki.index.root
    done = run_wikiq(*words, index=wiki.index, cwd=root / cwd)
    expected = told.format("is on the disk but not in the index; ", root=root)
    assert (done.status, done.out, done.err) == (1, "", f"wikiq: {expected}\n")


@pytest.mark.parametrize("printed", ["", "[]", "null", "{}", '{"left_out": "hidden", "pages": []}'])
def test_an_answer_that_is_not_understood_names_the_command_to_ask(
    wiki: BuiltWiki, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    done = subprocess.CompletedProcess[bytes]((), 0, stdout=printed.encode())
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    error = UnknownPageError("late.md", "there is no such page", "")
    explain_absence(error, str(wiki.index.root), str(wiki.index.root / "guide"))
    place = wiki.index.root / "guide" / "late.md"
    assert str(error) == f"late.md: is on the disk but not in the index; `indexerd why {place}` says why"


@pytest.mark.parametrize("name", ["nowhere", "../outside.md", "guide"])
def test_what_is_no_file_of_the_wiki_is_no_page_and_no_more(wiki: BuiltWiki, name: str) -> None:
    (wiki.index.root.parent / "outside.md").write_text("# Outside\n")
    done = run_wikiq("show", name, index=wiki.index)
    assert done.err.startswith(f"wikiq: {name}: there is no such page; ")
