"""What ranks a judged question: a policy, over the state of an index it is given.

A ranker is told the question and the sections that must be without their own heading; the state it
gets has them so. It gives section row ids and page paths, best first.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.model.request import NO_FILTERS
from wikiq.query.exclusions import settle_dashes
from wikiq.query.parse import analyze_question
from wikiq.query.vocabulary import look_up_terms
from wikiq.ranking.candidates import fetch_ranking
from wikiq.ranking.score import best_of_each_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wikiq.eval.judged import JudgedQuestion
    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy

PAGES_RANKED = 60  # no measure looks deeper than 12, and some pages are left out afterwards


class Ranked(Record):
    """Sections by row id and pages by path, best first; a ranking of pages alone has no sections."""

    sections: tuple[int, ...]
    pages: tuple[str, ...]


if TYPE_CHECKING:
    Ranker = Callable[[Snapshot, JudgedQuestion, Sequence[int]], Ranked]


def policy_ranker(policy: Policy, pages: Mapping[int, str]) -> Ranker:
    """Rank as `wikiq search` does under `policy`; `pages` are the paths by page id."""

    def rank(snapshot: Snapshot, asked: JudgedQuestion, _: Sequence[int]) -> Ranked:
        question = settle_dashes(snapshot, analyze_question(asked.text))
        if question.is_blank:
            return Ranked(sections=(), pages=())
        filters = NO_FILTERS.replace(paths=(asked.scope_page,)) if asked.scope_page else NO_FILTERS
        vocabulary = look_up_terms(snapshot, question, policy)
        ranked = fetch_ranking(snapshot, question, vocabulary, policy, filters, limit=PAGES_RANKED).ranked
        return Ranked(
            sections=tuple(one.section_rowid for _, one, _ in ranked if one.section_rowid is not None),
            pages=tuple(pages[one.page_id] for _, one, _ in best_of_each_page(ranked)),
        )

    return rank
