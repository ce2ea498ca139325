"""`wikiq show PAGE[#section]`: the text as it was indexed; on a terminal rendered, through a pager."""

from __future__ import annotations

import click

from wikiq.arguments import COMMANDS, FORMS, INDEX
from wikiq.commands import parameters
from wikiq.errors import FOUND
from wikiq.locate import open_index
from wikiq.page_text import page_lines
from wikiq.pager import paged
from wikiq.pages import page
from wikiq.render import result_json
from wikiq.results import OK
from wikiq.surroundings import Surroundings


@click.pass_obj
def _show(
    surroundings: Surroundings, /, name: str, *, raw: bool, json: bool, db: str | None, wiki: str | None
) -> int:
    database = open_index(db=db, wiki=wiki, environ=surroundings.environ, folder=surroundings.folder)
    view = page(database, name, folder=surroundings.folder)
    if view.status != OK:
        surroundings.note(f"{view.path} has {view.status} since this was indexed")
    if json:
        surroundings.out.text(result_json(view) + "\n")
    elif raw or not surroundings.out.is_terminal:
        surroundings.out.text(view.source)
    else:
        with paged(surroundings.out, surroundings.environ) as screen:
            for spans in page_lines(view):
                screen.line(*spans)
    return FOUND


command = click.Command(
    "show",
    callback=_show,
    params=[
        click.Argument(["name"], metavar="PAGE[#SECTION]"),
        click.Option(["--raw"], is_flag=True, help="The text alone, as it stands in the file."),
        *parameters({"--json": FORMS["--json"]} | INDEX),
    ],
    help=f"""{COMMANDS["show"]}

    PAGE is a slug, path, title, alias or a file name that only one page has. SECTION is an anchor, a
    number as in search results, or a heading.""",
)
