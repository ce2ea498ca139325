"""Why a path is in the index or is not: the rule is named, and the scan that `build` makes agrees with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from indexerd.main import main
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree

FILES = {
    ".gitignore": "# comment\n\n*.tmp.md\n/drafts/\n",
    "a.md": "# A\n",
    "x.tmp.md": "# X\n",
    "drafts/deep/d.md": "# D\n",
    "sub/.wikiignore": "secret.md\n!kept.tmp.md\n",
    "sub/secret.md": "# S\n",
    "sub/kept.tmp.md": "# K\n",
    ".hidden/h.md": "# H\n",
    "node_modules/m/r.md": "# R\n",
    "notes.txt": "text\n",
}


@pytest.fixture
def wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wiki with something of every rule, built, in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", *(n for n in os.environ if n.startswith("INDEXERD_"))):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "wiki"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "link.md").symlink_to("a.md")
    (root / "linked").symlink_to("sub")
    assert main(["build", str(root)]) == 0
    monkeypatch.chdir(root)
    return root


def told(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capfd.readouterr()
    status = main(["why", *words])
    return status, capfd.readouterr().out


@pytest.mark.parametrize(
    "path, line",
    [
        ("a.md", "a.md: is a page\na.md: is in the index as a\n"),
        ("x.tmp.md", "x.tmp.md: left out: .gitignore:3: *.tmp.md\n"),
        ("drafts/deep/d.md", "drafts/deep/d.md: left out: drafts: .gitignore:4: /drafts/\n"),
        ("sub/secret.md", "sub/secret.md: left out: sub/.wikiignore:1: secret.md\n"),
        ("sub/kept.tmp.md", "sub/kept.tmp.md: is a page\nsub/kept.tmp.md: is in the index as sub/kept.tmp\n"),
        (".hidden/h.md", ".hidden/h.md: left out: .hidden: names that begin with a dot are hidden\n"),
        (
            "node_modules/m/r.md",
            "node_modules/m/r.md: left out: node_modules: folders of this name are passed over\n",
        ),
        ("notes.txt", "notes.txt: left out: its name ends in no extension of pages; see `wiki.extensions`\n"),
        ("sub", "sub: is a folder with 1 page\n"),
        (".", ".: is a folder with 2 pages\n"),
        (
            "linked",
            "linked: left out: it is a symbolic link that is not followed; see `wiki.follow_symlinks`\n",
        ),
    ],
)
def test_the_rule_that_leaves_a_path_out_is_told_or_its_row(
    wiki: Path, capfd: pytest.CaptureFixture[str], path: str, line: str
) -> None:
    assert told(capfd, path) == (0, line)


def test_a_link_with_the_name_of_a_page_is_told_by_its_diagnostic(
    wiki: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "link.md: link_not_followed: is a symbolic link" in told(capfd, "link.md")[1]


def test_a_configured_pattern_is_told_with_its_setting(
    wiki: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXERD_IGNORE", "b*,a.md")
    status, out = told(capfd, "a.md")
    assert status == 0
    assert out.startswith("a.md: left out: [wiki] ignore:2: a.md\n")
    assert "is in the index as a, until the next scan" in out


def test_a_page_that_is_new_or_gone_says_so(wiki: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (wiki / "new.md").write_text("# New\n")
    assert told(capfd, "new.md") == (
        0,
        f"new.md: is a page\nnew.md: is not in the index yet; indexerd build {wiki}\n",
    )
    (wiki / "a.md").unlink()
    assert told(capfd, "a.md") == (
        0,
        "a.md: is not there\na.md: is in the index as a, until the next scan\n",
    )
    assert told(capfd, "nothing.md") == (1, "nothing.md: is not there\n")


def test_a_path_in_no_wiki_is_a_usage_error_unless_its_root_is_named(
    wiki: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "o.md").write_text("# O\n")
    assert told(capfd, str(other / "o.md"))[0] == 64
    assert told(capfd, str(other / "o.md"), "--root", str(other))[0] == 0
    assert told(capfd, str(wiki / "a.md"), "--root", str(other))[0] == 66


def test_programs_are_told_the_same(wiki: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = json.loads(told(capfd, "x.tmp.md", "--json")[1])
    assert found["format"] == 1
    assert found["row"] is None
    assert found["left_out"] == {
        "path": "x.tmp.md",
        "rule": "ignored",
        "source": ".gitignore",
        "line": 3,
        "pattern": "*.tmp.md",
        "because": ".gitignore:3: *.tmp.md",
    }
    page = json.loads(told(capfd, "a.md", "--json")[1])
    assert (page["left_out"], page["row"]["slug"], page["pages"]) == (None, "a", 1)


def test_what_is_told_is_what_a_scan_does(wiki: Path) -> None:
    tree = Tree(str(wiki), TreeSettings())
    pages = set(tree.scan().stamps)
    for path in (*FILES, "link.md"):
        scan, left_out = tree.explain(path)
        assert (path in scan.stamps) == (path in pages)
        assert path in pages or left_out is not None or path in scan.diagnostics


def test_a_folder_without_pages_is_told_what_could_be_taken_in(
    tmp_path: Path, wiki: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("a.mdx", "b.mdx", "c.txt", "d.png"):
        (other / name).write_text("# A\n")
    capfd.readouterr()
    assert main(["build", str(other)]) == 0
    hint = (
        f"{other}: no page, but 2 .mdx files; to take them in, write "
        f'`extensions = ["md", "markdown", "mdx"]` below `[wiki]` in {other}/.wikiq.toml\n'
    )
    assert capfd.readouterr().err == f"indexerd: {hint}"
    monkeypatch.chdir(other)
    assert told(capfd, ".")[1] == f".: holds no page\n{hint}"
    (other / ".wikiq.toml").write_text('[wiki]\nextensions = ["md", "markdown", "mdx"]\n')
    assert main(["build", str(other)]) == 0
    built = capfd.readouterr()
    assert (built.out.split(",")[0], built.err) == ("2 pages", "")


def test_a_folder_whose_pages_are_all_left_out_is_told_how_to_learn_why(
    tmp_path: Path, wiki: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".gitignore").write_text("*\n")
    (other / "a.md").write_text("# A\n")
    capfd.readouterr()
    assert main(["build", str(other)]) == 0
    hint = f"no page; rules leave out 1: `indexerd why {other}/a.md` names one of them"
    assert capfd.readouterr().err == f"indexerd: {other}: {hint}\n"
    for name in (".gitignore", "a.md"):
        (other / name).unlink()
    assert main(["build", str(other)]) == 0
    assert capfd.readouterr().err == f"indexerd: {other}: no page\n"
