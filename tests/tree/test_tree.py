"""Which files are pages, seen on real folders: names, ignore files, links, odd files, unreadable ones."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from indexerd.core.model import Diagnostic
from indexerd.core.page.names import escape_name
from indexerd.core.sync.plan import Unread, Vanished
from indexerd.errors import ConfigurationError, NotPermittedError, RootError
from indexerd.tree.ignore import IgnoreRules
from indexerd.tree.scanner import DEEPEST_FOLDER, Stopped, TreeSettings, Walk
from indexerd.tree.tree import Content, Oversized, Tree
from tests.another_user import as_nobody


def plant(root: Path, *paths: str, text: str = "# Page\n") -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def pages(root: Path, settings: TreeSettings | None = None, covers: tuple[str, ...] = ("",)) -> set[str]:
    return set(Tree(str(root), settings or TreeSettings()).scan(covers).stamps)


def problems(root: Path, settings: TreeSettings | None = None) -> dict[str, str]:
    found = Tree(str(root), settings or TreeSettings()).scan().diagnostics
    return {path: diagnostics[0].kind for path, diagnostics in found.items()}


@pytest.fixture
def open_root() -> Iterator[Path]:
    """A folder that every user may enter, unlike tmp_path."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_a_page_is_a_regular_file_with_a_page_extension_in_any_case(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.MD", "c.Markdown", "d/e.md", "f.txt", "md", "g.md.bak")
    assert pages(tmp_path) == {"a.md", "b.MD", "c.Markdown", "d/e.md"}


def test_extensions_can_be_configured(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.txt")
    assert pages(tmp_path, TreeSettings(extensions=("txt",))) == {"b.txt"}


@pytest.mark.parametrize(
    "name",
    [".x.md", ".x.md.swp", "x.md~", "#x.md#", ".#x.md", "4913", ".obsidian/x.md", "a/node_modules/x.md"],
)
def test_hidden_names_editor_litter_and_installed_packages_are_no_pages(tmp_path: Path, name: str) -> None:
    plant(tmp_path, name, "page.md")
    assert pages(tmp_path) == {"page.md"}
    assert pages(tmp_path, covers=(name, "page.md")) == {"page.md"}


def test_filters_do_not_look_at_what_is_above_the_root(tmp_path: Path) -> None:
    plant(tmp_path / ".notes/node_modules/wiki", "a.md")
    assert pages(tmp_path / ".notes/node_modules/wiki") == {"a.md"}


@pytest.mark.parametrize(
    "files, kept",
    [
        ({".gitignore": "drafts/\n*.tmp.md\n"}, {"a.md", "sub/a.md", "sub/b.md"}),
        ({".gitignore": "/a.md\n"}, {"drafts/a.md", "sub/a.md", "sub/b.md", "x.tmp.md"}),
        ({".gitignore": "*.md\n!a.md\n"}, {"a.md", "sub/a.md", "drafts/a.md"}),
        ({".gitignore": "sub/*\n!sub/b.md\n"}, {"a.md", "drafts/a.md", "sub/b.md", "x.tmp.md"}),
        ({".gitignore": "a.md\n", "sub/.gitignore": "!a.md\n"}, {"sub/a.md", "sub/b.md", "x.tmp.md"}),
        ({"sub/.gitignore": "/a.md\n"}, {"a.md", "drafts/a.md", "sub/b.md", "x.tmp.md"}),
        ({".gitignore": "a.md\n", ".wikiignore": "!/a.md\n"}, {"a.md", "sub/b.md", "x.tmp.md"}),
        (
            {".wikiignore": "# only a comment\n\n"},
            {"a.md", "drafts/a.md", "sub/a.md", "sub/b.md", "x.tmp.md"},
        ),
        ({".gitignore": "sub/\n", "sub/.gitignore": "!b.md\n"}, {"a.md", "drafts/a.md", "x.tmp.md"}),
    ],
)
def test_ignore_files_leave_out_what_git_would(tmp_path: Path, files: dict[str, str], kept: set[str]) -> None:
    everything = ("a.md", "drafts/a.md", "sub/a.md", "sub/b.md", "x.tmp.md")
    plant(tmp_path, *everything)
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    assert pages(tmp_path) == kept
    assert pages(tmp_path, covers=everything) == kept  # a single path is judged like the whole


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
def test_a_linked_worktree_in_the_tree_is_left_out_and_a_submodule_is_not(tmp_path: Path) -> None:
    root, other = tmp_path / "wiki", tmp_path / "other"

    def git(folder: Path, *words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *identity, "-C", folder, *words], check=True, capture_output=True)

    for folder in (root, other):
        plant(folder, "a.md", "docs/b.md")
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "one")
    git(root, "worktree", "add", "../wiki/copies/wt")
    git(root, "submodule", "add", str(other), "module")
    git(other, "worktree", "add", str(root / "guest"))
    own = {"a.md", "docs/b.md", "module/a.md", "module/docs/b.md", "guest/a.md", "guest/docs/b.md"}
    found = Tree(str(root), TreeSettings()).scan()
    assert set(found.stamps) == own
    assert {path: said[0].kind for path, said in found.diagnostics.items()} == {
        "copies/wt": "linked_worktree"
    }
    assert pages(root, covers=("copies/wt/a.md", "guest/a.md")) == {"guest/a.md"}
    assert pages(root / "copies/wt") == {"a.md", "docs/b.md"}
    _, left_out = Tree(str(root), TreeSettings()).explain("copies/wt/a.md")
    assert left_out is not None
    assert left_out.rule == "worktree"


def test_gitignore_can_be_switched_off_and_patterns_configured(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.md", "old/c.md")
    (tmp_path / ".gitignore").write_text("a.md\n")
    (tmp_path / ".wikiignore").write_text("b.md\n")
    assert pages(tmp_path, TreeSettings(gitignore=False, ignore=("old/",))) == {"a.md"}


def test_a_bad_pattern_in_an_ignore_file_is_reported_with_its_line_and_the_others_hold(
    tmp_path: Path,
) -> None:
    plant(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_text("a.md\n\\\n")
    found = Tree(str(tmp_path), TreeSettings()).scan()
    assert set(found.stamps) == {"b.md"}
    assert [(d.kind, d.line) for d in found.diagnostics[".gitignore"]] == [("ignore_invalid", 2)]


def test_a_bad_configured_pattern_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\[wiki\] ignore"):
        Tree(str(tmp_path), TreeSettings(ignore=("!",)))


def test_the_index_is_never_a_page_whatever_its_name(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "index.md")
    own = (str(tmp_path / "index.md"), str(tmp_path / "not-there"))
    assert pages(tmp_path, TreeSettings(own_files=own)) == {"a.md"}


def test_files_that_are_not_regular_are_reported_and_never_opened(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "folder.md/b.md")
    os.mkfifo(tmp_path / "fifo.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket.md"))
        assert pages(tmp_path) == {"a.md", "folder.md/b.md"}
        assert problems(tmp_path) == {"fifo.md": "not_regular", "socket.md": "not_regular"}
        tree = Tree(str(tmp_path), TreeSettings())
        for name in ("fifo.md", "socket.md", "folder.md"):
            assert not isinstance(tree.read(name), Content)


def test_an_undecodable_name_is_reported_escaped_and_the_rest_goes_on(tmp_path: Path) -> None:
    plant(tmp_path, "a.md")
    for name in (b"b\xff.md", b"c\xfe/d.md", b"e\xfd.txt"):
        path = os.path.join(os.fsencode(tmp_path), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb"):
            pass
    assert pages(tmp_path) == {"a.md"}
    assert problems(tmp_path) == {r"b\xff.md": "undecodable_name", r"c\xfe": "undecodable_name"}


@pytest.mark.parametrize(
    "name", ["new\nline.md", "é.md", "e\u0301.md", "日本語.md", "x" * 252 + ".md", "a b.md"]
)
def test_every_decodable_name_is_kept_as_the_file_system_spells_it(tmp_path: Path, name: str) -> None:
    plant(tmp_path, name)
    assert pages(tmp_path) == {name}
    assert isinstance(Tree(str(tmp_path), TreeSettings()).read(name), Content)


def test_names_are_escaped_for_people() -> None:
    assert escape_name("a\x1b[1m\u202e\udcff\n") == r"a\x1b[1m\u202e\xff\x0a"


def linked_tree(tmp_path: Path) -> Path:
    root, outside = tmp_path / "root", tmp_path / "outside"
    plant(outside, "secret.md", "sub/secret.md", text="canary\n")
    plant(root, "real/a.md", ".hidden/h.md")
    links = {
        "out.md": "../outside/secret.md",
        "outdir": "../outside",
        "absolute.md": str(outside / "secret.md"),
        "real/loop": "..",
        "self": "self",
        "dangling.md": "nowhere.md",
        "inside.md": "real/a.md",
        "insidedir": "real",
        "shown": ".hidden",
        "real/via": "../../outside/sub",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


def test_links_are_not_followed_and_linked_pages_are_reported(tmp_path: Path) -> None:
    root = linked_tree(tmp_path)
    assert pages(root) == {"real/a.md"}
    names = {"out.md", "absolute.md", "dangling.md", "inside.md"}
    assert problems(root) == dict.fromkeys(names, "link_not_followed")


def test_followed_links_never_leave_the_root_nor_go_round_a_loop(tmp_path: Path) -> None:
    root = linked_tree(tmp_path)
    settings = TreeSettings(follow_symlinks=True)
    expected = {"real/a.md", "inside.md", "insidedir/a.md", "shown/h.md"}
    assert pages(root, settings) == expected
    covers = ("insidedir", "shown/h.md", "inside.md", "real", "out.md", "outdir", "real/loop", "real/via")
    assert pages(root, settings, covers) == expected
    assert pages(root, settings, ("real/loop/real/a.md", "outdir/secret.md", "insidedir/loop")) == set()


@pytest.mark.parametrize("follow", [False, True])
def test_nothing_outside_the_root_is_read(tmp_path: Path, follow: bool) -> None:
    root = linked_tree(tmp_path)
    tree = Tree(str(root), TreeSettings(follow_symlinks=follow))
    for path in ("out.md", "absolute.md", "outdir/secret.md", "real/via/secret.md", "../outside/secret.md",
                 "real/../../outside/secret.md", "/etc/passwd", "real/loop/out.md"):  # fmt: skip
        assert tree.read(path) == Vanished(path)


def test_a_folder_swapped_for_a_link_while_it_is_read_never_leaks(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    plant(outside, "page.md", text="canary\n")
    plant(root, "folder/page.md", text="harmless\n")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(root / "folder", root / "aside")
            os.symlink(outside, root / "folder")
            os.unlink(root / "folder")
            os.rename(root / "aside", root / "folder")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for follow in (False, True):
            tree = Tree(str(root), TreeSettings(follow_symlinks=follow))
            readings = [tree.read("folder/page.md") for _ in range(1000)]
            assert {r.data for r in readings if isinstance(r, Content)} <= {b"harmless\n"}
            for _ in range(100):
                assert set(tree.scan().stamps) <= {"folder/page.md", "aside/page.md"}
    finally:
        done.set()
        swapper.join()


def test_a_subtree_scan_sees_exactly_what_lies_below(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "sub/b.md", "sub/deep/c.md", "subway/d.md")
    assert pages(tmp_path, covers=("sub",)) == {"sub/b.md", "sub/deep/c.md"}
    assert pages(tmp_path, covers=("sub/b.md", "gone.md", "gone/x.md", "a.md/x.md")) == {"sub/b.md"}


def test_where_names_are_folded_a_path_counts_only_as_the_folder_spells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "Page.md", "Sub/a.md")
    real_stat = os.stat

    def folding_stat(path: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        return real_stat(
            {"page.md": "Page.md"}.get(path, path), dir_fd=dir_fd, follow_symlinks=follow_symlinks
        )

    monkeypatch.setattr(os, "stat", folding_stat)
    root = os.open(tmp_path, os.O_RDONLY)
    try:
        for folds_names, found in (
            (True, {"Page.md", "Sub/a.md"}),
            (False, {"Page.md", "Sub/a.md", "page.md"}),
        ):
            walk = Walk(root, str(tmp_path), TreeSettings(), IgnoreRules(), folds_names=folds_names)
            for cover in ("Page.md", "page.md", "Sub/a.md", "sub/a.md"):
                walk.look_at(cover)
            assert walk.stamps.keys() == found
    finally:
        os.close(root)


def test_an_unreadable_folder_was_not_looked_at_and_its_neighbours_were(open_root: Path) -> None:
    plant(open_root, "a.md", "closed/b.md")
    os.chmod(open_root / "closed", 0o000)
    with as_nobody():
        found = Tree(str(open_root), TreeSettings()).scan()
    os.chmod(open_root / "closed", 0o755)
    assert set(found.stamps) == {"a.md"}
    assert found.unseen == ("closed",)
    assert found.diagnostics["closed"][0].kind == "unreadable"


def test_a_folder_whose_ignore_file_cannot_be_read_shows_nothing_it_might_hide(open_root: Path) -> None:
    plant(open_root, "a.md", "sub/private.md", "sub/.gitignore", text="private.md\n")
    os.chmod(open_root / "sub/.gitignore", 0o000)
    with as_nobody():
        found = Tree(str(open_root), TreeSettings()).scan()
    assert set(found.stamps) == {"a.md"}
    assert found.unseen == ("sub",)
    assert set(found.diagnostics) == {"sub/.gitignore"}


def test_an_unreadable_page_keeps_its_stamp_and_says_why_it_is_not_read(open_root: Path) -> None:
    plant(open_root, "a.md")
    os.chmod(open_root / "a.md", 0o000)
    with as_nobody():
        tree = Tree(str(open_root), TreeSettings())
        assert set(tree.scan().stamps) == {"a.md"}
        reading = tree.read("a.md")
    assert isinstance(reading, Unread)
    assert reading.diagnostic.kind == "unreadable"
    assert "Permission denied" in reading.diagnostic.message


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Lets opening a file or folder of this name fail."""

    def arrange(name: str, number: int) -> None:
        really_open = os.open

        def opening(path: str, *how: Any, **where: Any) -> int:
            if path == name:
                raise OSError(number, os.strerror(number), path)
            return really_open(path, *how, **where)

        monkeypatch.setattr(os, "open", opening)

    return arrange


def test_what_a_failing_disk_refuses_keeps_its_rows_and_is_worth_another_look(
    tmp_path: Path, refuse: Callable[[str, int], None]
) -> None:
    plant(tmp_path, "a.md", "sub/b.md")
    tree = Tree(str(tmp_path), TreeSettings())
    refuse("sub", errno.EIO)
    found = tree.scan()
    assert set(found.stamps) == {"a.md"}
    assert (found.unseen, found.failing) == (("sub",), ("sub",))
    assert found.diagnostics["sub"][0].kind == "read_failed"
    refuse("a.md", errno.EIO)
    reading = tree.read("a.md")
    assert isinstance(reading, Unread)
    assert reading.diagnostic.kind == "read_failed"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
@pytest.mark.parametrize("name", ["sub", "b.md", None])
def test_what_this_process_lacks_says_nothing_of_the_file(
    tmp_path: Path, refuse: Callable[[str, int], None], number: int, name: str | None
) -> None:
    plant(tmp_path, "a.md", "sub/b.md")
    tree = Tree(str(tmp_path), TreeSettings())
    refuse(name or str(tmp_path), number)
    with pytest.raises(OSError, match=os.strerror(number)):
        tree.read("sub/b.md")
    if name != "b.md":
        with pytest.raises(OSError, match=os.strerror(number)):
            tree.scan()


def test_a_root_that_is_missing_no_folder_or_closed_is_named(open_root: Path) -> None:
    plant(open_root, "file.md", "closed/a.md")
    os.chmod(open_root / "closed", 0o000)
    with pytest.raises(RootError, match="does not exist"):
        Tree(str(open_root / "missing"), TreeSettings()).scan()
    with pytest.raises(RootError, match="is not a folder"):
        Tree(str(open_root / "file.md"), TreeSettings()).scan()
    with as_nobody(), pytest.raises(NotPermittedError):
        Tree(str(open_root / "closed"), TreeSettings()).scan()
    os.chmod(open_root / "closed", 0o755)


def test_folders_are_walked_to_the_limit_and_reported_one_past_it(tmp_path: Path) -> None:
    for depth in (DEEPEST_FOLDER, DEEPEST_FOLDER + 1):
        plant(tmp_path, "/".join(["d"] * depth) + f"/{depth}.md")
    found = Tree(str(tmp_path), TreeSettings()).scan()
    assert [path.rpartition("/")[2] for path in found.stamps] == [f"{DEEPEST_FOLDER}.md"]
    assert [d[0].kind for d in found.diagnostics.values()] == ["too_deep_folder"]
    assert found.unseen == tuple(found.diagnostics)


def test_a_scan_ends_when_it_is_told_to(tmp_path: Path) -> None:
    plant(tmp_path, "a.md")
    with pytest.raises(Stopped):
        Tree(str(tmp_path), TreeSettings()).scan(stop=lambda: True)


def test_the_size_limit_is_taken_from_the_file_before_a_byte_is_read(tmp_path: Path) -> None:
    tree = Tree(str(tmp_path), TreeSettings(max_page_bytes=10))
    plant(tmp_path, "at.md", text="0123456789")
    plant(tmp_path, "over.md", text="0123456789x")
    assert isinstance(tree.read("at.md"), Content)
    assert isinstance(tree.read("over.md"), Oversized)
    (tmp_path / "sparse.md").touch()
    os.truncate(tmp_path / "sparse.md", 10 << 30)
    assert isinstance(tree.read("sparse.md"), Oversized)


def test_a_reading_holds_the_bytes_and_the_stamp_of_one_moment(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", text="text")
    tree = Tree(str(tmp_path), TreeSettings())
    reading = tree.read("a.md")
    assert isinstance(reading, Content)
    assert (reading.data, reading.stamp) == (b"text", tree.scan().stamps["a.md"])
    assert tree.read("gone.md") == Vanished("gone.md")


def test_a_file_that_changes_while_it_is_read_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "a.md", text="first")
    read = os.read
    edits: list[int] = []

    def read_and_edit(descriptor: int, size: int) -> bytes:
        data = read(descriptor, size)
        if not edits or len(edits) < limit:
            edits.append(1)
            plant(tmp_path, "a.md", text="edit" * (len(edits) + 2))
        return data

    monkeypatch.setattr(os, "read", read_and_edit)
    limit = 1
    reading = Tree(str(tmp_path), TreeSettings()).read("a.md")
    assert isinstance(reading, Content)
    assert reading.data == (tmp_path / "a.md").read_bytes()
    limit = 1000
    reading = Tree(str(tmp_path), TreeSettings()).read("a.md")
    assert isinstance(reading, Unread)
    assert isinstance(reading.diagnostic, Diagnostic)
    assert reading.diagnostic.kind == "unsettled"


def test_looking_at_a_tree_leaves_no_descriptor_open(tmp_path: Path) -> None:
    root = linked_tree(tmp_path)
    before = len(os.listdir("/dev/fd"))
    for follow in (False, True):
        tree = Tree(str(root), TreeSettings(follow_symlinks=follow))
        tree.scan()
        tree.scan(("insidedir", "real/a.md", "outdir/x", "self", "nowhere/a.md"))
        for path in ("real/a.md", "inside.md", "out.md", "nowhere/a.md"):
            tree.read(path)
    assert len(os.listdir("/dev/fd")) == before
