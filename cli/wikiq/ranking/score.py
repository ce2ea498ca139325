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


class Candidate(Record):
    """A section found by its text, or a page found by its name alone (`by_name`).

    `score` is the section's own. `is_exact`: what was typed is the page's slug or path (1), another
    name of it (0), none (None). `sections` is how many the page has. `literals` says of each of the
    question's literals where it is: nowhere (0), in the section (1), in its heading too (2).
    `heading_share` is how much of the question the section's whole heading is.
    `section_rowid` is None on a page without any.
    """

    section_rowid: int | None
    page_id: int
    by_name: bool
    score: float
    is_exact: int | None
    slug: str
    updated_at: str
    sections: int
    ordinal: int
    literals: tuple[int, ...] = ()
    heading_share: float = 0.0


def rarity(sections: int) -> float:
    """How much a term says that is in so many sections: 1 for one in none, falling slowly.

    Unlike an inverse document frequency it needs no count of all sections.
    """
    return 1.0 / (1.0 + log(1.0 + sections))


def rank_candidates(
    candidates: Iterable[Candidate], policy: Policy, shares: Sequence[float]
) -> list[tuple[float, Candidate]]:
    """Put candidates in their final order, each with its final score.

    `shares` says how much of the question lies in each literal (see `literal_shares`).
    """
    ordered = in_order([(candidate.score, candidate) for candidate in candidates])
    texts = [one for one in ordered if not one[1].by_name]
    pool, rest = texts[: policy.pool], texts[policy.pool :]
    best = pool[0][0] if pool else 0.0
    means = page_means(pool, policy.page_sections)
    closer = [
        (
            score
            + policy.page_weight * means[candidate.page_id]
            + best * literal_bonus(candidate, policy, shares)
            + best * heading_bonus(candidate, policy, shares),
            candidate,
        )
        for score, candidate in pool
    ]
    named = [(0.0, candidate) for _, candidate in ordered if candidate.by_name]
    ranked = [*in_order(closer), *rest, *named]
    return _exact_first(ranked) if policy.exact_names else ranked


def best_of_each_page(ranked: Iterable[tuple[float, Candidate]]) -> list[tuple[float, Candidate]]:
    """Keep the first candidate of every page."""
    first: dict[int, tuple[float, Candidate]] = {}
    for one in ranked:
        first.setdefault(one[1].page_id, one)
    return list(first.values())


def literal_shares(question: Question, sections: Mapping[str, int]) -> list[float]:
    """How much of a question lies in each of its literals; `sections` says how many hold a term."""
    weights = {term.text: rarity(sections.get(term.text, 0)) for term in question.terms}
    whole = sum(weights.values())
    return [sum(weights[term] for term in set(literal.terms)) / whole for literal in question.literals]


def in_order(scored: list[tuple[float, Candidate]]) -> list[tuple[float, Candidate]]:
    """Sort by score; equal ones by the newer page, then slug, then place on the page."""
    ordered = sorted(scored, key=lambda one: (one[1].slug, one[1].ordinal))
    ordered.sort(key=lambda one: one[1].updated_at, reverse=True)
    ordered.sort(key=lambda one: one[0], reverse=True)
    return ordered


def page_means(pool: Iterable[tuple[float, Candidate]], most: int) -> dict[int, float]:
    """The mean of each page's best scores; a page with fewer sections than that is not punished."""
    scores: dict[int, list[float]] = {}
    sections: dict[int, int] = {}
    for score, candidate in pool:
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


def _exact_first(ranked: list[tuple[float, Candidate]]) -> list[tuple[float, Candidate]]:
    """Move pages whose name was typed to the front; their scores rise by the best of the others."""
    if all(candidate.is_exact is None for _, candidate in ranked):
        return ranked
    step = 1.0 + ranked[0][0]
    tiers: list[list[tuple[float, Candidate]]] = [[], [], []]
    for score, candidate in ranked:
        tier = 0 if candidate.is_exact is None else 1 + candidate.is_exact
        tiers[tier].append((score + tier * step, candidate))
    return [one for tier in reversed(tiers) for one in tier]
