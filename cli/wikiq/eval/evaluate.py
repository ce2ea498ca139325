"""Runs judged questions against an index under several rankings and tells what each found.

Builds what a set needs in memory and never writes the index. Prints nothing.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, closing, nullcontext

from indexerd.contract.record import Record
from wikiq.errors import UsageError
from wikiq.eval.ablations import ABLATIONS
from wikiq.eval.chunk_bench import CHUNK_RANKINGS, ChunkBench
from wikiq.eval.judged import Found, find_pages, find_sections, path_key
from wikiq.eval.rankers import policy_ranker, rank_by_reference, rank_strictly
from wikiq.eval.workbench import Workbench
from wikiq.index import sql
from wikiq.model.policies import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wikiq.eval.judged import JudgedQuestion, SectionKey
    from wikiq.eval.rankers import Ranked, Ranker
    from wikiq.index.database import Snapshot

REFERENCE, STRICT = "frozen", "strict"  # built in memory; nobody searches by them
RANKINGS = (DEFAULT.name, REFERENCE, STRICT, *ABLATIONS)
PATIENCE_S = 24 * 3600.0  # of the snapshot: a large set takes minutes, and nobody waits at a prompt


class Judgement(Record):
    """What one ranking found for one question."""

    number: str
    section: Found
    page: Found


class Evaluation(Record):
    """The judgements of each ranking by its name; `lost` counts right answers the index does not hold."""

    judgements: Mapping[str, tuple[Judgement, ...]]
    lost: int


class _Places(Record):
    """What right answers are compared with: sections and pages by what rankings call them."""

    sections: Mapping[int, SectionKey]
    titles: Mapping[str, str]
    pages: Mapping[int, str]


def evaluate(snapshot: Snapshot, questions: Sequence[JudgedQuestion], rankings: Sequence[str]) -> Evaluation:
    """Rank every question under each of the named RANKINGS or CHUNK_RANKINGS.

    Raises UsageError for a name that is none, and for chunks of a section that is to lose its heading.
    """
    of_chunks = any(name in CHUNK_RANKINGS for name in rankings)
    blanked = any(one.blank_heading for one in questions)
    if of_chunks and blanked:
        raise UsageError("--unit chunk", "a question is the heading of its section", "leave it out")
    with ExitStack() as opened:
        places = _read_places(snapshot)
        copied = {REFERENCE, STRICT} & set(rankings) or blanked
        bench = opened.enter_context(closing(Workbench(snapshot))) if copied else None
        chunks = opened.enter_context(closing(ChunkBench(snapshot))) if of_chunks else None
        rankers = {name: _ranker(name, places, chunks) for name in rankings}
        judgements = {
            name: tuple(_judge(one, ranker, snapshot, bench, places) for one in questions)
            for name, ranker in rankers.items()
        }
    return Evaluation(judgements=judgements, lost=_count_lost(questions, places))


def _read_places(snapshot: Snapshot) -> _Places:
    rows = snapshot.rows(sql.SELECT_SECTION_PATHS)
    pages = snapshot.rows(sql.COPY_PAGES)
    return _Places(
        sections={rowid: (path, path_key(json.loads(names), title)) for rowid, path, title, names in rows},
        titles={path: title for _, _, path, title, *_ in pages},
        pages={page_id: path for page_id, _, path, *_ in pages},
    )


def _ranker(name: str, places: _Places, chunks: ChunkBench | None) -> Ranker:
    if chunks is not None and name in CHUNK_RANKINGS:
        return chunks.ranker(name)
    if name == REFERENCE:
        return rank_by_reference
    if name == STRICT:
        return rank_strictly
    policy = DEFAULT if name == DEFAULT.name else ABLATIONS.get(name)
    if policy is None:
        raise UsageError(name, "is no ranking", f"name one of {', '.join(RANKINGS)}")
    return policy_ranker(policy, places.pages)


def _judge(
    question: JudgedQuestion, ranker: Ranker, snapshot: Snapshot, bench: Workbench | None, places: _Places
) -> Judgement:
    on_copy = bench is not None and (question.blank_heading or ranker in (rank_by_reference, rank_strictly))
    state = bench.snapshot if bench is not None and on_copy else snapshot
    blanked = _wanted_sections(question, places) if question.blank_heading else []
    with bench.without_headings(blanked) if bench is not None and blanked else nullcontext():
        ranked = ranker(state, question.text, question.scope_page)
    return _found(question, ranked, places)


def _found(question: JudgedQuestion, ranked: Ranked, places: _Places) -> Judgement:
    """Hold a ranking against the right answers, without the pages the question was taken from."""
    sections = [places.sections[rowid] for rowid in ranked.sections if rowid in places.sections]
    return Judgement(
        number=question.number,
        section=find_sections(
            question, (one for one in sections if one[0] not in question.exclude_pages), places.titles
        ),
        page=find_pages(question, [page for page in ranked.pages if page not in question.exclude_pages]),
    )


def _wanted_sections(question: JudgedQuestion, places: _Places) -> list[int]:
    wanted = {
        (one.page, path_key(one.heading_path, places.titles.get(one.page, "")))
        for one in question.relevant
        if one.heading_path is not None
    }
    return [rowid for rowid, key in places.sections.items() if key in wanted]


def _count_lost(questions: Iterable[JudgedQuestion], places: _Places) -> int:
    held = set(places.sections.values())
    return sum(
        one.page not in places.titles
        if one.heading_path is None
        else (one.page, path_key(one.heading_path, places.titles.get(one.page, ""))) not in held
        for question in questions
        for one in question.relevant
    )
