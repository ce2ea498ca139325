"""How a command that lists rows is declared: what finds them; forms, staleness and exit status follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOT_FRESH, NOTHING_FOUND
from wikiq.model.request import Source
from wikiq.output.context import Surroundings
from wikiq.output.listing import Form, Listing, print_listing, print_listings
from wikiq.shell.all_wikis import each_wiki
from wikiq.shell.options import ALL, COMMANDS, FORMS, INDEX
from wikiq.shell.session import Session, opened


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
        if values.pop("all"):
            return _list_all(
                lambda session: find(session, surroundings.folder, **values), source, form, surroundings
            )
        with opened(source, surroundings) as session:
            listing = find(session, surroundings.folder, **values)
        session.tell_staleness(surroundings)
        print_listing(listing, form, surroundings, session.age)
        return session.exit_status(FOUND if listing.rows or listing.beside else NOTHING_FOUND)

    return click.Command(
        name,
        callback=callback,
        params=[*params, *parameters(FORMS | ALL | INDEX)],
        help=COMMANDS[name] + more_help,
    )


def _list_all(
    find: Callable[[Session], Listing], source: Source, form: Form, surroundings: Surroundings
) -> int:
    """Print what is found in every wiki; one that has no page or topic of the name is passed over."""
    asked, beside = each_wiki(lambda session: (find(session), session.age), source, surroundings)
    listings = [(listing, known.root, age) for known, (listing, age) in asked]
    print_listings(listings, form, surroundings, beside)
    if beside.not_fresh:
        return NOT_FRESH
    return FOUND if any(listing.rows or listing.beside for listing, _, _ in listings) else NOTHING_FOUND
