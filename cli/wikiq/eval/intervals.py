"""Paired bootstrap intervals of a difference between two rankings on the same questions.

Pure; the same differences give the same interval, since the random numbers are seeded.
"""

from __future__ import annotations

from random import Random

from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

RESAMPLES = 1000  # the bounds of a 95 % interval then rest on 25 samples either side
CONFIDENCE = 0.95
_SEED = 20260714


class Interval(Record):
    """A mean difference and the bounds it has in CONFIDENCE of the resamples."""

    mean: float
    low: float
    high: float


def paired_interval(families: Sequence[Sequence[Sequence[float]]], resamples: int = RESAMPLES) -> Interval:
    """The mean over families of the mean over their sets, questions resampled within each set.

    `families` holds sets, a set the difference on each of its questions.
    """
    random = Random(_SEED)  # noqa: S311 - not for secrets
    kept = [[one for one in family if one] for family in families]
    kept = [family for family in kept if family]
    samples = sorted(
        macro_mean([[random.choices(one, k=len(one)) for one in family] for family in kept])
        for _ in range(resamples)
    )
    cut = int(resamples * (1 - CONFIDENCE) / 2)
    return Interval(mean=macro_mean(kept), low=samples[cut], high=samples[-1 - cut])


def macro_mean(families: Sequence[Sequence[Sequence[float]]]) -> float:
    """The mean over families of the mean over sets of the mean over questions."""
    means = [_mean([_mean(one) for one in family]) for family in families]
    return _mean(means)


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
