"""`wikiq pages`: every page that passes the filters, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from wikiq.answers.pages import list_pages
from wikiq.commands.group import parameters
from wikiq.errors import FOUND, NOT_FRESH, NOTHING_FOUND
from wikiq.model.request import Filters, SearchRequest
from wikiq.output.context import Surroundings
from wikiq.output.terminal import counted
from wikiq.shell.all_wikis import list_everywhere
from wikiq.shell.options import ALL, COMMANDS, FILTERS, HIT_FORMS, INDEX, SearchArguments
from wikiq.shell.parse import build_filters
from wikiq.shell.search_command import Place, check_output, print_answer, print_result
from wikiq.shell.session import opened


@click.pass_obj
def _pages(surroundings: Surroundings, /, limit: int | None, **values: Any) -> int:
    given = {field: value for field, value in values.items() if value is not None}
    arguments = SearchArguments(limit=limit, **given)
    check_output(arguments)
    filters = build_filters(arguments, datetime.now().astimezone())
    if arguments.all:
        return _pages_of_all(filters, limit, arguments, surroundings)
    with opened(arguments.source, surroundings) as session:
        result = list_pages(session.snapshot, filters, limit=limit)
    print_result(result, arguments, session=session, surroundings=surroundings)
    return session.exit_status(FOUND if result.hits else NOTHING_FOUND)


def _pages_of_all(
    filters: Filters, limit: int | None, arguments: SearchArguments, surroundings: Surroundings
) -> int:
    """List the pages of every wiki, newest first."""
    found = list_everywhere(SearchRequest(query="", filters=filters), limit, arguments.source, surroundings)
    places = [Place(root=hit.root, wiki=hit.root) for hit in found.hits]
    print_answer(found, places, counted(len(found.wikis), "wiki"), arguments, surroundings)
    if found.not_fresh:
        return NOT_FRESH
    return FOUND if found.hits else NOTHING_FOUND


command = click.Command(
    "pages",
    callback=_pages,
    params=[
        *parameters(FILTERS),
        click.Option(["--limit"], type=click.IntRange(min=1), metavar="N", help="Show at most N pages."),
        *parameters(HIT_FORMS | ALL | INDEX),
    ],
    help=COMMANDS["pages"],
)
