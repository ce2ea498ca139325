"""Results as a table for people and as JSON for programs. Pure: takes records, gives text."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from statistics import median

from tests.benchmarks.ratio import Ratio, Skipped

HEADINGS = ("measure", "corpus", "ratio", "beside", "goal", "subject", "baseline", "remark")


def _row(result: Ratio | Skipped) -> tuple[str, ...]:
    if isinstance(result, Skipped):
        return (result.measure, result.corpus, "-", "", "", "", "", f"skipped: {result.reason}")
    goal = "" if result.goal is None else f"{'<=' if result.met else 'over'} {result.goal:g}"
    return (
        result.measure,
        result.corpus,
        f"{result.value:.2f}",
        result.beside,
        goal,
        f"{median(result.subject):.4g} {result.unit}",
        f"{median(result.baseline):.4g} {result.unit}",
        result.remark,
    )


def render_table(results: Sequence[Ratio | Skipped]) -> str:
    """One line a result, columns aligned."""
    rows = [HEADINGS, *(_row(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def render_json(results: Sequence[Ratio | Skipped]) -> str:
    """All samples, with what the machine is."""
    entries = [
        {"measure": result.measure, "corpus": result.corpus, "skipped": result.reason}
        if isinstance(result, Skipped)
        else {
            "measure": result.measure,
            "corpus": result.corpus,
            "ratio": round(result.value, 4),
            "beside": result.beside,
            "goal": result.goal,
            "met": result.met,
            "unit": result.unit,
            "subject": list(result.subject),
            "baseline": list(result.baseline),
            "remark": result.remark,
        }
        for result in results
    ]
    return json.dumps({"format": 1, "machine": machine(), "results": entries}, indent=2, ensure_ascii=False)


def machine() -> dict[str, object]:
    """What the figures were taken on."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
    }


def render_markdown(results: Sequence[Ratio | Skipped], notes: Mapping[str, str]) -> str:
    """The table for the documents, and under it what stands in the way of each goal that is missed.

    `notes`: by the beginning of a measure's name.
    """
    rows = [_row(result) for result in results]
    lines = [f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    missed = {result.measure for result in results if isinstance(result, Ratio) and result.met is False}
    told = {begin: note for begin, note in notes.items() if any(name.startswith(begin) for name in missed)}
    facts = ", ".join(f"{name} {value}" for name, value in machine().items())
    return "\n".join([f"{facts}.", "", *lines, "", *(f"- **{begin}**: {told[begin]}" for begin in told)])
