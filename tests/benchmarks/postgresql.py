"""The measures of `wikiq feed` and of asking what was fed: load, one edit, questions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, islice
from statistics import median
from typing import Final

from tests.benchmarks.corpus import find_pages, source_bytes
from tests.benchmarks.ratio import CannotMeasureError, Ratio, alternate, percentiles, seconds
from tests.benchmarks.reader import QUESTION
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import CORES, ensure_built, indexing, update
from tests.postgres.fed import ask, feed
from tests.postgres_server import Server, find_programs, running_server
from tests.wikiq.asking import answer
from wikiq.answers.search import search
from wikiq.feed.feeder import Feeder
from wikiq.index.database import open_database
from wikiq.index.postgres.connect import parse_address
from wikiq.index.postgres.database import open_postgres
from wikiq.model.request import SearchRequest

QUESTIONS: Final = ("rename folder", QUESTION, "list of files", "folder")
ASKED: Final = 5  # times each, either side in turn
EDITS: Final = 60
EDIT_GOAL_S: Final = 0.05
SIZED: Final = """SELECT sum(pg_total_relation_size(oid)) FROM pg_class
    WHERE relnamespace = '{s}'::regnamespace AND relkind = 'r'"""


@contextmanager
def _server() -> Iterator[Server]:
    programs = find_programs()
    if programs is None:
        raise CannotMeasureError("PostgreSQL is not installed: make strangers")
    with running_server(programs) as server:
        yield server


def fed_load(setting: Setting) -> Ratio:
    """A wiki fed from nothing, against building its index."""
    db = ensure_built(setting)
    with _server() as server:
        subject, baseline = alternate(
            partial(seconds, partial(feed, server.url(), db, anew=True)),
            lambda: seconds(partial(update, setting.root, setting.fresh_db(), CORES)),
            1,
        )
        feed(server.url(schema="sized"), db)
        size = ask(server.url(schema="sized"), SIZED)[0][0]
    remark = f"{float(size) / source_bytes(setting.root):.1f} x source in the database"
    return Ratio("feed from nothing / build", setting.corpus, "s", subject, baseline, 3.0, remark=remark)


def fed_question(setting: Setting) -> Ratio:
    """Four questions of the fed wiki, against the same of the file; the medians of each, summed."""
    db = ensure_built(setting)
    with _server() as server:
        feed(server.url(), db)
        with closing(open_database(str(db))) as file, closing(open_postgres(server.url())) as fed:
            pairs = [
                alternate(
                    partial(seconds, partial(answer, fed, search, request)),
                    partial(seconds, partial(answer, file, search, request)),
                    ASKED,
                )
                for request in (SearchRequest(query=question) for question in QUESTIONS)
            ]
    ratios = ", ".join(f"{median(subject) / median(baseline):.1f}" for subject, baseline in pairs)
    subject, baseline = ((sum(median(pair[side]) for pair in pairs),) for side in (0, 1))
    return Ratio("4 fed questions / file", setting.corpus, "s", subject, baseline, 3.0, remark=ratios)


def fed_edit(setting: Setting) -> Ratio:
    """One edited page fed by a feeder that follows; the goal is a time: 1 is 50 ms at the 95th percentile."""
    copy = setting.work / "fed"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(setting.root, copy / "wiki", symlinks=True)
    root, db = copy / "wiki", copy / "index" / "index.db"
    update(root, db, CORES)
    samples = []
    with (
        _server() as server,
        closing(open_database(str(db))) as database,
        indexing(root, db, 0) as (indexer, _),
    ):
        feeder = Feeder(parse_address(server.url()), "fed")
        with closing(feeder):
            feeder.make_tables()
            with database.snapshot(3600.0) as snapshot:
                feeder.feed(snapshot)
            pages = cycle(list(find_pages(root))[::7])
            for number, path in enumerate(islice(pages, EDITS)):
                with path.open("a", encoding="utf-8") as page:
                    page.write(f"\nEdited {number} times.\n")
                indexer.apply(indexer.scan([str(path.relative_to(root))]))
                with database.snapshot() as snapshot:
                    samples.append(seconds(partial(feeder.feed, snapshot)))
    taken = tuple(samples)
    figures = percentiles(taken, (0.5, 0.95, 1.0))
    worst = (sorted(taken)[int(0.95 * len(taken))],)
    return Ratio("fed edit, p95 / 50 ms", setting.corpus, "s", worst, (EDIT_GOAL_S,), 1.0, remark=figures)
