"""Fetches what may answer a question: one statement, put together from the parts the question has.

Every value is bound; what is pasted are constants of `sql`. The order is made in `ranking`.
"""

from __future__ import annotations

import json

from indexerd.contract.record import Record
from indexerd.contract.terms import fold_path, fold_title
from wikiq.index import sql
from wikiq.index.asked import Asked, AskedClause, AskedPart
from wikiq.query.filters import page_condition
from wikiq.query.match import clause_condition, match_expressions, name_expression
from wikiq.ranking.field_lengths import TEXT_MAX, length_factors
from wikiq.ranking.heading_match import heading_share
from wikiq.ranking.score import BM25_PARTS, Candidate, literal_shares, rank_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy
    from wikiq.model.request import Filters
    from wikiq.query.match import Expressions
    from wikiq.query.parse import Clause, Question
    from wikiq.query.vocabulary import Vocabulary
    from wikiq.ranking.score import Scored

_SECTION, _HEADING, _SCORE = 1, 8, 9  # their places in a row of SELECT_RANKED


class Ranking(Record):
    """Candidates with their final scores, in order; `total` counts all pages (or sections) that match."""

    ranked: list[Scored]
    total: int


class _Fragment(Record):
    """Some SQL with the values it binds."""

    text: str
    values: tuple[Any, ...] = ()


def fetch_ranking(
    snapshot: Snapshot,
    question: Question,
    vocabulary: Vocabulary,
    policy: Policy,
    filters: Filters,
    *,
    limit: int,
    sections: bool = False,
    in_parts: bool = False,
) -> Ranking:
    """Fetch and rank sections, and pages that only their name finds; `limit` hits can be taken of it.

    `filters` are checked ones. `sections`: hits are sections, not pages. `in_parts`: a section's own
    score comes in its parts; else all of it counts as the first, since sums of each cost 5 % more.
    """
    expressions = match_expressions(
        question, vocabulary.uses, vocabulary.forms, with_function_words=policy.function_words
    )
    condition, bound = page_condition(filters)
    asked = _asked(
        parts=_scored_parts(expressions, policy),
        weights=policy.weights,
        required=tuple(map(_asked_clause, question.required)),
        excluded=tuple(map(_asked_clause, question.excluded)),
        literals=tuple(literal.text for literal in question.literals) if policy.literal_weight else (),
        names=_asked_names(question, vocabulary, policy),
        typed=_asked_name(question, policy),
        is_everything=filters.is_empty,
        condition=condition,
        bound=bound,
        pool=max(policy.pool, limit if sections else 0),
        pages=limit,
        sections=sections,
        in_parts=in_parts,
    )
    rows = snapshot.candidates(asked)
    shares = literal_shares(question, vocabulary.sections)[: len(asked.literals)]
    headings = _heading_shares(question, vocabulary, rows) if policy.heading_weight else {}
    factors = _length_factors(snapshot, rows, question, vocabulary, policy) if policy.measured else {}
    return Ranking(
        ranked=rank_candidates(
            (_candidate(row, len(asked.literals), headings, factors) for row in rows), policy, shares
        ),
        total=rows[0][-1] if rows else 0,
    )


def _asked(**told: Any) -> Asked:
    """Put the question together, with the one statement that asks it of the file."""
    asked = Asked(**told, statement="", values=())
    parts = _found(asked.parts, asked.weights)
    clauses = _clauses(asked)
    names = _names(asked.names)
    statement = sql.SELECT_RANKED.format(
        parts=parts.text,
        sums=_sums(asked.parts if asked.in_parts else ()),
        own=", ".join(BM25_PARTS),
        clauses=clauses.text,
        names=names.text,
        everything=int(asked.is_everything),
        condition=asked.condition,
        literals=", ".join(sql.HOLDS_LITERAL for _ in asked.literals) or "1",
        counted="passed" if asked.sections else "best",
    )
    values = (
        *parts.values,
        *clauses.values,
        *asked.bound,
        *asked.typed,
        *names.values,
        *asked.bound,
        asked.pool,
        asked.pages,
        asked.pages,
        *(literal for literal in asked.literals for _ in range(2)),
    )
    return asked.replace(statement=statement, values=values)


def _scored_parts(expressions: Expressions, policy: Policy) -> list[AskedPart]:
    """The parts of a section's score that a question has."""
    parts = (
        AskedPart(name="words", table="sections_fts", weight=1.0, asked=expressions.words),
        AskedPart(name="pairs", table="sections_fts", weight=policy.pair_weight, asked=expressions.pairs),
        AskedPart(name="forms", table="sections_fts", weight=policy.form_weight, asked=expressions.forms),
        AskedPart(
            name="pieces", table="sections_grams", weight=policy.piece_weight, asked=expressions.pieces
        ),
        AskedPart(
            name="piece_pairs",
            table="sections_grams",
            weight=policy.piece_weight * policy.piece_pair_weight,
            asked=expressions.piece_pairs,
        ),
    )
    return [part for part in parts if part.weight and part.asked]


def _sums(asked: Sequence[AskedPart]) -> str:
    """A column for each part of a section's own score; all in the first where no parts are told."""
    sums = dict.fromkeys(BM25_PARTS, "0.0")
    if asked:
        sums |= {part.name: sql.PART_SUM.format(part=number) for number, part in enumerate(asked)}
    else:
        sums[BM25_PARTS[0]] = sql.WHOLE_SUM
    return ", ".join(f"{value} AS {name}" for name, value in sums.items())


def _found(parts: Sequence[AskedPart], weights: Sequence[float]) -> _Fragment:
    """A row for every section that a part fits, with what it adds to the section's score."""
    return _Fragment(
        text=" UNION ALL ".join(
            sql.SCORED_PART.format(part=number, table=part.table) for number, part in enumerate(parts)
        )
        or sql.NO_PART,
        values=tuple(v for part in parts for v in (*weights, part.weight, part.asked)),
    )


def _asked_clause(clause: Clause) -> AskedClause:
    condition = clause_condition(clause)
    return AskedClause(
        natural=condition.natural,
        pieces=condition.pieces,
        rest=condition.rest,
        column=clause.column,
        literals=tuple(clause.literals),
    )


def _clauses(asked: Asked) -> _Fragment:
    """What a section must hold and must not."""
    held = [_holds_clause(clause) for clause in asked.required]
    kept_out = [_holds_clause(clause) for clause in asked.excluded]
    texts = [part.text for part in held] + [f"NOT {part.text}" for part in kept_out]
    return _Fragment(
        text=" AND ".join(texts) or "1", values=tuple(v for part in held + kept_out for v in part.values)
    )


def _holds_clause(clause: AskedClause) -> _Fragment:
    """The condition of a clause: its words side by side, and those with signs as they were typed."""
    words = _holds(clause)
    if not clause.literals:
        return words
    signs = sql.HOLDS_SIGNS.format(text=sql.SIGNS_IN[clause.column])
    return _Fragment(
        text=f"({' AND '.join((words.text, *(signs for _ in clause.literals)))})",
        values=(*words.values, *clause.literals),
    )


def _holds(clause: AskedClause) -> _Fragment:
    """The condition of a clause's words alone."""
    if not clause.pieces:
        return _Fragment(text=sql.HOLDS_WORDS, values=(clause.natural,))
    if not clause.rest:
        return _Fragment(
            text=f"({sql.HOLDS_WORDS} OR {sql.HOLDS_PIECES})", values=(clause.natural, clause.pieces)
        )
    return _Fragment(
        text=f"({sql.HOLDS_WORDS} OR {sql.HOLDS_PIECES} AND {sql.HOLDS_WORDS})",
        values=(clause.natural, clause.pieces, clause.rest),
    )


def _asked_names(question: Question, vocabulary: Vocabulary, policy: Policy) -> str:
    """What finds pages by their name; a name cannot show that a phrase is held or a word is not."""
    if not policy.names or question.required or question.excluded:
        return ""
    return name_expression(question, vocabulary.uses)


def _asked_name(question: Question, policy: Policy) -> tuple[str, str]:
    """The question as the name of a page, folded as a path and as a title; empty where none is sought."""
    typed = question.text.strip() if policy.exact_names else ""
    return fold_path(typed), fold_title(typed)


def _names(expression: str) -> _Fragment:
    if not expression:
        return _Fragment(text=sql.NO_NAMED_PAGES)
    return _Fragment(text=sql.NAMED_PAGES, values=(expression,))


def _heading_shares(
    question: Question, vocabulary: Vocabulary, rows: Sequence[tuple[Any, ...]]
) -> dict[str | None, float]:
    """How much of the question each heading is; pages of several versions share most of theirs."""
    uses = vocabulary.uses
    asked = [uses[term].text if term in uses else term for term in question.sequence]
    return {heading: heading_share(asked, heading) for heading in {row[_HEADING] for row in rows} if heading}


def _length_factors(
    snapshot: Snapshot,
    rows: Sequence[tuple[Any, ...]],
    question: Question,
    vocabulary: Vocabulary,
    policy: Policy,
) -> dict[int | None, float]:
    """What the lengths of its fields make of the score of each section; the best of them are read for it."""
    scores = {row[_SECTION]: row[_SCORE] for row in rows if not row[0]}
    best = sorted(scores, key=lambda rowid: (-scores[rowid], rowid))[: policy.measured]
    texts = snapshot.rows(sql.SELECT_FIELDS, (TEXT_MAX, json.dumps(best)))
    average = snapshot.average_lengths()
    return length_factors(scores, texts, question, vocabulary, policy=policy, average=average)


def _candidate(
    row: tuple[Any, ...],
    literals: int,
    headings: Mapping[str | None, float],
    factors: Mapping[int | None, float],
) -> Candidate:
    kind, section_rowid, page_id, is_exact, slug, updated_at, sections, ordinal, heading, *rest = row
    bm25 = rest[1 : 1 + len(BM25_PARTS)]
    whole = sum(bm25)
    own = (*bm25, whole * (factors.get(section_rowid, 1.0) - 1.0))
    return Candidate(
        section_rowid=section_rowid,
        page_id=page_id,
        by_name=bool(kind),
        score=rest[0] if kind else sum(own),
        own=own,
        is_exact=is_exact,
        slug=slug,
        updated_at=updated_at,
        sections=sections,
        ordinal=ordinal if ordinal is not None else 0,
        literals=tuple(rest[1 + len(BM25_PARTS) :][:literals]),
        heading_share=headings.get(heading, 0.0),
    )
