"""`python -m tests.benchmarks`: unpacks or makes the wikis, takes the measures, prints a table and JSON.

Only this module decides what is measured on what. A wiki that is not there is skipped with the reason.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks.agents import run_agents
from tests.benchmarks.agents_speed import agents_ready, agents_search
from tests.benchmarks.bulk import bulk_changes, idle_daemon
from tests.benchmarks.corpus import read_vocabulary, unpack, write_synthetic
from tests.benchmarks.growth import main as run_growth
from tests.benchmarks.live import idle_memory, save_to_searchable
from tests.benchmarks.notes import NOTES
from tests.benchmarks.page import page_rendering
from tests.benchmarks.peers import search_peers
from tests.benchmarks.postgresql import fed_edit, fed_load, fed_question
from tests.benchmarks.ratio import ROUNDS, CannotMeasureError, Ratio, Skipped
from tests.benchmarks.reader import file_size, question, search_process, typing
from tests.benchmarks.replay import main as run_replay
from tests.benchmarks.report import render_json, render_markdown, render_table
from tests.benchmarks.setting import Setting
from tests.benchmarks.viewer import viewer_hits, viewer_memory, viewer_ready
from tests.benchmarks.writer import (
    build_serial,
    build_workers,
    edit_to_commit,
    start_unchanged,
    store_alone,
)
from tests.imports import REPOSITORY

MEASURES: Final[dict[str, Callable[[Setting], Ratio | Iterator[Ratio]]]] = {
    "build-serial": build_serial,
    "build-workers": build_workers,
    "store": store_alone,
    "start": start_unchanged,
    "edit": edit_to_commit,
    "save": save_to_searchable,
    "bulk": bulk_changes,
    "memory": idle_memory,
    "idle": idle_daemon,
    "search": search_process,
    "question": question,
    "typing": typing,
    "peers": search_peers,
    "page": page_rendering,
    "viewer-ready": viewer_ready,
    "viewer-hits": viewer_hits,
    "viewer-memory": viewer_memory,
    "agents-ready": agents_ready,
    "agents-search": agents_search,
    "size": file_size,
    "fed-load": fed_load,
    "fed-question": fed_question,
    "fed-edit": fed_edit,
}
# Asked for alone: their corpora are those of the judged questions, and made ones.
ALONE: Final[dict[str, Callable[[list[str]], None]]] = {
    "agents": lambda _: run_agents(),
    "growth": run_growth,
    "replay": run_replay,
}
CORPORA: Final = REPOSITORY.parent / "shared" / "corpora"
ARCHIVES: Final = ("powershell", "obsidian-help")


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "measures",
        nargs="*",
        metavar="MEASURE",
        help=f"of {', '.join(MEASURES)}; all; or alone {', '.join(ALONE)}",
    )
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="folder with NAME.tar.xz files")
    parser.add_argument(
        "--wiki", type=Path, action="append", default=[], help="a folder to measure on instead"
    )
    parser.add_argument("--synthetic", type=int, default=0, metavar="PAGES", help="and on a made wiki")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="samples of either side")
    parser.add_argument("--work", type=Path, help="where wikis and indexes are kept between runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the JSON there instead")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the table of the documents there"
    )
    chosen = parser.parse_args(words)
    if unknown := set(chosen.measures) - MEASURES.keys():
        parser.error(f"no such measure: {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}")
    return chosen


def find_wikis(chosen: argparse.Namespace, work: Path) -> Iterator[tuple[str, Path | None, str]]:
    """Name and root of every wiki asked for; without a root, the reason."""
    roots: list[Path] = [path.resolve() for path in chosen.wiki]
    yield from ((root.name, root, "") for root in roots)
    if not roots:
        for name in ARCHIVES:
            archive = chosen.corpora / f"{name}.tar.xz"
            if archive.is_file():
                roots.append(unpack(archive, work / "wikis"))
                yield name, roots[-1], ""
            else:
                yield name, None, f"{archive} is absent"
    if chosen.synthetic:
        name = f"synthetic-{chosen.synthetic}"
        words = read_vocabulary(roots or [REPOSITORY / "docs"])
        yield name, write_synthetic(work / "wikis" / name, chosen.synthetic, words), ""


def take(chosen: argparse.Namespace, work: Path) -> Iterator[Ratio | Skipped]:
    """The results, one by one, as they are taken."""
    (work / "wikis").mkdir(parents=True, exist_ok=True)
    for corpus, root, reason in find_wikis(chosen, work):
        for measure in chosen.measures or MEASURES:
            if root is None:
                yield Skipped(measure, corpus, reason)
                continue
            folder = work / "indexes" / corpus
            folder.mkdir(parents=True, exist_ok=True)
            try:
                taken = MEASURES[measure](Setting(corpus, root, folder, chosen.rounds))
                yield from [taken] if isinstance(taken, Ratio) else taken
            except CannotMeasureError as error:
                yield Skipped(measure, corpus, str(error))


def main(words: list[str]) -> None:
    if words and words[0] in ALONE:
        ALONE[words[0]](words[1:])
        return
    chosen = parse_arguments(words)
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as temporary:
        results = []
        for result in take(chosen, chosen.work or Path(temporary)):
            results.append(result)
            print(f"{result.measure} on {result.corpus}", file=sys.stderr)
    print(render_table(results))
    if chosen.markdown:
        chosen.markdown.write_text(render_markdown(results, NOTES) + "\n", "utf-8")
    if chosen.json:
        chosen.json.write_text(render_json(results) + "\n", "utf-8")
    else:
        print(f"\n{render_json(results)}")


if __name__ == "__main__":
    main(sys.argv[1:])
