"""The wikis that are measured: unpacked archives, and synthetic ones of any size made from their words.

Writes below the folder it is given and nowhere else. The same words, size and seed give the same wiki.
"""

from __future__ import annotations

import random
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final

WORD: Final = re.compile(r"\w{2,24}")
FOLDER_PAGES: Final = 100  # pages in one folder of a synthetic wiki, as in real ones of that size
SECTIONS: Final = 10  # sections of a synthetic page
HEADING_WORDS: Final = 3
BODY_WORDS: Final = 40  # words of a synthetic section: 250 bytes, the median of the real corpora
SEED: Final = 20


def find_pages(root: Path) -> Iterator[Path]:
    """The files below `root` that are pages: visible, and named like Markdown."""
    for path in sorted(root.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if not hidden and path.suffix.lower() in {".md", ".markdown"} and path.is_file():
            yield path


def source_bytes(root: Path) -> int:
    """What the pages below `root` take on the disk, in bytes."""
    return sum(path.stat().st_size for path in find_pages(root))


def unpack(archive: Path, folder: Path) -> Path:
    """The root of the wiki in `archive`, unpacked below `folder` unless it is there already."""
    root = folder / archive.name.partition(".")[0]
    if not root.is_dir():
        partial = folder / f"{root.name}.partial"
        with tarfile.open(archive) as packed:
            packed.extractall(partial, filter="data")
        partial.rename(root)
    inside = [path for path in root.iterdir() if not path.name.startswith(".")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else root


class Vocabulary:
    """Words with their frequencies, drawn from in proportion, from a fixed seed."""

    def __init__(self, counts: Counter[str]) -> None:
        if not counts:
            raise ValueError("no words to draw from")
        pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        self._words = [word for word, _ in pairs]
        self._weights = list(accumulate(count for _, count in pairs))
        self._random = random.Random(SEED)

    def draw(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))


def read_vocabulary(roots: list[Path]) -> Vocabulary:
    """The words of all pages below `roots`."""
    counts: Counter[str] = Counter()
    for root in roots:
        for path in find_pages(root):
            counts.update(WORD.findall(path.read_text("utf-8", errors="replace")))
    return Vocabulary(counts)


def render_page(number: int, words: Vocabulary) -> str:
    """A page with an H1, sections at depth 2 and 3, and one link to the page before it."""
    parts = [f"# {words.draw(HEADING_WORDS)} {number}\n\n{words.draw(BODY_WORDS)}.\n"]
    for nth in range(1, SECTIONS):
        marks = "##" if nth % 3 == 1 else "###"
        parts.append(f"\n{marks} {words.draw(HEADING_WORDS)}\n\n{words.draw(BODY_WORDS)}.\n")
    if number % FOLDER_PAGES:
        parts.append(f"\nSee [the page before](page-{number - 1:06d}.md).\n")
    return "".join(parts)


def write_synthetic(folder: Path, pages: int, words: Vocabulary) -> Path:
    """A wiki of `pages` pages with 10 sections each at `folder`; kept if it is there already."""
    if folder.is_dir():
        return folder
    partial = folder.with_name(f"{folder.name}.partial")
    for number in range(pages):
        path = partial / f"{number // FOLDER_PAGES:04d}" / f"page-{number:06d}.md"
        if number % FOLDER_PAGES == 0:
            path.parent.mkdir(parents=True)
        path.write_text(render_page(number, words), "utf-8")
    partial.rename(folder)
    return folder
