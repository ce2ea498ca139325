"""A measure as a ratio: samples of a subject and of what it is held against, taken alternately.

Alternating puts a slow spell of the machine on both sides. Medians, since one descheduled round must
not decide. Knows nothing of what is measured.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")

ROUNDS: Final = 5  # the fewest whose median shrugs off two bad ones


class Timing(NamedTuple):
    """Seconds that passed, and seconds of CPU of this process and of its children that have ended."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """One line of the report. `goal` is the ratio that is aimed at, None where there is none.

    `unit` is that of the samples. `beside`: the same ratio by the other clock, where there are two.
    `remark` holds what the ratio leaves out: absolute figures, parts.
    """

    measure: str
    corpus: str
    unit: str
    subject: tuple[float, ...]
    baseline: tuple[float, ...]
    goal: float | None = None
    remark: str = ""
    beside: str = ""

    @classmethod
    def by_cpu(
        cls, measure: str, corpus: str, sides: Sides, goal: float | None = None, remark: str = ""
    ) -> Ratio:
        """A line whose goal is one of CPU time; by the clock on the wall stands beside it."""
        subject, baseline = (tuple(timing.cpu for timing in side) for side in sides)
        beside = f"wall {_wall_ratio(sides):.2f}"
        return cls(measure, corpus, "CPU s", subject, baseline, goal, remark, beside)

    @classmethod
    def by_wall(
        cls, measure: str, corpus: str, sides: Sides, goal: float | None = None, remark: str = ""
    ) -> Ratio:
        """A line whose goal is one of time that passes; CPU time stands beside it."""
        subject, baseline = (tuple(timing.wall for timing in side) for side in sides)
        spent = [median(timing.cpu for timing in side) for side in sides]
        beside = f"CPU {spent[0] / spent[1]:.2f}" if spent[1] else ""
        return cls(measure, corpus, "s", subject, baseline, goal, remark, beside)

    def __post_init__(self) -> None:
        if not self.subject or not self.baseline:
            raise ValueError(f"{self.measure}: no samples")

    @property
    def value(self) -> float:
        return median(self.subject) / median(self.baseline)

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.value <= self.goal


Sides = tuple[Sequence[Timing], Sequence[Timing]]


def _wall_ratio(sides: Sides) -> float:
    subject, baseline = (median(timing.wall for timing in side) for side in sides)
    return subject / baseline


class CannotMeasureError(Exception):
    """A measure does not make sense on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A measure that could not be taken, and why."""

    measure: str
    corpus: str
    reason: str


def seconds(action: Callable[[], object]) -> float:
    """How long `action` takes, in seconds."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def clocked(action: Callable[[], object]) -> Timing:
    """How long `action` takes, by both clocks."""
    started, before = time.perf_counter(), _spent()
    action()
    return Timing(time.perf_counter() - started, _spent() - before)


def _spent() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def alternate(
    subject: Callable[[], T], baseline: Callable[[], T], rounds: int
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """`rounds` samples of either side, in turn, after one unrecorded round that warms the caches."""
    subject()
    baseline()
    pairs = [(subject(), baseline()) for _ in range(rounds)]
    return tuple(first for first, _ in pairs), tuple(second for _, second in pairs)


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least `share` (0 to 1) of the samples do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def percentiles(samples: Sequence[float], shares: Iterable[float]) -> str:
    """Percentiles of samples in seconds, for a remark."""
    return ", ".join(f"p{100 * share:.0f} {1000 * percentile(samples, share):.2f} ms" for share in shares)
