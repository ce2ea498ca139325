"""The click side of the command: every subcommand in a module of its own, imported when it is run.

A module `wikiq.commands.<name>` has a click command called `command`; its name and its line of help
stand in `wikiq.shell.options.COMMANDS`. Callbacks give the exit status and find Surroundings as `obj`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from indexerd.contract.which_index import shell_word
from wikiq.commands.candidates import OF_FIELD
from wikiq.errors import FOUND, INTERRUPTED
from wikiq.model.request import DEFAULT_MAX_AGE_S, DEFAULT_TIMEOUT_S, LARGEST_LIMIT, LONGEST_TIMEOUT_S, Source
from wikiq.output.context import Surroundings
from wikiq.shell.options import AGE, COMMANDS, COUNT, FLAG, INDEX, MANY, SECONDS, Option

HELP_COLUMNS = 100
STATUSES = (
    ("0", "Found."),
    ("1", "Nothing found, no page of that name; for `wikiq check`, something is broken."),
    ("2", "Misused, a name that several pages have, or no index that can be read."),
    ("3", "Answered, but not known to be fresh where that was asked for; for `wikiq status`, stale."),
    ("130", "Interrupted."),
)
MORE = (
    "More: `wikiq COMMAND --help`, `man wikiq`, and docs/ of the source: search.md (how words are matched "
    "and ranked), json.md (the JSON forms), library.md (the same from Python)."
)
GROUPS = (
    ("Find", ("search", "pages", "topics")),
    ("Read", ("show", "open", "serve", "outline", "expand")),
    ("Follow links and changes", ("links", "backlinks", "changes")),
    ("Maintain", ("status", "sync", "check", "completion")),
    ("For programs", ("mcp", "chunks", "feed", "sql", "eval")),
)
LONGEST_HINT = 120  # characters of a command in a hint, which is one line


class CommandTable(click.Group):
    """The group `wikiq`, which imports a subcommand only when it is the one to run."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Name the commands."""
        return sorted(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"wikiq.commands.{cmd_name}").command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with what the table says of them; nothing is imported for it."""
        for title, names in GROUPS:
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name]) for name in names])

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say what the exit status tells, and where more is written."""
        with formatter.section("Exit status"):
            formatter.write_dl(STATUSES)
        formatter.write_paragraph()
        formatter.write_text(MORE)


@click.group(
    "wikiq",
    cls=CommandTable,
    invoke_without_command=True,
    context_settings={"max_content_width": HELP_COLUMNS},
    options_metavar="",
    subcommand_metavar="WORDS... | COMMAND [OPTIONS]",
)
@click.version_option(package_name="indexerd", message="wikiq %(version)s")
@click.pass_context
def wikiq(ctx: click.Context) -> None:
    """Find pages of a wiki that `indexerd` keeps indexed."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run_command(words: Sequence[str], surroundings: Surroundings) -> int:
    """Run a command line through click; gives the exit status."""
    try:
        # Not `main`, which writes an empty line when it is interrupted.
        with wikiq.make_context("wikiq", list(words), obj=surroundings) as context:
            status = wikiq.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        surroundings.note(_mistake(error, words))
        return error.exit_code
    return status if isinstance(status, int) else FOUND


def _mistake(error: click.ClickException, words: Sequence[str]) -> str:
    """Say in one line what click refused, and what may have been meant."""
    told = " ".join(error.format_message().split())
    sentence = told if told.endswith((".", "?", "?)")) else f"{told}."
    name = " ".join(("wikiq", *(word for word in words[:1] if word in COMMANDS)))
    # Of the mistakes that have no class of their own, click knows one: words too many. A command takes
    # few, so they are rather a question that begins like one.
    question = f"wikiq search {' '.join(map(shell_word, words))}"
    if type(error) is click.UsageError and len(question) <= LONGEST_HINT:
        return f"{sentence} See `{name} --help`, or search: `{question}`."
    return f"{sentence} See `{name} --help`."


class Seconds(click.FloatRange):
    """A number of seconds. To click `nan` is one, and within every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read what was typed."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds


def parameters(table: Mapping[str, Option]) -> list[click.Parameter]:
    """Make click options of a table of options."""
    return [_parameter(name, option) for name, option in table.items()]


def _parameter(name: str, option: Option) -> click.Option:
    if option.kind == FLAG:
        return click.Option([name, option.field], is_flag=True, help=option.help)
    types = {
        COUNT: click.IntRange(1, LARGEST_LIMIT),
        SECONDS: Seconds(0, LONGEST_TIMEOUT_S),
        AGE: Seconds(0),
    }
    return click.Option(
        [name, option.field],
        metavar=option.metavar,
        help=option.help,
        multiple=option.kind == MANY,
        default={SECONDS: DEFAULT_TIMEOUT_S, AGE: DEFAULT_MAX_AGE_S}.get(option.kind),
        type=types.get(option.kind, click.STRING),
        shell_complete=OF_FIELD.get(option.field),
    )


def split_source(values: dict[str, Any]) -> Source:
    """Take the options of INDEX out of a command's values."""
    return Source(**{option.field: values.pop(option.field) for option in INDEX.values()})
