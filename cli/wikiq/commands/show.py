"""`wikiq show PAGE[#section]`: the text as it was indexed; on a terminal rendered, through a pager."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.line_range import read_lines, split_range
from wikiq.answers.pages import page
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND
from wikiq.model.results import DIFFERENT
from wikiq.output.context import Surroundings
from wikiq.output.hits import result_json
from wikiq.output.pager import paged
from wikiq.output.source_view import page_lines
from wikiq.query.names import find_page
from wikiq.shell.numbered import meant_hit, named_page
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _show(surroundings: Surroundings, /, name: str, *, raw: bool, json: bool, **values: Any) -> int:
    source, numbered = meant_hit(split_source(values), name, surroundings)
    with opened(source, surroundings) as session:
        name = named_page(session.snapshot, name, numbered, folder=surroundings.folder)
        is_range = split_range(name) is not None
        if is_range and find_page(session.snapshot, name, folder=surroundings.folder) is None:
            lines = read_lines(session.snapshot, name, folder=surroundings.folder)
        else:
            lines = None
            view = page(session.snapshot, name, folder=surroundings.folder)
    session.tell_staleness(surroundings)
    if lines is not None:
        surroundings.out.text(f"{result_json(lines, session.age)}\n" if json else lines.source)
        return session.exit_status(FOUND)
    if view.status in DIFFERENT:
        surroundings.note(f"{view.path} has {view.status} since this was indexed")
    if json:
        surroundings.out.text(result_json(view, session.age) + "\n")
    elif raw or not surroundings.out.is_terminal:
        surroundings.out.text(view.source)
    else:
        with paged(surroundings.out, surroundings.environ) as screen:
            for spans in page_lines(view):
                screen.line(*spans)
    return session.exit_status(FOUND)


command = click.Command(
    "show",
    callback=_show,
    params=[
        click.Argument(
            ["name"], metavar="PAGE[#SECTION]|PATH:LINE[-LINE]|N", shell_complete=candidates.sections
        ),
        click.Option(["--raw"], is_flag=True, help="Print the Markdown source alone, even on a terminal."),
        *parameters({"--json": FORMS["--json"]} | INDEX),
    ],
    help=f"""{COMMANDS["show"]}

    PAGE is a slug, path, title, alias or a file name that only one page has. SECTION is an anchor, a
    heading, headings joined by ` > ` as searches show them, or the section_id of the JSON forms.
    PATH:LINE, as searches print it, is the section that holds the line; PATH:FROM-TO is these lines.
    N is the number of a hit of the last search on this terminal; a page of that name goes first.""",
)
