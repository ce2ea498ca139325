"""Evaluations as Markdown tables: section MRR / recall and page MRR / recall in every cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wikiq.eval.report import COMPARED, LEVELS, ScoredSet, difference, families, mean

Row = Sequence[str]


def measure_table(sets: Sequence[ScoredSet], rankings: Sequence[str]) -> str:
    """A row a ranking with the macro means, then a row a family for each of the others' first."""
    rows = [[ranking, *_cells(sets, ranking)] for ranking in rankings]
    for family, members in families(sets).items():
        rows += [[f"{family}: {ranking}", *_cells(members, ranking)] for ranking in rankings]
    return _table(["", *_heads()], rows)


def difference_table(sets: Sequence[ScoredSet], rankings: Sequence[str]) -> str:
    """By how much the first ranking is above each of the others, with 95 % intervals."""
    rows = []
    for against in rankings[1:]:
        rows.append([f"{rankings[0]} - {against}", *_differences(sets, rankings[0], against)])
        rows += [
            [f"{family}: {rankings[0]} - {against}", *_differences(members, rankings[0], against)]
            for family, members in families(sets).items()
        ]
    return _table(["", *_heads()], rows)


def ablation_table(sets: Sequence[ScoredSet], rankings: Sequence[str]) -> str:
    """What is lost by leaving one part out: the difference of the whole to it."""
    rows = [[rankings[0], *_cells(sets, rankings[0])]]
    rows += [[without, *_differences(sets, rankings[0], without)] for without in rankings[1:]]
    return _table(["", *_heads()], rows)


def set_table(sets: Sequence[ScoredSet], rankings: Sequence[str]) -> str:
    """A row a set and ranking."""
    rows = [[one.name, ranking, *_cells([one], ranking)] for one in sets for ranking in rankings]
    return _table(["set", "ranking", *_heads()], rows)


def _heads() -> list[str]:
    return [f"{level} {measure}" for level in LEVELS for measure in COMPARED]


def _cells(sets: Sequence[ScoredSet], ranking: str) -> list[str]:
    return [f"{mean(sets, ranking, level, measure):.3f}" for level in LEVELS for measure in COMPARED]


def _differences(sets: Sequence[ScoredSet], ranking: str, against: str) -> list[str]:
    found = [difference(sets, ranking, against, level, measure) for level in LEVELS for measure in COMPARED]
    return [f"{one.mean:+.3f} ({one.low:+.3f} … {one.high:+.3f})" for one in found]


def _table(heads: Row, rows: Iterable[Row]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
