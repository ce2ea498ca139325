"""Judged questions: reads a set, and finds the ranks at which wanted answers stand.

Pure. What a ranking is made of is not known here; sections come as (page, key) pairs.
"""

from __future__ import annotations

import json
from math import log2

from indexerd.contract.record import Record
from indexerd.contract.terms import fold_title, tokens
from wikiq.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

RANKS = 10  # that MRR and nDCG look at
DEPTHS = (1, 5, 12)  # at which recall is taken; 12 is what a reader of two screens sees

SectionKey = tuple[str, tuple[str, ...]]


class Wanted(Record):
    """One right answer: a section of a page, or with `heading_path` None any of its sections."""

    page: str
    heading_path: tuple[str, ...] | None


class JudgedQuestion(Record):
    """One line of a set.

    `exclude_pages` are dropped before ranks are counted, since the question was taken from them;
    only `scope_page` is ranked where it is given. `blank_heading`: the wanted section is to be
    indexed without its own heading, which is the question.
    """

    number: str
    text: str
    relevant: tuple[Wanted, ...]
    exclude_pages: frozenset[str]
    scope_page: str | None
    blank_heading: bool


class Found(Record):
    """The ranks (from 1) at which wanted answers stand, and how many are wanted."""

    ranks: tuple[int, ...]
    wanted: int

    def recall(self, depth: int) -> float:
        """The share of the wanted answers among the first `depth`."""
        return sum(rank <= depth for rank in self.ranks) / self.wanted

    def reciprocal_rank(self) -> float:
        """One over the rank of the first wanted answer; 0 past RANKS."""
        return 1.0 / self.ranks[0] if self.ranks and self.ranks[0] <= RANKS else 0.0

    def gain(self) -> float:
        """The nDCG at RANKS: every wanted answer is worth the same, less the deeper it stands."""
        reached = sum(1.0 / log2(1 + rank) for rank in self.ranks if rank <= RANKS)
        return reached / sum(1.0 / log2(2 + place) for place in range(min(RANKS, self.wanted)))

    def measures(self) -> dict[str, float]:
        """Every measure by its name."""
        found = {f"recall@{depth}": self.recall(depth) for depth in DEPTHS}
        return {**found, f"mrr@{RANKS}": self.reciprocal_rank(), f"ndcg@{RANKS}": self.gain()}


def parse_set(text: str, name: str) -> list[JudgedQuestion]:
    """Read a set, one JSON object a line; a bad line raises UsageError with its number."""
    questions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            questions.append(_question(json.loads(line), number))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{name}:{number}",
                f"is no judged question ({type(error).__name__}: {error})",
                'write {"id", "query", "relevant": [{"page", "heading_path"}]}',
            ) from error
    if not questions:
        raise UsageError(name, "holds no question", "write one JSON object a line")
    return questions


def _question(told: Mapping[str, Any], number: int) -> JudgedQuestion:
    relevant = tuple(
        Wanted(
            page=_page_path(one["page"]),
            heading_path=tuple(map(str, one["heading_path"])) if "heading_path" in one else None,
        )
        for one in told["relevant"]
    )
    if not relevant:
        raise ValueError("nothing is relevant")
    return JudgedQuestion(
        number=str(told.get("id", number)),
        text=str(told["query"]),
        relevant=relevant,
        exclude_pages=frozenset(map(_page_path, told.get("exclude_pages", ()))),
        scope_page=_page_path(told["scope_page"]) if told.get("scope_page") else None,
        blank_heading=bool(told.get("blank_heading", False)),
    )


def _page_path(told: object) -> str:
    """A page's path as the index spells it; one made of an address may hold two slashes in a row."""
    return "/".join(part for part in str(told).split("/") if part not in ("", "."))


def path_key(heading_path: Iterable[str], title: str) -> tuple[str, ...]:
    """What heading paths compare by: words alone, folded, without a first element that is the title."""
    names = tuple(_words(name) for name in heading_path)
    return names[1:] if names and names[0] == _words(title) else names


def _words(text: str) -> str:
    return " ".join(tokens(fold_title(text)))


def find_sections(question: JudgedQuestion, ranked: Iterable[SectionKey], titles: Mapping[str, str]) -> Found:
    """Find the wanted sections among ranked ones; each counts once, at its best rank."""
    left = {
        (one.page, None if one.heading_path is None else path_key(one.heading_path, titles.get(one.page, "")))
        for one in question.relevant
    }
    wanted = len(left)
    ranks = []
    for rank, (page, key) in enumerate(ranked, 1):
        held = left & {(page, key), (page, None)}
        ranks += [rank] * len(held)
        left -= held
        if not left:
            break
    return Found(ranks=tuple(ranks), wanted=wanted)


def find_pages(question: JudgedQuestion, ranked: Sequence[str]) -> Found:
    """Find the wanted pages among ranked ones."""
    wanted = {one.page for one in question.relevant}
    ranks = tuple(rank for rank, page in enumerate(ranked, 1) if page in wanted)
    return Found(ranks=ranks, wanted=len(wanted))
