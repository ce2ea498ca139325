"""`wikiq completion SHELL`: the script that makes a shell complete commands, pages, sections, topics.

The script asks `wikiq` itself, through a variable that says which shell wants an answer.
"""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class, shell_complete

from wikiq.arguments import COMMANDS
from wikiq.commands import wikiq
from wikiq.errors import FOUND
from wikiq.surroundings import COMPLETION_VARIABLE, Surroundings

SHELLS = ("bash", "fish", "zsh")
_SETTING_UP = {
    "bash": 'add to ~/.bashrc:  eval "$(wikiq completion bash)"',
    "fish": "run once:  wikiq completion fish > ~/.config/fish/completions/wikiq.fish",
    "zsh": 'add to ~/.zshrc, after compinit:  eval "$(wikiq completion zsh)"',
}


def answer(surroundings: Surroundings) -> int:
    """Answer the script of a shell, whose question stands in the environment."""
    instruction = surroundings.environ[COMPLETION_VARIABLE]
    return shell_complete(wikiq, {"obj": surroundings}, "wikiq", COMPLETION_VARIABLE, instruction)


@click.pass_obj
def _completion(surroundings: Surroundings, /, shell: str) -> int:
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(f"click completes no {shell}")
    # Not the class's own `source`, which for bash starts one to see which version it is.
    script = ShellComplete.source(kind(wikiq, {}, "wikiq", COMPLETION_VARIABLE))
    surroundings.out.text(f"# {_SETTING_UP[shell]}\n{script}\n")
    return FOUND


command = click.Command(
    "completion",
    callback=_completion,
    params=[click.Argument(["shell"], type=click.Choice(SHELLS))],
    help=f"""{COMMANDS["completion"]}

    \b
    {_SETTING_UP["bash"]}
    {_SETTING_UP["zsh"]}
    {_SETTING_UP["fish"]}""",
)
