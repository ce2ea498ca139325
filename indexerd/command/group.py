"""The command `indexerd` as click knows it: one group, the subcommands of this folder below it."""

from __future__ import annotations

import click

from indexerd.command.completion import completion
from indexerd.command.indexing import build, run, verify
from indexerd.command.service import service
from indexerd.command.why import why
from indexerd.command.wikis import config, forget, list_command, move


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="indexerd", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep a tree of Markdown pages in one SQLite file. Searching it is wikiq's business."""


for _command in (build, run, verify, why, service, config, list_command, forget, move, completion):
    cli.add_command(_command)
