"""For a search without hits: what it would find without one of its quotes, fields, exclusions or filters.

A search that finds something never comes here.
"""

from __future__ import annotations

from wikiq.model.request import NO_FILTERS
from wikiq.model.results import Advice
from wikiq.query.vocabulary import look_up_terms
from wikiq.ranking.candidates import fetch_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy
    from wikiq.model.request import Filters, SearchRequest
    from wikiq.query.parse import Question


def advise(
    snapshot: Snapshot, request: SearchRequest, question: Question, policy: Policy, filters: Filters
) -> tuple[Advice, ...]:
    """Repeat the search, leaving out one condition at a time; give those that find something, in order."""
    advice = []
    for dropped, looser, rest in _looser(question, filters):
        vocabulary = look_up_terms(snapshot, looser, policy, exact=request.exact, prefix=request.prefix)
        total = fetch_ranking(
            snapshot, looser, vocabulary, policy, rest, limit=1, sections=request.sections
        ).total
        if total:
            advice.append(Advice(dropped=dropped, total=total))
    return tuple(advice)


def _looser(question: Question, filters: Filters) -> Iterator[tuple[str, Question, Filters]]:
    fields = [clause for clause in question.required if clause.column]
    phrases = [clause for clause in question.required if not clause.column]
    for dropped, clauses, kept in (("quotes", phrases, fields), ("fields", fields, phrases)):
        if clauses:
            words = [*question.terms, *(term for clause in clauses for term in clause.terms)]
            terms = tuple({term.text: term for term in words}.values())
            sequence = tuple(term.text for term in words)
            looser = question.replace(terms=terms, sequence=sequence, required=tuple(kept))
            yield dropped, looser, filters
    if question.excluded:
        yield "exclusions", question.replace(excluded=(), excluded_words=()), filters
    if not filters.is_empty:
        yield "filters", question, NO_FILTERS
