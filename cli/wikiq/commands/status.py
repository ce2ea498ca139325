"""`wikiq status`: what is indexed, how old it is, what is wrong; exit status 3 when it may be stale."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.status import status
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOT_FRESH, WikiqError
from wikiq.model.request import Source
from wikiq.output.context import Surroundings
from wikiq.output.hits import records_json, result_json
from wikiq.output.terminal import BOLD, FAINT, Span
from wikiq.shell.all_wikis import indexes_of_all
from wikiq.shell.options import ALL, COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened
from wikiq.shell.status_text import sentence, status_lines


@click.pass_obj
def _status(
    surroundings: Surroundings,
    /,
    *,
    all: bool,  # noqa: A002 - the name of the option
    json: bool,
    verbose: bool,
    **values: Any,
) -> int:
    if all:
        return _status_of_all(split_source(values), surroundings, json=json)
    with opened(split_source(values), surroundings) as session:
        found = status(session.snapshot)
    if json:
        surroundings.out.text(result_json(found) + "\n")
    else:
        surroundings.out.line(sentence(found))
        for name, value in status_lines(found, verbose=verbose):
            surroundings.out.wrapped(Span(text=f"{name:<12}", style=FAINT), value)
    return session.exit_status(NOT_FRESH if found.stale else FOUND)


def _status_of_all(source: Source, surroundings: Surroundings, *, json: bool) -> int:
    """Print a line a wiki; NOT_FRESH where one of them may be behind its tree."""
    found = []
    for known in indexes_of_all(source, surroundings):
        try:
            with opened(source.replace(db=known.path), surroundings) as session:
                found.append(status(session.snapshot))
        except WikiqError as error:
            surroundings.note(str(error))
    if json:
        surroundings.out.text(records_json("wikis", found) + "\n")
    else:
        for one in found:
            surroundings.out.wrapped(
                Span(text=one.wiki, style=BOLD), f"  {sentence(one)}  ", Span(text=one.root, style=FAINT)
            )
    return NOT_FRESH if any(one.stale for one in found) else FOUND


command = click.Command(
    "status",
    callback=_status,
    params=[
        click.Option(
            ["--verbose"], is_flag=True, help="Also show the generation, the last scan and counters."
        ),
        *parameters({"--json": FORMS["--json"]} | ALL | INDEX),
    ],
    help=f"""{COMMANDS["status"]} Exit status 3 when the index may be behind the tree.

    The generation counts the commits that changed something in this index; `wikiq changes --since` goes
    on from one. In a rebuilt index it starts over, under another index id. The problems are
    those that the indexer has noted; `wikiq check` finds more.""",
)
