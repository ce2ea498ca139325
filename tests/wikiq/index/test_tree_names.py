"""What lies in a tree, asked by path, by folded path and by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikiq.index.tree_names import TreeNames

FILES = ("img/Pic.png", "ca/Clipper/Plantilles.md", "Top.md", ".hidden/secret.png", "Übung/e\u0301.txt")


@pytest.fixture
def tree(tmp_path: Path) -> TreeNames:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    return TreeNames(str(tmp_path))


@pytest.mark.parametrize(
    "path, stands",
    [
        ("img/Pic.png", True),
        ("img", True),
        (".hidden/secret.png", True),
        ("img/gone.png", False),
        ("../etc", False),
        ("/etc", False),
        ("a\0b", False),
    ],
)
def test_a_path_stands_below_the_root_or_not_at_all(tree: TreeNames, path: str, stands: bool) -> None:
    assert tree.has_path(path) is stands


@pytest.mark.parametrize(
    "path, stands",
    [("img/pic.png", True), ("übung/é.txt", True), ("img", True), ("img/gone", False), ("top.md/x", False)],
)
def test_a_folded_path_is_found_whatever_its_case(tree: TreeNames, path: str, stands: bool) -> None:
    assert tree.has_folded_path(path) is stands


@pytest.mark.parametrize(
    "name, path",
    [
        ("pic.png", "img/Pic.png"),
        ("PIC.PNG", "img/Pic.png"),
        ("img/pic.png", "img/Pic.png"),
        ("plantilles", "ca/Clipper/Plantilles.md"),
        ("Clipper/Plantilles", "ca/Clipper/Plantilles.md"),
        ("ca/clipper/plantilles.md", "ca/Clipper/Plantilles.md"),
        ("top", "Top.md"),
        ("lipper/Plantilles", None),
        ("Other/Plantilles", None),
        ("x/top", None),
        ("secret.png", None),
        ("pic", None),
    ],
)
def test_a_name_lies_anywhere_below_its_last_folders(tree: TreeNames, name: str, path: str | None) -> None:
    assert tree.find_name(name, "") == path


@pytest.mark.parametrize("beside, path", [("a/deep", "a/x/one.txt"), ("b", "b/one.txt"), ("c", "b/one.txt")])
def test_of_files_with_one_name_the_nearest_is_meant_then_the_shortest(
    tmp_path: Path, beside: str, path: str
) -> None:
    for name in ("a/x/one.txt", "b/one.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"")
    assert TreeNames(str(tmp_path)).find_name("One.txt", beside) == path
