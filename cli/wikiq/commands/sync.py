"""`wikiq sync`: the freshness barrier alone."""

from __future__ import annotations

from typing import Any

import click

from wikiq.commands.group import parameters
from wikiq.errors import FOUND, NOT_FRESH
from wikiq.model.request import Source
from wikiq.output.context import Surroundings
from wikiq.output.hits import result_json
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import not_fresh_note, opened


@click.pass_obj
def _sync(surroundings: Surroundings, /, *, json: bool, **values: Any) -> int:
    source = Source(**values)
    with opened(source, surroundings) as session:
        barrier = session.make_fresh(source.timeout, surroundings)
        freshness = session.freshness
    if json:
        surroundings.out.text(result_json(barrier) + "\n")
    elif barrier.fresh:
        surroundings.out.line(f"generation {barrier.generation} holds all that was on the disk")
        for path in barrier.without_text:
            surroundings.note(f"{path} takes too long to parse: it has no text yet and is tried again")
    else:
        surroundings.note(not_fresh_note("the index", barrier, freshness))
    return FOUND if barrier.fresh else NOT_FRESH


command = click.Command(
    "sync",
    callback=_sync,
    params=parameters(
        {"--json": FORMS["--json"]} | {name: option for name, option in INDEX.items() if name != "--fresh"}
    ),
    help=f"{COMMANDS['sync']} Exit status 3 when it could not be had in time.",
)
