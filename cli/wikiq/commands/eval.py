"""`wikiq eval SET.jsonl`: how well searches find what people judged right."""

from __future__ import annotations

import json as json_format
import os
from collections.abc import Iterator, Sequence
from typing import Any

import click

from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, UsageError
from wikiq.eval.evaluate import PATIENCE_S, default_ranker, evaluate
from wikiq.eval.judged import parse_set
from wikiq.eval.report import (
    COMPARED,
    LEVELS,
    MEASURES,
    ScoredSet,
    difference,
    mean,
    report_document,
    scored,
    with_stored,
)
from wikiq.model.policies import DEFAULT
from wikiq.output.context import Surroundings
from wikiq.output.terminal import counted
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened

LARGEST_SET = 64 * 2**20  # bytes of a set or a stored report; some 100,000 questions
_STORED = "stored"


@click.pass_obj
def _eval(
    surroundings: Surroundings,
    /,
    sets: tuple[str, ...],
    *,
    against: str | None,
    json: bool,
    **values: Any,
) -> int:
    questions = {path: parse_set(_read(path), path) for path in sets}
    stored = _stored(against) if against is not None else None
    with opened(split_source(values), surroundings, deadline_s=PATIENCE_S) as session:
        rankers = {DEFAULT.name: default_ranker(session.snapshot)}
        found = [(path, evaluate(session.snapshot, questions[path], rankers)) for path in sets]
    scores = [
        ScoredSet(
            name=os.path.basename(path).removesuffix(".jsonl"),
            family="",
            lost=evaluation.lost,
            rankings={name: scored(judged) for name, judged in evaluation.judgements.items()},
        )
        for path, evaluation in found
    ]
    rankings = [DEFAULT.name]
    if stored is not None:
        scores, rankings = with_stored(scores, stored, _STORED), [*rankings, _STORED]
        if not scores:
            raise UsageError(str(against), "has no set of this name", "give the report of an earlier run")
    if json:
        surroundings.out.text(json_format.dumps(report_document(scores, rankings)) + "\n")
    else:
        for line in report_lines(scores, rankings):
            surroundings.out.line(line)
    return session.exit_status(FOUND)


def report_lines(sets: Sequence[ScoredSet], rankings: Sequence[str]) -> Iterator[str]:
    """Give the measures of each ranking, then by how much the first is above each of the others."""
    for one in sets:
        count = len(next(iter(one.rankings.values())))
        lost = f", not in the index: {counted(one.lost, 'right answer')}" if one.lost else ""
        yield f"{one.name}: {counted(count, 'question')}{lost}"
    for level in LEVELS:
        yield ""
        yield f"{level:<16}" + "".join(f"{measure:>11}" for measure in MEASURES)
        for ranking in rankings:
            cells = (mean(sets, ranking, level, measure) for measure in MEASURES)
            yield f"{ranking:<16}" + "".join(f"{cell:>11.3f}" for cell in cells)
    yield ""
    for against in rankings[1:]:
        for level in LEVELS:
            for measure in COMPARED:
                found = difference(sets, rankings[0], against, level, measure)
                name = f"{rankings[0]} - {against}, {level} {measure}"
                yield f"{name:<44}{found.mean:+.3f}  95 %: {found.low:+.3f} to {found.high:+.3f}"


def _stored(path: str) -> Any:
    try:
        return json_format.loads(_read(path))
    except ValueError as error:
        raise UsageError(path, f"is no report ({error})", "store one with --json") from error


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LARGEST_SET + 1)
    except OSError as error:
        raise UsageError(path, f"{error.strerror}", "give a file of judged questions") from error
    except UnicodeDecodeError as error:
        raise UsageError(path, "is not UTF-8", "give a file of judged questions") from error
    if len(text) > LARGEST_SET:
        raise UsageError(path, f"is longer than {LARGEST_SET} characters", "split it")
    return text


command = click.Command(
    "eval",
    callback=_eval,
    params=[
        click.Argument(["sets"], metavar="SET.jsonl...", nargs=-1, required=True),
        click.Option(
            ["--against"], metavar="REPORT.json", help="Compare with a report that --json gave earlier."
        ),
        *parameters({"--json": FORMS["--json"]} | INDEX),
    ],
    help=(
        f"{COMMANDS['eval']} A set has one question a line: "
        '{"id", "query", "relevant": [{"page", "heading_path"}]}, see docs/search.md.'
    ),
)
