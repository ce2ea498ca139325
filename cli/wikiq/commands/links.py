"""`wikiq links PAGE` and the form it shares with `wikiq backlinks PAGE`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from wikiq.arguments import COMMANDS, FORMS, INDEX
from wikiq.commands import candidates, parameters, split_source
from wikiq.database import Database
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.linking import BROKEN, LinkRow, links
from wikiq.rows import Form, Listing, print_rows
from wikiq.screen import FAINT, PLACE, WARNING, Span
from wikiq.source import opened
from wikiq.surroundings import Surroundings

Service = Callable[..., tuple[LinkRow, ...]]


def link_command(name: str, service: Service) -> click.Command:
    """Make a command that prints what `service` finds for a page."""

    @click.pass_obj
    def callback(surroundings: Surroundings, /, page: str, **values: Any) -> int:
        source = split_source(values)
        form = Form(**values)
        with opened(source, surroundings) as asked:
            rows = _found(service, asked.database, page, surroundings)
        print_rows(rows, form, LISTING, surroundings)
        return asked.exit_status(FOUND if rows else NOTHING_FOUND)

    argument = click.Argument(["page"], metavar="PAGE", shell_complete=candidates.pages)
    return click.Command(
        name, callback=callback, params=[argument, *parameters(FORMS | INDEX)], help=COMMANDS[name]
    )


def _found(
    service: Service, database: Database, page: str, surroundings: Surroundings
) -> tuple[LinkRow, ...]:
    return service(database, page, folder=surroundings.folder)


def _columns(row: LinkRow) -> tuple[str, ...]:
    return f"{row.path}:{row.line}", row.status, _aim(row), row.label


def _lines(row: LinkRow) -> list[tuple[Span | str, ...]]:
    place = Span(text=f"{row.path}:{row.line}", style=PLACE)
    aim = Span(text=_aim(row), style=WARNING if row.status == BROKEN else "")
    mark = Span(text=f" [{row.status}]" if row.status != "page" else "", style=FAINT)
    return [(place, "  ", aim, mark), ("    ", Span(text=row.context, style=FAINT))]


def _aim(row: LinkRow) -> str:
    """What the link leads to: the page it means, else the target as written."""
    if row.target_slug is None:
        return row.target
    return f"{row.target_slug}#{row.fragment}" if row.fragment else row.target_slug


LISTING = Listing(name="links", columns=_columns, lines=_lines)

command = link_command("links", links)
