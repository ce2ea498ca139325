"""The report of an evaluation: measures of each ranking, paired differences, scores of every question.

Pure. Its JSON form is also what a later run is compared with.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.errors import UsageError
from wikiq.eval.intervals import macro_mean, paired_interval
from wikiq.eval.judged import DEPTHS, RANKS
from wikiq.model.results import FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wikiq.eval.evaluate import Judgement
    from wikiq.eval.intervals import Interval

    # What one question scored: level ("section", "page") -> measure -> value.
    Scores = Mapping[str, Mapping[str, float]]

LEVELS = ("section", "page")
MEASURES = (*(f"recall@{depth}" for depth in DEPTHS), f"mrr@{RANKS}", f"ndcg@{RANKS}")
COMPARED = (f"mrr@{RANKS}", f"recall@{DEPTHS[-1]}")  # what intervals are taken of
_DIGITS = 4


class ScoredSet(Record):
    """One set under several rankings: ranking -> question -> its scores. Sets are averaged by `family`."""

    name: str
    family: str
    lost: int
    rankings: Mapping[str, Mapping[str, Scores]]


def scored(judgements: Iterable[Judgement]) -> dict[str, Scores]:
    """Turn judgements into the scores of each question, by its id."""
    return {
        one.number: {"section": one.section.measures(), "page": one.page.measures()} for one in judgements
    }


def mean(sets: Iterable[ScoredSet], ranking: str, level: str, measure: str) -> float:
    """Average a measure over families of sets of questions, each family and set weighing the same."""
    return macro_mean(
        _by_family(sets, lambda one: [each[level][measure] for each in one.rankings[ranking].values()])
    )


def difference(sets: Iterable[ScoredSet], ranking: str, against: str, level: str, measure: str) -> Interval:
    """By how much `ranking` is above `against` on the questions that both have answered."""

    def differences(one: ScoredSet) -> list[float]:
        other = one.rankings[against]
        return [
            scores[level][measure] - other[number][level][measure]
            for number, scores in one.rankings[ranking].items()
            if number in other
        ]

    return paired_interval(_by_family(sets, differences))


def with_stored(sets: Iterable[ScoredSet], stored: Any, label: str = "stored") -> list[ScoredSet]:
    """Add the `default` scores of an earlier report to those of this run, under `label`.

    Raises UsageError for a document that is no report.
    """
    try:
        earlier = {
            str(one["name"]): one["scores"].get("default") or next(iter(one["scores"].values()))
            for one in stored["sets"]
        }
        return [
            one.replace(rankings={**one.rankings, label: earlier[one.name]})
            for one in sets
            if one.name in earlier
        ]
    except (KeyError, TypeError, AttributeError, StopIteration) as error:
        raise UsageError("", "the stored run is no report", "store one with --json") from error


def report_document(sets: Sequence[ScoredSet], rankings: Sequence[str]) -> dict[str, Any]:
    """Give everything as one JSON document; the first ranking is compared with each of the others."""
    return {
        "format": FORMAT,
        "rankings": list(rankings),
        "macro": _measured(sets, rankings),
        "families": {family: _measured(members, rankings) for family, members in families(sets).items()},
        "differences": {
            against: {
                level: {
                    measure: _rounded(difference(sets, rankings[0], against, level, measure))
                    for measure in COMPARED
                }
                for level in LEVELS
            }
            for against in rankings[1:]
        },
        "sets": [
            {
                "name": one.name,
                "family": one.family,
                "questions": len(next(iter(one.rankings.values()))),
                "lost": one.lost,
                "measures": _measured([one], rankings),
                "scores": one.rankings,
            }
            for one in sets
        ],
    }


def families(sets: Iterable[ScoredSet]) -> dict[str, list[ScoredSet]]:
    """Group sets by family, in the order they come."""
    grouped: dict[str, list[ScoredSet]] = {}
    for one in sets:
        grouped.setdefault(one.family, []).append(one)
    return grouped


def _by_family(
    sets: Iterable[ScoredSet], column: Callable[[ScoredSet], list[float]]
) -> list[list[list[float]]]:
    return [[column(one) for one in members] for members in families(sets).values()]


def _measured(sets: Sequence[ScoredSet], rankings: Iterable[str]) -> dict[str, Any]:
    return {
        ranking: {
            level: {
                measure: round(mean(sets, ranking, level, measure), _DIGITS)
                for measure in MEASURES
                if _has(sets, ranking, level, measure)
            }
            for level in LEVELS
        }
        for ranking in rankings
    }


def _has(sets: Sequence[ScoredSet], ranking: str, level: str, measure: str) -> bool:
    """Tell whether a ranking has a measure: a stored run may have kept those of COMPARED alone."""
    return all(measure in scores[level] for one in sets for scores in one.rankings[ranking].values())


def _rounded(interval: Interval) -> list[float]:
    return [round(bound, _DIGITS) for bound in (interval.mean, interval.low, interval.high)]
