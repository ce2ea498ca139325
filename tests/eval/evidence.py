"""`python -m tests.eval.evidence`: holds the evidence of hits against the files that it tells of.

The line that an editor is sent to must hold a word that matched, or be the heading; an excerpt is short and
holds no tag.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexerd.contract.terms import tokens
from tests.eval.collection import Collection, corpus_of
from tests.shared_data import SHARED
from wikiq.answers.search import search
from wikiq.eval.evaluate import PATIENCE_S
from wikiq.eval.judged import parse_set
from wikiq.index.database import Snapshot, open_database
from wikiq.model.request import SearchRequest
from wikiq.model.results import Evidence, Hit

LONGEST = 300  # characters of an excerpt
HITS = 10
_LINE_END = re.compile(r"\r\n|\r|\n")


def evidence_faults(snapshot: Snapshot, questions: Sequence[str]) -> Iterator[str]:
    """Ask every question; tells each hit whose evidence is not in the file, or is too long."""
    lines: dict[str, list[str]] = {}
    for question in questions:
        for hit in search(snapshot, SearchRequest(query=question, limit=HITS)).hits:
            if hit.evidence is None:
                continue
            if hit.path not in lines:
                text = (Path(snapshot.root) / hit.path).read_bytes().decode("utf-8-sig", "replace")
                lines[hit.path] = _LINE_END.split(text)
            fault = _fault(hit, hit.evidence, lines[hit.path])
            if fault:
                yield f"{question[:60]!r} {hit.path}:{hit.evidence.match_line}: {fault}"


def _fault(hit: Hit, evidence: Evidence, lines: Sequence[str]) -> str:
    if evidence.match_line > len(lines):
        return f"the file has {len(lines)} lines"
    line = lines[evidence.match_line - 1]
    if evidence.excerpt is None:
        return "" if evidence.match_line == evidence.start_line else "is not the heading's line"
    if len(evidence.excerpt) > LONGEST:
        return f"an excerpt of {len(evidence.excerpt)} characters"
    if not evidence.matches:
        return ""  # the match is in what plain text leaves out, an address for example
    start, end = evidence.matches[0]
    sought = evidence.excerpt[start:end]
    held = " ".join(tokens(line))
    return "" if " ".join(tokens(sought)) in held else f"{sought!r} is not in {line[:80]!r}"


def main() -> int:
    """Ask the questions of sets over their corpora."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.evidence", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="SET")
    parser.add_argument("--sets", type=Path, default=SHARED / "eval" / "sets", help="folder of *.jsonl")
    parser.add_argument("--corpora", type=Path, default=SHARED / "eval", help="folder of corpora.json")
    parser.add_argument("--work", type=Path, required=True, help="folder for unpacked corpora and indexes")
    parser.add_argument("--count", type=int, default=500, help="questions of each set")
    options = parser.parse_args()
    collection = Collection(sets=options.sets, corpora=options.corpora, work=options.work)
    faults = asked = 0
    for name in options.names:
        text = (options.sets / f"{name}.jsonl").read_text("utf-8")
        questions = [one.text for one in parse_set(text, name)][: options.count]
        database = open_database(str(collection.index_of(corpus_of(text))))
        with database.snapshot(PATIENCE_S) as snapshot:
            for fault in evidence_faults(snapshot, questions):
                faults += 1
                print(fault)
        database.close()
        asked += len(questions)
    print(f"{asked} questions, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
