"""Takes a ranking apart for `--explain`: what each word was looked for as, what each score is made of.

It asks once more about the hits that are shown; a search that explains nothing never comes here.
"""

from __future__ import annotations

import json

from wikiq.index import sql
from wikiq.model.results import ExplainedResult, Explanation, ScoreParts, TermUse
from wikiq.query.match import match_expressions, said_terms
from wikiq.ranking.candidates import scored_parts
from wikiq.ranking.score import heading_bonus, in_order, literal_bonus, literal_shares, page_means

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy
    from wikiq.model.results import SearchResult
    from wikiq.query.parse import Question
    from wikiq.query.vocabulary import Vocabulary
    from wikiq.ranking.candidates import Ranking
    from wikiq.ranking.score import Candidate

_DIGITS = 6


def explained(
    result: SearchResult,
    snapshot: Snapshot,
    *,
    question: Question,
    vocabulary: Vocabulary,
    policy: Policy,
    ranking: Ranking,
    shown: Sequence[tuple[float, Candidate]],
) -> ExplainedResult:
    """Add to an answer how its words were taken and what the scores of its hits are made of."""
    rowids = json.dumps([candidate.section_rowid for _, candidate in shown])
    expressions = match_expressions(
        question, vocabulary.uses, vocabulary.forms, with_function_words=policy.function_words
    )
    own: dict[str, dict[int, float]] = {
        part.name: dict(
            snapshot.rows(
                sql.SCORED_ROWS.format(table=part.table), (*policy.weights, part.weight, part.asked, rowids)
            )
        )
        for part in scored_parts(expressions, policy)
    }
    candidates = [(one.score, one) for _, one in ranking.ranked if not one.by_name]
    pool = in_order(candidates)[: policy.pool]
    means = page_means(pool, policy.page_sections)
    best = pool[0][0] if pool else 0.0
    pooled = {candidate.section_rowid for _, candidate in pool}
    shares = literal_shares(question, vocabulary.sections) if policy.literal_weight else []

    def parts_of(score: float, candidate: Candidate) -> ScoreParts:
        lifted = candidate.section_rowid in pooled and not candidate.by_name
        page = policy.page_weight * means[candidate.page_id] if lifted else 0.0
        literals = best * literal_bonus(candidate, policy, shares) if lifted else 0.0
        heading = best * heading_bonus(candidate, policy, shares) if lifted else 0.0
        known = 0.0 if candidate.by_name else candidate.score + page + literals + heading
        rowid = candidate.section_rowid
        told = {name: scores.get(rowid, 0.0) for name, scores in own.items() if rowid is not None}
        fields = dict.fromkeys(("words", "pairs", "forms", "pieces", "piece_pairs"), 0.0) | told
        fields |= {"page": page, "literals": literals, "heading": heading, "name": score - known}
        return ScoreParts(**{name: round(value, _DIGITS) + 0.0 for name, value in fields.items()})

    explanation = Explanation(
        terms=tuple(_term_uses(question, vocabulary, policy)),
        scores=tuple(parts_of(score, candidate) for score, candidate in shown),
    )
    fields = {field: getattr(result, field) for field in type(result).fields}
    return ExplainedResult(**fields, explanation=explanation)


def _term_uses(question: Question, vocabulary: Vocabulary, policy: Policy) -> Iterator[TermUse]:
    kept = question.terms if policy.function_words else said_terms(question)
    for term in question.terms:
        use = vocabulary.uses.get(term.text)
        sections = vocabulary.sections.get(term.text, 0)
        forms = vocabulary.forms.get(term.text, ())
        if use is not None and use.text != term.text:
            yield TermUse(typed=term.typed, used=use.text, kind="corrected", sections=sections, forms=forms)
        elif use is not None:
            said = "word" if term in kept else "function_word"
            kind = "beginning" if use.is_prefix else said
            yield TermUse(typed=term.typed, used=use.text, kind=kind, sections=sections, forms=forms)
        else:
            kind = "pieces" if term.pieces else "absent"
            used = " ".join(term.pieces) or term.text
            yield TermUse(typed=term.typed, used=used, kind=kind, sections=0, forms=forms)
