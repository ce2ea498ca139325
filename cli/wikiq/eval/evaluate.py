"""Runs judged questions against an index under one or more rankings and records what each found.

The index is only read: what a set must change is changed in a copy in memory. Prints nothing.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, closing

from indexerd.contract.record import Record
from wikiq.eval.blanking import BlankingCopy
from wikiq.eval.judged import Found, find_pages, find_sections, path_key
from wikiq.eval.rankers import policy_ranker
from wikiq.index import sql
from wikiq.model.policies import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wikiq.eval.judged import JudgedQuestion, SectionKey
    from wikiq.eval.rankers import Ranked, Ranker
    from wikiq.index.database import Snapshot

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
    """Sections and titles of pages under the names that rankings and judgements use."""

    sections: Mapping[int, SectionKey]
    titles: Mapping[str, str]


def page_paths(snapshot: Snapshot) -> dict[int, str]:
    """The path of every page by its id."""
    return {page_id: path for page_id, path, _ in snapshot.rows(sql.SELECT_PATHS)}


def default_ranker(snapshot: Snapshot) -> Ranker:
    """Rank as `wikiq search` does."""
    return policy_ranker(DEFAULT, page_paths(snapshot))


def evaluate(
    snapshot: Snapshot, questions: Sequence[JudgedQuestion], rankers: Mapping[str, Ranker]
) -> Evaluation:
    """Rank every question with each of the rankers; the snapshot needs PATIENCE_S."""
    places = _read_places(snapshot)
    with ExitStack() as opened:
        blanked = any(one.blank_heading for one in questions)
        copy = opened.enter_context(closing(BlankingCopy(snapshot))) if blanked else None
        judgements = {
            name: tuple(_judge(one, ranker, snapshot, copy, places) for one in questions)
            for name, ranker in rankers.items()
        }
    return Evaluation(judgements=judgements, lost=_count_lost(questions, places))


def _read_places(snapshot: Snapshot) -> _Places:
    rows = snapshot.rows(sql.SELECT_SECTION_PATHS)
    return _Places(
        sections={rowid: (path, path_key(json.loads(names), title)) for rowid, path, title, names in rows},
        titles={path: title for _, path, title in snapshot.rows(sql.SELECT_PATHS)},
    )


def _judge(
    question: JudgedQuestion,
    ranker: Ranker,
    snapshot: Snapshot,
    copy: BlankingCopy | None,
    places: _Places,
) -> Judgement:
    if copy is None or not question.blank_heading:
        return _found(question, ranker(snapshot, question, ()), places)
    blanked = _wanted_sections(question, places)
    with copy.without_headings(blanked) as state:
        return _found(question, ranker(state, question, blanked), places)


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
