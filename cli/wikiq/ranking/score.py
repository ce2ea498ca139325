"""Puts candidates in order: close scores, the page a section stands on, verbatim words, headings, names.

Pure. The order is the same whatever order the candidates come in: equal scores go by the newer
page, then slug, then place on the page.
"""

from __future__ import annotations

from math import log

from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wikiq.model.policies import Policy
    from wikiq.query.parse import Question


# What a score is the sum of. The first are the section's own: bm25 of what was asked, and what comes of the
# lengths of its fields. The others lift it.
BM25_PARTS = ("words", "pairs", "forms", "pieces", "piece_pairs")
_OWN_PARTS = (*BM25_PARTS, "field_lengths")
PARTS = (*_OWN_PARTS, "page", "literals", "heading", "name")
_NAME = PARTS.index("name")
_NO_LIFT = (0.0,) * (len(PARTS) - len(_OWN_PARTS))


class Candidate(Record):
    """A section found by its text, or a page found by its name alone (`by_name`).

    `own` are the parts of the section's own score, `score` their sum; a page found by its name alone
    has no parts, and its score only orders it among its like. `is_exact`: what was typed is the page's
    slug or path (1), another name of it (0), none (None). `sections` is how many the page has.
    `literals` says of each of the question's literals where it is: nowhere (0), in the section (1), in
    its heading too (2). `heading_share` is how much of the question the section's whole heading is.
    `section_rowid` is None on a page without any.
    """

    section_rowid: int | None
    page_id: int
    by_name: bool
    score: float
    own: tuple[float, ...]
    is_exact: int | None
    slug: str
    updated_at: str
    sections: int
    ordinal: int
    literals: tuple[int, ...] = ()
    heading_share: float = 0.0


if TYPE_CHECKING:
    # A candidate with its final score and the parts of it, in the order of PARTS.
    Scored = tuple[float, Candidate, tuple[float, ...]]


def rarity(sections: int) -> float:
    """How much a term says that is in so many sections: 1 for one in none, falling slowly.

    Unlike an inverse document frequency it needs no count of all sections.
    """
    return 1.0 / (1.0 + log(1.0 + sections))


def rank_candidates(candidates: Iterable[Candidate], policy: Policy, shares: Sequence[float]) -> list[Scored]:
    """Put candidates in their final order, each with its final score and what that is made of.

    `shares` says how much of the question lies in each literal (see `literal_shares`).
    """
    ordered = in_order([(one.score, one, (*one.own, *_NO_LIFT)) for one in candidates])
    texts = [one for one in ordered if not one[1].by_name]
    pool, rest = texts[: policy.pool], texts[policy.pool :]
    best = pool[0][0] if pool else 0.0
    means = page_means(pool, policy.page_sections)
    lifted = [
        _summed(
            one,
            (
                *one.own,
                policy.page_weight * means[one.page_id],
                best * literal_bonus(one, policy, shares),
                best * heading_bonus(one, policy, shares),
                0.0,
            ),
        )
        for _, one, _ in pool
    ]
    named = [_summed(one, (0.0,) * len(PARTS)) for _, one, _ in ordered if one.by_name]
    ranked = [*in_order(lifted), *rest, *named]
    return _exact_first(ranked) if policy.exact_names else ranked


def best_of_each_page(ranked: Iterable[Scored]) -> list[Scored]:
    """Keep the first candidate of every page."""
    first: dict[int, Scored] = {}
    for one in ranked:
        first.setdefault(one[1].page_id, one)
    return list(first.values())


def literal_shares(question: Question, sections: Mapping[str, int]) -> list[float]:
    """How much of a question lies in each of its literals; `sections` says how many hold a term."""
    weights = {term.text: rarity(sections.get(term.text, 0)) for term in question.terms}
    whole = sum(weights.values())
    return [sum(weights[term] for term in set(literal.terms)) / whole for literal in question.literals]


def in_order(scored: list[Scored]) -> list[Scored]:
    """Sort by score; equal ones by the newer page, then slug, then place on the page."""
    ordered = sorted(scored, key=lambda one: (one[1].slug, one[1].ordinal))
    ordered.sort(key=lambda one: one[1].updated_at, reverse=True)
    ordered.sort(key=lambda one: one[0], reverse=True)
    return ordered


def page_means(pool: Iterable[Scored], most: int) -> dict[int, float]:
    """The mean of each page's best scores; a page with fewer sections than that is not punished."""
    scores: dict[int, list[float]] = {}
    sections: dict[int, int] = {}
    for score, candidate, _ in pool:
        scores.setdefault(candidate.page_id, []).append(score)
        sections[candidate.page_id] = candidate.sections
    return {page: sum(found[:most]) / max(1, min(most, sections[page])) for page, found in scores.items()}


def literal_bonus(candidate: Candidate, policy: Policy, shares: Sequence[float]) -> float:
    """How many times the best score a section gains for the literals that it holds."""
    worth = (0.0, policy.literal_weight, policy.literal_weight + policy.literal_heading_weight)
    return sum(share * worth[where] for share, where in zip(shares, candidate.literals, strict=True))


def heading_bonus(candidate: Candidate, policy: Policy, shares: Sequence[float]) -> float:
    """How many times the best score a section gains where its whole heading stands in the question.

    The heading `C` is no answer to `C++`: it counts the less, the more of the question lies in literals
    that the section does not hold.
    """
    absent = sum(share for share, where in zip(shares, candidate.literals, strict=True) if not where)
    return policy.heading_weight * candidate.heading_share * max(0.0, 1.0 - absent)


def _summed(candidate: Candidate, parts: tuple[float, ...]) -> Scored:
    return sum(parts), candidate, parts


def _exact_first(ranked: list[Scored]) -> list[Scored]:
    """Move pages whose name was typed to the front; their scores rise by the best of the others."""
    if all(candidate.is_exact is None for _, candidate, _ in ranked):
        return ranked
    step = 1.0 + ranked[0][0]
    tiers: list[list[Scored]] = [[], [], []]
    for one in ranked:
        _, candidate, parts = one
        tier = 0 if candidate.is_exact is None else 1 + candidate.is_exact
        lifted = (*parts[:_NAME], parts[_NAME] + tier * step, *parts[_NAME + 1 :])
        tiers[tier].append(_summed(candidate, lifted) if tier else one)
    return [one for tier in reversed(tiers) for one in tier]
