"""Whole trees moved about under a running daemon: after each, the index is what the tree says.

`python -m tests.crash.bulk WIKI [--folder F]` copies the wiki, follows the copy and prints how long
each step took to be in the index; `verify` must find nothing after each.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tests.crash.process import LiveDaemon, hash_tree

EQUAL_S: Final = 10.0  # of quiet
PART_PAGES: Final = 1000
BRANCHES: Final = ("one", "two")
CHECKOUTS: Final = 5  # of each branch, in the long form
Step = tuple[str, Callable[[], object]]


_IDENTITY: Final = (
    "-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"
)  # fmt: skip


def run_in(folder: Path, *words: str) -> None:
    """A command that must succeed."""
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


def part_of(root: Path) -> Path:
    """A folder of the wiki with about as many pages as the steps are to move."""
    folders = [path for path in sorted(root.rglob("*")) if path.is_dir()]
    return min(folders, key=lambda folder: abs(len(hash_tree(folder)) - PART_PAGES))


def steps(root: Path, outside: Path, checkouts: int) -> Iterator[Step]:
    """Each step with its name, `checkouts` of each branch. `outside`: a folder on the same file system."""
    part = part_of(root)
    run_in(part, "tar", "-cf", str(outside / "part.tar"), ".")
    shutil.copytree(part, outside / "part", symlinks=True)
    (root / "unpacked").mkdir()
    yield "cp -r", partial(run_in, outside, "cp", "-r", "part", str(root / "copied"))
    yield "tar -x", partial(run_in, root / "unpacked", "tar", "-xf", str(outside / "part.tar"))
    yield "mv in", partial((outside / "part").rename, root / "came")
    yield "mv within", partial((root / "came").rename, root / "copied" / "went")
    yield "mv out", partial((root / "copied" / "went").rename, outside / "back")
    yield "rm -r", partial(shutil.rmtree, root / "copied")
    _commit_two_versions(root)
    for branch in BRANCHES * checkouts:
        yield f"git checkout {branch}", partial(run_in, root, "git", "checkout", "-q", branch)
    yield "git stash", partial(_edit_and_stash, root)
    yield "git stash pop", partial(run_in, root, "git", *_IDENTITY, "stash", "pop", "-q")
    yield "git gc", partial(run_in, root, "git", "gc", "-q")
    yield "rm -r of most", partial(_remove_most, root)


def _edit_and_stash(root: Path) -> None:
    """Half of the pages edited, and the edits put away."""
    for path in sorted(hash_tree(root))[::2]:
        with (root / path).open("ab") as page:
            page.write(b"\nAn edit that is put away.\n")
    run_in(root, "git", *_IDENTITY, "stash", "-q")


def _remove_most(root: Path) -> None:
    """More than half of the pages, which is believed only when it is seen twice."""
    pages = sorted(hash_tree(root))
    for path in pages[: len(pages) * 2 // 3]:
        (root / path).unlink()


def _commit_two_versions(root: Path) -> None:
    """Two commits that differ in every page."""
    git = ("git", *_IDENTITY)
    run_in(root, *git, "init", "-q", "-b", BRANCHES[0])
    run_in(root, *git, "add", "-A")
    run_in(root, *git, "commit", "-q", "-m", "one")
    run_in(root, *git, "checkout", "-q", "-b", BRANCHES[1])
    for path in hash_tree(root):
        with (root / path).open("ab") as page:
            page.write(b"\nA line that only the second version has.\n")
    run_in(root, *git, "commit", "-q", "-a", "-m", "two")


def run(
    wiki: Path, folder: Path, *, limit_s: float = EQUAL_S, checkouts: int = CHECKOUTS
) -> dict[str, float]:
    """Seconds until equal after each step. Raises UnequalError past `limit_s`, or when verify differs."""
    root, outside = folder / "wiki", folder / "outside"
    shutil.copytree(wiki, root, symlinks=True)
    outside.mkdir()
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    daemon.start()
    took: dict[str, float] = {}
    try:
        for name, step in steps(root, outside, checkouts):
            step()
            waited = daemon.wait_equal(limit_s)
            took[name] = max(took.get(name, 0.0), waited)
            daemon.verify()
            print(f"{name}: equal after {waited:.2f} s", flush=True)
    finally:
        daemon.stop()
    return took


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wiki", type=Path)
    parser.add_argument("--limit", type=float, default=EQUAL_S, help="seconds of quiet until equal")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder by default")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bulk-") as temporary:
        took = run(options.wiki, options.folder or Path(temporary), limit_s=options.limit)
    print(f"{len(took)} kinds of step: 0 differences, {max(took.values()):.2f} s at most")


if __name__ == "__main__":
    main()
