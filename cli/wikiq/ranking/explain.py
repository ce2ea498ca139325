"""Tells for `--explain` what each word was looked for as and which parts each score has.

Nothing is computed or asked here: the parts are those that the ranking made the score of.
"""

from __future__ import annotations

from wikiq.model.results import ExplainedResult, Explanation, ScoreParts, TermUse
from wikiq.query.match import said_terms
from wikiq.ranking.score import PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wikiq.model.policies import Policy
    from wikiq.model.results import SearchResult
    from wikiq.query.parse import Question
    from wikiq.query.vocabulary import Vocabulary
    from wikiq.ranking.score import Scored

_DIGITS = 6


def explained(
    result: SearchResult,
    *,
    question: Question,
    vocabulary: Vocabulary,
    policy: Policy,
    shown: Sequence[Scored],
) -> ExplainedResult:
    """Add to an answer how its words were taken and what the scores of its hits are made of."""
    explanation = Explanation(
        terms=tuple(_term_uses(question, vocabulary, policy)),
        scores=tuple(
            ScoreParts(**{name: round(part, _DIGITS) for name, part in zip(PARTS, parts, strict=True)})
            for _, _, parts in shown
        ),
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
