"""`wikiq completion SHELL`: the script that makes a shell complete commands, pages, sections, topics.

The script asks `wikiq` itself, through a variable that says which shell wants an answer.
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class, shell_complete

from wikiq.commands.group import wikiq
from wikiq.errors import FOUND
from wikiq.output.context import COMPLETION_VARIABLE, Surroundings
from wikiq.shell.options import COMMANDS

SHELLS = ("bash", "fish", "zsh")
_SETTING_UP = {
    "bash": 'add to ~/.bashrc:  eval "$(wikiq completion bash)"',
    "fish": "run once:  wikiq completion fish > ~/.config/fish/completions/wikiq.fish",
    "zsh": 'add to ~/.zshrc, after compinit:  eval "$(wikiq completion zsh)"',
}

# Not click's, which puts names in as they are: one with a blank in it would be two words. What is put in
# goes on from the quote that was typed, if any was; readline closes it.
_BASH = """\
_wikiq_completion() {
    local IFS=$'\\n' kind value typed="${COMP_WORDS[COMP_CWORD]}"
    while IFS=, read -r kind value; do
        case $kind in
            dir) compopt -o dirnames; continue ;;
            file) compopt -o default; continue ;;
            plain) ;;
            *) continue ;;
        esac
        case $typed in
            \\'*) value=${value//\\'/\\'\\\\\\'\\'} ;;
            \\"*) value=${value//\\\\/\\\\\\\\}; value=${value//\\"/\\\\\\"}
                value=${value//\\$/\\\\\\$}; value=${value//\\`/\\\\\\`} ;;
            *) printf -v value %q "$value" ;;
        esac
        COMPREPLY+=("$value")
    done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD _WIKIQ_COMPLETE=bash_complete "$1")
}
complete -o nosort -F _wikiq_completion wikiq 2> /dev/null || complete -F _wikiq_completion wikiq"""


def answer(surroundings: Surroundings) -> int:
    """Answer the script of a shell, whose question stands in the environment."""
    instruction = surroundings.environ[COMPLETION_VARIABLE]
    return shell_complete(wikiq, {"obj": surroundings}, "wikiq", COMPLETION_VARIABLE, instruction)


@click.pass_obj
def _completion(surroundings: Surroundings, /, shell: str) -> int:
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(f"click completes no {shell}")
    script = _BASH if shell == "bash" else kind(wikiq, {}, "wikiq", COMPLETION_VARIABLE).source()
    surroundings.out.text(f"# {_SETTING_UP[shell]}\n{script}\n")
    return FOUND


command = click.Command(
    "completion",
    callback=_completion,
    params=[click.Argument(["shell"], metavar="SHELL", type=click.Choice(SHELLS))],
    help=f"""{COMMANDS["completion"]}

    \b
    {_SETTING_UP["bash"]}
    {_SETTING_UP["zsh"]}
    {_SETTING_UP["fish"]}""",
)
