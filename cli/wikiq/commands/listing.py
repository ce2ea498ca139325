"""How a command that lists rows is declared: what finds them; forms, staleness and exit status follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.output.context import Surroundings
from wikiq.output.listing import Form, Listing, print_listing
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened


def listing_command(
    name: str, find: Callable[..., Listing], *params: click.Parameter, more_help: str = ""
) -> click.Command:
    """Make the command `name`, which prints what `find` gives for a session, a folder and its own `params`.

    The folder is the current one. Exit status 1 without rows, unless something stands beside them.
    """

    @click.pass_obj
    def callback(surroundings: Surroundings, /, **values: Any) -> int:
        source = split_source(values)
        form = Form(**{field: values.pop(field) for field in Form.fields})
        with opened(source, surroundings) as session:
            listing = find(session, surroundings.folder, **values)
        session.tell_staleness(surroundings)
        print_listing(listing, form, surroundings, session.age)
        return session.exit_status(FOUND if listing.rows or listing.beside else NOTHING_FOUND)

    return click.Command(
        name,
        callback=callback,
        params=[*params, *parameters(FORMS | INDEX)],
        help=COMMANDS[name] + more_help,
    )
