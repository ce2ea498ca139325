"""`wikiq pages`: every page that passes the filters, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from wikiq.answers.pages import list_pages
from wikiq.commands.group import parameters
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.output.context import Surroundings
from wikiq.shell.options import COMMANDS, FILTERS, HIT_FORMS, INDEX, SearchArguments
from wikiq.shell.parse import build_filters
from wikiq.shell.search_command import check_output, print_result
from wikiq.shell.session import opened


@click.pass_obj
def _pages(surroundings: Surroundings, /, limit: int | None, **values: Any) -> int:
    given = {field: value for field, value in values.items() if value is not None}
    arguments = SearchArguments(limit=limit, **given)
    check_output(arguments)
    filters = build_filters(arguments, datetime.now().astimezone())
    with opened(arguments.source, surroundings) as session:
        result = list_pages(session.snapshot, filters, limit=limit)
    print_result(result, arguments, session=session, surroundings=surroundings)
    return session.exit_status(FOUND if result.hits else NOTHING_FOUND)


command = click.Command(
    "pages",
    callback=_pages,
    params=[
        *parameters(FILTERS),
        click.Option(["--limit"], type=click.IntRange(min=1), metavar="N", help="Show at most N pages."),
        *parameters(HIT_FORMS | INDEX),
    ],
    help=COMMANDS["pages"],
)
