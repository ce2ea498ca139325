"""`indexerd completion SHELL`: the script that makes a shell complete commands, settings and folders.

The script asks `indexerd` itself, through a variable that says which shell wants an answer.
"""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

SHELLS: Final = ("bash", "fish", "zsh")
VARIABLE: Final = "_INDEXERD_COMPLETE"  # that click looks for


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    bash and zsh: add  eval "$(indexerd completion bash)"  to the file that the shell reads at its start.
    fish: indexerd completion fish > ~/.config/fish/completions/indexerd.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(f"click completes no {shell}")
    click.echo(kind(ctx.find_root().command, {}, "indexerd", VARIABLE).source())
