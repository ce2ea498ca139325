"""Lines of ignore files against git itself, and what a hostile one may cost."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from indexerd.tree.gitignore import LONGEST_PATTERN, Pattern, PatternError, parse_pattern
from indexerd.tree.ignore import MOST_PATTERNS, MOST_PROBLEMS
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree

LONG_NAME = "a" * 250


def pattern(line: str) -> Pattern:
    found = parse_pattern(line)
    assert found is not None
    return found


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("# A page\n")


@pytest.mark.parametrize(
    "line, path, decides",
    [
        ("*.md", "a.md", True),
        ("*.md", "x/a.md", True),
        ("/*.md", "x/a.md", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("x/*c", "x/abc", True),
        ("x/[!a]c", "x/bc", True),
        ("[[:digit:]_-]x", "-x", True),
        ("[]-]", "]", True),
        ("[!]a-]", "b", True),
        ("[a-c]", "b", True),
        (r"\[a]", "[a]", True),
        (r"\#a", "#a", True),
        (r"a\ ", "a ", True),
        ("a ", "a", True),
        ("a\r", "a", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("a/***/c", "a/x/y/c", True),
        ("**/b/c", "b/c", True),
        ("**/b/c", "x/b/c", True),
        ("**/b/c", "xb/c", False),
        ("a/**/b*c*d/**/e", "a/bd/b1c2d/x/e", True),
        ("a**b", "axyb", True),
        ("*a*a", "a", False),
        ("**", "x/y", True),
    ],
)
def test_a_line_means_what_it_means_to_git(line: str, path: str, decides: bool) -> None:
    assert pattern(line).decides(path, folder=False) is decides


@pytest.mark.parametrize("line", ["", "  ", "# words", "/", "\r"])
def test_a_line_without_a_pattern_has_none(line: str) -> None:
    assert parse_pattern(line) is None


@pytest.mark.parametrize(
    "line", ["\\", "[a", "!", "a//b", "[z-a]", "[[:word:]]", "x" * (LONGEST_PATTERN + 1)]
)
def test_a_line_that_git_would_never_match_is_refused(line: str) -> None:
    with pytest.raises(PatternError):
        parse_pattern(line)


def test_a_line_as_long_as_a_name_may_be_is_read() -> None:
    assert pattern("x" * LONGEST_PATTERN).decides("x" * LONGEST_PATTERN, folder=False)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
@pytest.mark.parametrize("seed", range(8))
def test_random_lines_leave_out_what_git_would(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)

    def word(letters: str, most: int) -> str:
        return "".join(chance.choice(letters) for _ in range(chance.randint(1, most)))

    def line() -> str:
        # Git takes `b**` for `b*/**` where only letters stand before it; nobody means that.
        wild = word("ab*?", 4).replace("**", "*")
        parts = [chance.choice(("**", "*", wild, word("ab", 2), "[!a]*", "a[ab-c]*")) for _ in "abc"]
        glob = "/".join(parts[: chance.randint(1, 3)])
        return chance.choice(("", "", "!")) + chance.choice(("", "/")) + glob + chance.choice(("", "", "/"))

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    folders = ["", *("/".join(word("abc", 3) for _ in range(chance.randint(1, 3))) for _ in range(12))]
    plant(tmp_path, *(f"{folder}/{word('abc', 4)}.md".lstrip("/") for folder in folders for _ in "abcd"))
    for folder in chance.sample(folders, 4):
        (tmp_path / folder / ".gitignore").write_text("".join(f"{line()}\n" for _ in range(4)))
    listed = subprocess.run(
        ["git", "-C", tmp_path, "ls-files", "-o", "-z", "--exclude-standard", "*.md"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(Tree(str(tmp_path), TreeSettings()).scan().stamps) == set(listed.stdout.split("\0")) - {""}


@pytest.mark.parametrize(
    "line, path",
    [
        ("*a*a*a*a*a*ab", LONG_NAME),
        ("*a" * 100 + "b", LONG_NAME),
        ("*" + "a" * 120 + "b", LONG_NAME),
        ("**/a/" * 10 + "b", "/".join("a" * 128)),
        ("/".join(["**", "*a"] * 10), "/".join(["a" * 20 + "b"] * 120)),
    ],
)
def test_no_line_costs_more_than_its_length_times_that_of_the_path(line: str, path: str) -> None:
    began = time.process_time()
    assert not pattern(line).decides(path, folder=False)
    assert time.process_time() - began < 2  # a backtracking one takes years; this one some milliseconds


def test_patterns_past_the_limit_are_left_out_and_said(tmp_path: Path) -> None:
    plant(tmp_path, "last.md", "sub/past.md")
    lines = [f"{number}.md" for number in range(MOST_PATTERNS - 1)]
    (tmp_path / ".gitignore").write_text("\n".join([*lines, "last.md\n"]))
    (tmp_path / "sub" / ".wikiignore").write_text("# why\npast.md\n")
    found = Tree(str(tmp_path), TreeSettings()).scan()
    assert set(found.stamps) == {"sub/past.md"}
    assert {path: [said.line for said in told] for path, told in found.diagnostics.items()} == {
        "sub/.wikiignore": [2]
    }


def test_of_many_bad_lines_some_are_told(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("[\n" * 50_000)
    assert len(Tree(str(tmp_path), TreeSettings()).scan().diagnostics[".gitignore"]) == MOST_PROBLEMS
