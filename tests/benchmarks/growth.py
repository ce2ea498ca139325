"""How build, scan, edit and disk grow with the wiki: `python -m tests.benchmarks growth [--sizes 100,1000]`.

Synthetic wikis of ten sections a page. `--plot FILE` draws the figures, both axes logarithmic (PNG).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from tests.benchmarks.corpus import SECTIONS, find_pages, read_vocabulary, write_synthetic
from tests.benchmarks.ratio import clocked, seconds
from tests.benchmarks.writer import CORES, edit, indexing, update
from tests.imports import REPOSITORY

SIZES: Final = (100, 1_000, 10_000)  # pages; 100,000 takes ten minutes
EDITS: Final = 20
SCANS: Final = 5
HEADINGS: Final = ("sections", "build CPU s", "scan s", "edit ms", "file MB")


@dataclass(frozen=True, slots=True)
class Size:
    """One wiki: its sections, and what build (CPU), scan and edit (seconds) and the file (bytes) take."""

    sections: int
    build_s: float
    scan_s: float
    edit_s: float
    file_bytes: int


def take_size(root: Path, work: Path) -> Size:
    """The figures of one wiki, which is edited."""
    db = work / f"{root.name}.db"
    build = clocked(partial(update, root, db, CORES))
    pages = list(find_pages(root))
    scans = [seconds(partial(update, root, db, CORES)) for _ in range(SCANS)]
    with indexing(root, db, 0) as (indexer, _):
        chosen = pages[:: max(1, len(pages) // EDITS)][:EDITS]
        edits = [edit(indexer, root, path, number) for number, path in enumerate(chosen)]
    return Size(len(pages) * SECTIONS, build.cpu, median(scans), median(edits), db.stat().st_size)


def render_growth(sizes: Sequence[Size]) -> str:
    """A table in Markdown; the last line tells how much dearer a section is in the largest wiki."""
    lines = [f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
    for size in sizes:
        figures = (
            f"{size.build_s:.2f} | {size.scan_s:.3f} | {1000 * size.edit_s:.2f} | {size.file_bytes / 1e6:.1f}"
        )
        lines.append(f"| {size.sections:,} | {figures} |")
    first, last = sizes[0], sizes[-1]
    dearer = (last.build_s / last.sections) / (first.build_s / first.sections)
    lines.append(f"\nA section of the largest wiki costs {dearer:.2f} times one of the smallest to build.")
    return "\n".join(lines)


def draw(sizes: Sequence[Size], file: Path) -> None:
    """A line for each figure, as multiples of the smallest wiki, over the sections."""
    import matplotlib as mpl  # takes a second, and only a plot needs it

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    sections = [size.sections for size in sizes]
    for name in ("build_s", "scan_s", "edit_s", "file_bytes"):
        values = [getattr(size, name) for size in sizes]
        axes.plot(sections, [value / values[0] for value in values], marker="o", label=name.partition("_")[0])
    axes.plot(sections, [one / sections[0] for one in sections], linestyle=":", color="grey", label="linear")
    axes.set(xscale="log", yscale="log", xlabel="sections", ylabel="times the smallest wiki")
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight", metadata={"Software": None})


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks growth", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="PAGES,PAGES")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    options = parser.parse_args(words)
    vocabulary = read_vocabulary([REPOSITORY / "docs"])
    sizes = []
    for pages in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="growth-") as work:
            root = write_synthetic(Path(work) / f"wiki-{pages}", pages, vocabulary)
            sizes.append(take_size(root, Path(work)))
    print(render_growth(sizes))
    if options.plot is not None:
        draw(sizes, options.plot)
