"""`wikiq status`: what is indexed, how old it is, what is wrong; exit status 3 when it may be stale."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.status import status
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOT_FRESH
from wikiq.output.context import Surroundings
from wikiq.output.hits import result_json
from wikiq.output.terminal import FAINT, Span
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened
from wikiq.shell.status_text import sentence, status_lines


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
