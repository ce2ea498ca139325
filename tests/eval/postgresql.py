"""Judged sets asked of PostgreSQL and of the file: how much of the file's quality the fed rows give.

`python -m tests.eval.postgresql [--only SET …] [--work FOLDER]` prints, a set a line, the ratio of each
measure. A server is started in a temporary folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from tests.eval.collection import Collection, corpus_of
from tests.postgres.fed import feed
from tests.postgres_server import find_programs, running_server
from tests.shared_data import SHARED
from wikiq.eval.evaluate import PATIENCE_S, default_ranker, evaluate
from wikiq.eval.judged import JudgedQuestion, parse_set
from wikiq.eval.report import LEVELS, scored
from wikiq.index.database import Database, open_database
from wikiq.index.postgres.database import open_postgres

SETS: Final = ("claudedocs", "xquad-en", "jsquad", "desc-psdocs")
MEASURES: Final = ("mrr@10", "recall@12")
RANKER: Final = "default"

Ratios = dict[tuple[str, str], float]


def quality(database: Database, questions: Sequence[JudgedQuestion]) -> Ratios:
    """The mean of every measure, by level and measure."""
    with closing(database), database.snapshot(PATIENCE_S) as snapshot:
        found = evaluate(snapshot, questions, {RANKER: default_ranker(snapshot)})
    scores: Any = scored(found.judgements[RANKER]).values()
    return {
        (level, measure): fmean(one[level][measure] for one in scores)
        for level in LEVELS
        for measure in MEASURES
    }


def compare(
    collection: Collection, names: Iterable[str], url: str, *, every: int = 1
) -> Iterator[tuple[str, Ratios]]:
    """For each set, PostgreSQL's measures as parts of the file's; every corpus is fed once.

    `every`: of so many questions one is asked.
    """
    fed: dict[str, Path] = {}
    for name in names:
        text = (collection.sets / f"{name}.jsonl").read_text("utf-8")
        corpus = corpus_of(text)
        if corpus not in fed:
            fed[corpus] = collection.index_of(corpus)
            feed(url, fed[corpus], wiki=corpus)
        questions = parse_set(text, name)[::every]
        file = quality(open_database(str(fed[corpus])), questions)
        postgres = quality(open_postgres(url, wiki=corpus), questions)
        yield name, {key: postgres[key] / file[key] for key in file}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.postgresql", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(SETS), metavar="SET")
    parser.add_argument("--work", type=Path, help="where corpora and indexes are kept between runs")
    options = parser.parse_args(arguments)
    programs = find_programs()
    if programs is None:
        sys.exit("PostgreSQL is not installed: make strangers")
    folder = SHARED / "eval"
    with tempfile.TemporaryDirectory(prefix="eval-") as temporary, running_server(programs) as server:
        work = options.work or Path(temporary)
        collection = Collection(sets=folder / "sets", corpora=folder, work=work)
        for name, ratios in compare(collection, options.only, server.url()):
            told = ", ".join(f"{level} {measure} {ratio:.3f}" for (level, measure), ratio in ratios.items())
            print(f"{name}: {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
