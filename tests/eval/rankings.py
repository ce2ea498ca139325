"""Every ranking that developers measure, by its name: policies, ablations, references, chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from tests.eval.ablations import ABLATIONS
from tests.eval.chunk_bench import CHUNK_RANKINGS, ChunkBench
from tests.eval.reference import REFERENCE, STRICT, ReferenceTables
from wikiq.eval.evaluate import PATIENCE_S, Evaluation, evaluate, page_paths
from wikiq.eval.judged import JudgedQuestion
from wikiq.eval.rankers import policy_ranker
from wikiq.index.database import Database, Snapshot
from wikiq.model.policies import DEFAULT

if TYPE_CHECKING:
    from wikiq.eval.rankers import Ranker

POLICIES = {DEFAULT.name: DEFAULT, **ABLATIONS}
RANKINGS = (*POLICIES, REFERENCE, STRICT, *CHUNK_RANKINGS)


def evaluate_rankings(
    database: Database, questions: Sequence[JudgedQuestion], names: Sequence[str]
) -> Evaluation:
    """Rank every question under each of the named RANKINGS; KeyError for a name that is none."""
    with database.snapshot(PATIENCE_S) as snapshot, _rankers(snapshot, names) as rankers:
        return evaluate(snapshot, questions, rankers)


@contextmanager
def _rankers(snapshot: Snapshot, names: Sequence[str]) -> Iterator[dict[str, Ranker]]:
    paths = page_paths(snapshot)
    found = {name: policy_ranker(policy, paths) for name, policy in POLICIES.items()}
    with ExitStack() as opened:
        if {REFERENCE, STRICT} & set(names):
            tables = opened.enter_context(closing(ReferenceTables(snapshot)))
            found |= {REFERENCE: tables.rank_by_reference, STRICT: tables.rank_strictly}
        if set(CHUNK_RANKINGS) & set(names):
            bench = opened.enter_context(closing(ChunkBench(snapshot)))
            found |= {name: bench.ranker(name) for name in CHUNK_RANKINGS}
        yield {name: found[name] for name in names}
