"""`wikiq status`: what is indexed, how old it is, what is wrong; exit status 3 when it may be stale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from wikiq.answers.status import status
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOT_FRESH
from wikiq.index.freshness import COPY, RUNNING, STOPPED, last_commit, render_age
from wikiq.model.results import Status
from wikiq.output.context import Surroundings
from wikiq.output.hits import result_json
from wikiq.output.terminal import FAINT, Span, counted
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _status(surroundings: Surroundings, /, *, json: bool, verbose: bool, **values: Any) -> int:
    with opened(split_source(values), surroundings) as session:
        found = status(session.snapshot)
    if json:
        surroundings.out.text(result_json(found) + "\n")
    else:
        surroundings.out.line(sentence(found))
        for name, value in status_lines(found, verbose=verbose):
            surroundings.out.line(Span(text=f"{name:<12}", style=FAINT), value)
    return session.exit_status(NOT_FRESH if found.stale else FOUND)


def sentence(found: Status) -> str:
    """Say in one line how the wiki is."""
    if not found.stale:
        state = "up to date"
    elif found.pending:
        state = f"{counted(found.pending, 'change')} pending"
    else:
        state = "may be behind the disk"
    followed = "followed" if found.daemon == RUNNING else "not followed"
    return f"{counted(found.pages, 'page')}, {state}, {followed}"


def status_lines(found: Status, *, verbose: bool) -> Iterator[tuple[str, str]]:
    """Give what people want to know first, a name and a value a line; ids and counters when `verbose`."""
    yield "wiki", found.wiki
    yield "root", found.root
    yield "index", found.db
    if verbose:
        yield "generation", f"{found.generation} (commits that changed something) of index {found.index_id}"
    yield "pages", f"{found.pages} with {counted(found.sections, 'section')}"
    yield "daemon", found.daemon if found.daemon == found.mode else f"{found.daemon}, {found.mode}"
    if found.reason and found.mode != STOPPED:
        yield "reason", found.reason
    if found.remedy:
        yield "remedy", found.remedy
    age = (
        last_commit(found.age_s)
        if found.mode == COPY
        else "no scan yet"
        if found.age_s is None
        else f"last scan or commit {render_age(found.age_s)} ago"
    )
    yield "freshness", f"{age}, {counted(found.pending, 'change')} pending" if found.pending else age
    if found.building:
        yield "building", "the first build is not complete"
    if not found.projection_current:
        yield "projection", "of another version; the daemon renews it page by page"
    if verbose and found.last_scan is not None:
        scan = found.last_scan
        counts = f"{scan.pages_seen} seen, {scan.pages_changed} changed, {scan.missed_by_events} missed"
        yield "last scan", f"{scan.finished_at} ({scan.reason}): {counts} by events"
    if verbose and found.counters:
        yield "counters", ", ".join(f"{name} {count}" for name, count in sorted(found.counters.items()))
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.problem_kinds.items())
    problems = f"{found.problems} ({kinds})" if kinds else str(found.problems)
    yield "problems", f"{problems} noted by the indexer; `wikiq check` also looks at links and mentions"


command = click.Command(
    "status",
    callback=_status,
    params=[
        click.Option(
            ["--verbose"], is_flag=True, help="Also show the generation, the last scan and counters."
        ),
        *parameters({"--json": FORMS["--json"]} | INDEX),
    ],
    help=f"""{COMMANDS["status"]} Exit status 3 when the index may be behind the tree.

    The generation counts the commits that changed something in this index; `wikiq changes --since` goes
    on from one. In a rebuilt index it starts over, under another index id. The problems are
    those that the indexer has noted; `wikiq check` finds more.""",
)
