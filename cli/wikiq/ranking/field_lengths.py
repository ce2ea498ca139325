"""Weighs the words of a section by the length of the field that they stand in (BM25F).

Pure. SQLite's bm25 knows one length a row, so that a word in a heading counts for less the longer the text
below it is. BM25F divides what a field holds by the length of that field (Robertson and Zaragoza, The
Probabilistic Relevance Framework, 2009, 3.6). A section's score is multiplied by what the one gives over the
other for the words alone: whatever else the score is made of keeps its share.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from indexerd.contract.terms import is_unspaced, tokens
from wikiq.index.row_lengths import WORD_PIECES
from wikiq.query.match import said_terms
from wikiq.ranking.score import rarity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wikiq.index.row_lengths import Lengths
    from wikiq.model.policies import Policy
    from wikiq.query.parse import Question
    from wikiq.query.vocabulary import Vocabulary

K1 = 1.2  # of bm25 as SQLite has it (https://sqlite.org/fts5.html#the_bm25_function): how soon words saturate
B = 0.75  # of the same: how much the length of a row counts
TEXT_MAX = 4096  # characters of a body that are counted: how dense words are shows by then
_FIRST_UNSPACED = "\u0e00"  # Thai: no character before it is of such a script


class _Field(Record):
    """A text as its terms, each with a blank before and after it, and how many words that is."""

    terms: str
    length: float


def length_factors(
    scores: Mapping[int, float],
    texts: Iterable[tuple[Any, ...]],
    question: Question,
    vocabulary: Vocabulary,
    *,
    policy: Policy,
    average: Lengths,
) -> dict[int | None, float]:
    """What to multiply each of the `scores` by; they and the factors are by the row id of their section.

    `texts` are those of the best: row id, title, ancestors, heading, TEXT_MAX characters of the body. The
    scores of the others are lowered together where the best of them would else come to stand before a section
    whose text was read.
    """
    sought = _sought(question, vocabulary, policy)
    factors: dict[int | None, float] = {
        rowid: _factor([_field(text) for text in fields], sought, policy, average) for rowid, *fields in texts
    }
    last = min((score * factors[rowid] for rowid, score in scores.items() if rowid in factors), default=0.0)
    others = [rowid for rowid in scores if rowid not in factors]
    further = max((scores[rowid] for rowid in others), default=0.0)
    if further > last:
        factors |= dict.fromkeys(others, last / further)
    return factors


def _sought(question: Question, vocabulary: Vocabulary, policy: Policy) -> dict[str, float]:
    """What is counted in a field, words and bigrams of scripts without blanks, and how much each says."""
    sought: dict[str, float] = {}
    for term in said_terms(question):
        use = vocabulary.uses.get(term.text)
        if use is not None:
            text = _spaced(use.text.split())
            sought[text[:-1] if use.is_prefix else text] = rarity(vocabulary.sections.get(term.text, 0))
        sought |= {piece: policy.piece_weight for piece in term.pieces if is_unspaced(piece)}
    return sought


def _field(text: str) -> _Field:
    terms = tokens(text)
    if text.isascii():
        return _Field(terms=_spaced(terms), length=float(len(terms)))
    length = sum(
        len(term) / WORD_PIECES if term >= _FIRST_UNSPACED and is_unspaced(term) else 1.0 for term in terms
    )
    return _Field(terms=_spaced(terms), length=length)


def _spaced(terms: Sequence[str]) -> str:
    return f" {'  '.join(terms)} " if terms else ""


def _factor(fields: Sequence[_Field], sought: Mapping[str, float], policy: Policy, average: Lengths) -> float:
    """What BM25F gives over what bm25 gives; 1 where no field holds any of the words."""
    *headings, body = fields
    *weights, body_weight = policy.weights
    heading_length = sum(one.length for one in headings)
    in_headings = _normal(policy.heading_length, heading_length / average.headings)
    in_body = _normal(policy.body_length, body.length / average.body)
    in_row = K1 * _normal(B, (heading_length + body.length) / (average.headings + average.body))
    by_field = by_row = 0.0
    for term, says in sought.items():
        above = sum(weight * one.terms.count(term) for weight, one in zip(weights, headings, strict=True))
        below = body_weight * body.terms.count(term)
        if above or below:
            weighed = above / in_headings + below / in_body
            by_field += says * weighed / (weighed + K1)
            by_row += says * (above + below) / (above + below + in_row)
    return by_field / by_row if by_row else 1.0


def _normal(share: float, length: float) -> float:
    """What frequencies are divided by in a text that is `length` times as long as others are."""
    return 1.0 - share + share * length
