"""The rankings that an evaluation compares: a policy of this reader, the reference policy, strict AND.

Each gives section row ids and page paths, best first, for one judged question.
"""

from __future__ import annotations

import re

from indexerd.contract.record import Record
from wikiq.index import sql
from wikiq.model.request import NO_FILTERS
from wikiq.query.match import quoted
from wikiq.query.parse import analyze_question
from wikiq.query.vocabulary import look_up_terms
from wikiq.ranking.candidates import fetch_ranking
from wikiq.ranking.score import best_of_each_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy

PAGES_RANKED = 60  # no measure looks deeper than 12, and some pages are left out afterwards
_WORD = re.compile(r"\w+")


class Ranked(Record):
    """Sections by row id and pages by path, best first; a ranking of pages alone has no sections."""

    sections: tuple[int, ...]
    pages: tuple[str, ...]


if TYPE_CHECKING:
    # The question's text, and the path of the one page that is ranked (None: all of them).
    Ranker = Callable[[Snapshot, str, str | None], Ranked]


def policy_ranker(policy: Policy, pages: Mapping[int, str]) -> Ranker:
    """Rank as `wikiq search` does under `policy`; `pages` are the paths by page id."""

    def rank(snapshot: Snapshot, text: str, scope: str | None) -> Ranked:
        question = analyze_question(text)
        if question.is_blank:
            return Ranked(sections=(), pages=())
        filters = NO_FILTERS if scope is None else NO_FILTERS.replace(paths=(scope,))
        vocabulary = look_up_terms(snapshot, question, policy)
        ranked = fetch_ranking(snapshot, question, vocabulary, policy, filters, limit=PAGES_RANKED).ranked
        return Ranked(
            sections=tuple(one.section_rowid for _, one in ranked if one.section_rowid is not None),
            pages=tuple(pages[one.page_id] for _, one in best_of_each_page(ranked)),
        )

    return rank


def rank_by_reference(snapshot: Snapshot, text: str, scope: str | None) -> Ranked:
    """Rank as the reference policy does: the OR of every word as a prefix, over sections."""
    words = [quoted(word, is_prefix=True) for word in dict.fromkeys(_WORD.findall(text.lower()))]
    if not words:
        return Ranked(sections=(), pages=())
    rows = snapshot.rows(sql.SELECT_REFERENCE_SECTIONS, (" OR ".join(words), scope))
    best: dict[str, tuple[float, str, str]] = {}
    for _, path, slug, updated_at, score in rows:
        best.setdefault(path, (score, updated_at, slug))
    pages = sorted(best, key=lambda path: best[path][2])
    pages.sort(key=lambda path: best[path][1], reverse=True)
    pages.sort(key=lambda path: best[path][0])
    return Ranked(sections=tuple(row[0] for row in rows), pages=tuple(pages))


def rank_strictly(snapshot: Snapshot, text: str, scope: str | None) -> Ranked:
    """Rank pages that hold every word, by their whole text."""
    words = [quoted(word) for word in dict.fromkeys(_WORD.findall(text.lower()))]
    if not words:
        return Ranked(sections=(), pages=())
    rows = snapshot.rows(sql.SELECT_REFERENCE_PAGES, (" AND ".join(words), scope))
    return Ranked(sections=(), pages=tuple(path for (path,) in rows))
