"""What the subcommands share: the arguments of a wiki, and how a line or an error is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from indexerd.errors import IndexerdError

if TYPE_CHECKING:
    from indexerd.setup.compose import Wiki

DIFFERENT: Final = 1
OUTPUT_FORMAT: Final = 1  # of what --json prints
F = TypeVar("F", bound=Callable[..., Any])


def tell(line: str, *, err: bool = False) -> None:
    """Print a line in which a name may have any characters."""
    from indexerd.core.page.names import escape_name

    click.echo(escape_name(line), err=err)


def fail(error: IndexerdError) -> int:
    """Print an error in one line on stderr; gives its exit status."""
    from indexerd.core.page.names import escape_name

    print(f"indexerd: {escape_name(str(error))}", file=sys.stderr)
    return error.exit_status


def wiki_options(command: F) -> F:
    """ROOT and a flag for every setting; the command gets the wiki that they mean."""
    from indexerd.setup.config import SETTINGS, Settings

    defaults = Settings()
    for setting in reversed(SETTINGS):
        if isinstance(getattr(defaults, setting.field), bool):
            names = f"{setting.flag}/--no-{setting.flag.removeprefix('--')}"
            option = click.option(names, setting.field, default=None, help=setting.help)
        else:
            option = click.option(setting.flag, setting.field, metavar="VALUE", help=setting.help)
        command = option(command)
    return click.argument("root", required=False, type=click.Path())(command)


def chosen_wiki(root: str | None, flags: Mapping[str, str | bool | None]) -> Wiki:
    """The wiki that a command's ROOT and flags mean. Raises UsageError, RootError, ConfigError."""
    from indexerd.setup.compose import find_wiki

    given = {field: value for field, value in flags.items() if value is not None}
    wiki = find_wiki(root, given, os.environ)
    if wiki.configuration.refused is not None:
        tell(f"indexerd: {wiki.configuration.refused}; it is ignored until then", err=True)
    return wiki


def counted(pages: int) -> str:
    """A number of pages, for people."""
    return f"{pages} page" if pages == 1 else f"{pages} pages"
