"""Collections of judged sets over several corpora: unpacks them, indexes them, runs every set.

The indexes are made by `indexerd build`, as users make theirs; work files stay in one folder, and an
index of unchanged files is only looked at again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.eval.rankings import evaluate_rankings
from wikiq.eval.judged import parse_set
from wikiq.eval.report import COMPARED, LEVELS, ScoredSet, scored
from wikiq.index.database import open_database

# Families by the beginning of a set's name; every other set was judged by people.
DERIVED = ("link", "linkx", "linksent", "desc", "qhead", "commit")
JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class Collection:
    """Where sets (`*.jsonl`), corpora (`corpora.json` and its archives) and work files are."""

    sets: Path
    corpora: Path
    work: Path

    def names(self) -> list[str]:
        """The sets there are."""
        return sorted(path.stem for path in self.sets.glob("*.jsonl"))

    def index_of(self, corpus: str) -> Path:
        """Unpack and index a corpus; gives the index file."""
        told = json.loads((self.corpora / "corpora.json").read_text("utf-8"))[corpus]
        unpacked = self.work / "src" / corpus
        if not unpacked.is_dir():
            unpacked.mkdir(parents=True)
            with tarfile.open(self.corpora / told["archive"]) as archive:
                archive.extractall(unpacked, filter="data")
        db = self.work / "index" / corpus / "index.db"
        db.parent.mkdir(parents=True, exist_ok=True)
        root = os.path.normpath(unpacked / told["root"])
        command = [sys.executable, "-m", "indexerd.main", "build", root, "--db", str(db)]
        if "extensions" in told:
            command += ["--extensions", ",".join(told["extensions"])]
        home = {name: str(self.work / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        subprocess.run(command, check=True, capture_output=True, env=os.environ | home)
        return db


def corpus_of(text: str) -> str:
    """The corpus that a set is about; its first question says it."""
    return str(json.loads(text.partition("\n")[0])["corpus"])


def family_of(name: str) -> str:
    """The family of a set."""
    begin = name.partition("-")[0]
    return begin if begin in DERIVED else JUDGED


def run_sets(collection: Collection, names: Sequence[str], rankings: Sequence[str]) -> Iterator[ScoredSet]:
    """Run sets under rankings, one after another."""
    indexes: dict[str, Path] = {}
    for name in names:
        text = (collection.sets / f"{name}.jsonl").read_text("utf-8")
        corpus = corpus_of(text)
        if corpus not in indexes:
            indexes[corpus] = collection.index_of(corpus)
        database = open_database(str(indexes[corpus]))
        try:
            evaluation = evaluate_rankings(database, parse_set(text, name), rankings)
        finally:
            database.close()
        yield ScoredSet(
            name=name,
            family=family_of(name),
            lost=evaluation.lost,
            rankings={ranking: scored(found) for ranking, found in evaluation.judgements.items()},
        )


def baseline_text(sets: Sequence[ScoredSet]) -> str:
    """The scores of `default` in the form of a report, as few as the gate needs, a set a line."""
    lines = [
        json.dumps(
            {
                "name": one.name,
                "scores": {
                    "default": {
                        number: {
                            level: {measure: round(scores[level][measure], 4) for measure in COMPARED}
                            for level in LEVELS
                        }
                        for number, scores in one.rankings["default"].items()
                    }
                },
            }
        )
        for one in sets
    ]
    return '{"sets": [\n' + ",\n".join(lines) + "\n]}\n"
