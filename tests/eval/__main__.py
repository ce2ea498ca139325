"""`python -m tests.eval`: every set of a collection in one run, as a table and a JSON report."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.eval.ablations import ABLATIONS
from tests.eval.collection import Collection, baseline_text, run_sets
from tests.eval.tables import ablation_table, difference_table, measure_table, set_table
from tests.shared_data import SHARED
from wikiq.eval.report import report_document, with_stored

COMPARED = ("default", "frozen", "strict")


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument("--sets", type=Path, default=SHARED / "eval" / "sets", help="folder of *.jsonl")
    parser.add_argument("--corpora", type=Path, default=SHARED / "eval", help="folder of corpora.json")
    parser.add_argument("--work", type=Path, required=True, help="folder for unpacked corpora and indexes")
    parser.add_argument("--only", nargs="+", metavar="SET", help="these sets instead of all")
    parser.add_argument(
        "--rankings", nargs="+", default=COMPARED, help="the first is held against the others"
    )
    parser.add_argument("--ablate", action="store_true", help="turn one part off at a time instead")
    parser.add_argument("--against", type=Path, help="an earlier report, to hold this run against")
    parser.add_argument("--json", type=Path, help="where the report goes")
    parser.add_argument("--store", type=Path, help="where a baseline goes: what the gate compares with")
    options = parser.parse_args()
    collection = Collection(sets=options.sets, corpora=options.corpora, work=options.work)
    rankings = ("default", *ABLATIONS) if options.ablate else tuple(options.rankings)
    names = options.only or collection.names()
    if not names:
        parser.error(f"{options.sets}: holds no set (*.jsonl); name its folder with --sets")
    started = time.monotonic()
    sets = []
    for one in run_sets(collection, names, rankings):
        sets.append(one)
        print(f"{one.name} ({time.monotonic() - started:.0f} s)", file=sys.stderr, flush=True)
    if options.against is not None:
        sets = with_stored(sets, json.loads(options.against.read_text("utf-8")))
        rankings = (*rankings, "stored")
    if options.ablate:
        print(ablation_table(sets, rankings))
    else:
        print(
            measure_table(sets, rankings),
            difference_table(sets, rankings),
            set_table(sets, rankings),
            sep="\n\n",
        )
    if options.json is not None:
        options.json.write_text(json.dumps(report_document(sets, rankings)) + "\n", "utf-8")
    if options.store is not None:
        options.store.write_text(baseline_text(sets), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
