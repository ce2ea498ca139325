"""A measure as a ratio: samples of a subject and of what it is held against, taken alternately.

Alternating puts a slow spell of the machine on both sides. Medians, since one descheduled round must
not decide. Knows nothing of what is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Final

ROUNDS: Final = 5  # the fewest whose median shrugs off two bad ones


@dataclass(frozen=True, slots=True)
class Ratio:
    """One line of the report. `goal` is the ratio that is aimed at, None where there is none.

    `unit` is that of the samples. `remark` holds what the ratio leaves out: absolute figures, parts.
    """

    measure: str
    corpus: str
    unit: str
    subject: tuple[float, ...]
    baseline: tuple[float, ...]
    goal: float | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        if not self.subject or not self.baseline:
            raise ValueError(f"{self.measure}: no samples")

    @property
    def value(self) -> float:
        return median(self.subject) / median(self.baseline)

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.value <= self.goal


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


def alternate(
    subject: Callable[[], float], baseline: Callable[[], float], rounds: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """`rounds` samples of either side, in turn, after one unrecorded round that warms the caches."""
    subject()
    baseline()
    pairs = [(subject(), baseline()) for _ in range(rounds)]
    return tuple(first for first, _ in pairs), tuple(second for _, second in pairs)


def percentile(samples: tuple[float, ...], share: float) -> float:
    """The smallest sample that at least `share` (0 to 1) of the samples do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def percentiles(samples: tuple[float, ...], shares: Iterable[float]) -> str:
    """Percentiles of samples in seconds, for a remark."""
    return ", ".join(f"p{100 * share:.0f} {1000 * percentile(samples, share):.2f} ms" for share in shares)
