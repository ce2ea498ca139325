"""`wikiq mcp`: the wiki as a server for agents, and what sets one up."""

from __future__ import annotations

import os
import shutil

import click

from wikiq.commands.group import parameters
from wikiq.errors import FOUND
from wikiq.mcp.setup import CLIENTS, SKILL, client_configuration
from wikiq.mcp.start import serve
from wikiq.model.request import Source
from wikiq.output.context import Surroundings
from wikiq.shell.options import COMMANDS, INDEX


@click.pass_obj
def _mcp(
    surroundings: Surroundings,
    /,
    *,
    print_config: str | None,
    print_skill: bool,
    structured: bool,
    db: str | None,
    wiki: str | None,
    copy: bool,
    max_age: float,
) -> int:
    if print_skill:
        surroundings.out.text(SKILL)
        return FOUND
    source = Source(db=db, wiki=wiki, copy=copy, max_age=max_age)
    if print_config is None:
        return serve(source, surroundings.environ, surroundings.folder, structured=structured)
    command = [shutil.which("wikiq") or "wikiq", "mcp"]
    if db is not None:
        command += ["--db", os.path.abspath(db)]
    if wiki is not None:
        command += ["--wiki", wiki]
    command += ["--structured"] if structured else []
    surroundings.out.text(client_configuration(print_config, command) + "\n")
    return FOUND


command = click.Command(
    "mcp",
    callback=_mcp,
    params=[
        click.Option(
            ["--print-config"], type=click.Choice(CLIENTS), help="Print what this client takes to start it."
        ),
        click.Option(
            ["--print-skill"], is_flag=True, help="Print a skill file that tells an agent how to search."
        ),
        click.Option(
            ["--structured"],
            is_flag=True,
            help="Answer in JSON with a schema, for programs; a model pays three times as much for it.",
        ),
        *parameters({name: INDEX[name] for name in ("--db", "--wiki", "--copy", "--max-age")}),
    ],
    help=f"""{COMMANDS["mcp"]}

    Agents start it themselves; docs/agents.md tells how. It reads only, and ends with its client.""",
)
