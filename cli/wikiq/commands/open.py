"""`wikiq open PAGE[#section]|N`: the file in the user's editor, at the line of the section or hit."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.pages import page, split_line
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.output.context import Surroundings
from wikiq.shell.editor import open_page
from wikiq.shell.numbered import meant_hit, named_page
from wikiq.shell.options import COMMANDS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _open(surroundings: Surroundings, /, name: str, **values: Any) -> int:
    source, numbered = meant_hit(split_source(values), name, surroundings)
    with opened(source, surroundings) as session:
        name = named_page(session.snapshot, name, numbered, folder=surroundings.folder)
        view = page(session.snapshot, name, folder=surroundings.folder)
    start = view.section.start_line if view.section is not None else 1
    line = split_line(name)[1] if "#" not in name and view.section is not None else None
    return session.exit_status(open_page(session.root, view.path, view.status, line or start, surroundings))


command = click.Command(
    "open",
    callback=_open,
    params=[
        click.Argument(["name"], metavar="PAGE[#SECTION]|PATH:LINE|N", shell_complete=candidates.sections),
        *parameters(INDEX),
    ],
    help=f"""{COMMANDS["open"]} The editor is VISUAL, else EDITOR, else vi.

    N is the number of a hit of the last search on this terminal; a page of that name goes first.""",
)
