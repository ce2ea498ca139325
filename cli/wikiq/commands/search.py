"""`wikiq search`, for the arguments that the plain reader leaves to click."""

from __future__ import annotations

from typing import Any

import click

from wikiq.commands.group import parameters
from wikiq.output.context import Surroundings
from wikiq.shell.options import COMMANDS, SEARCH, SearchArguments
from wikiq.shell.search_command import search_and_print


@click.pass_obj
def _search(surroundings: Surroundings, /, **values: Any) -> int:
    given = {field: value for field, value in values.items() if value is not None}
    return search_and_print(SearchArguments(**given), surroundings)


command = click.Command(
    "search",
    callback=_search,
    params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED), *parameters(SEARCH)],
    help=f"""{COMMANDS["search"]}

    "WORDS IN QUOTES" (quoted for the shell once more) must stand together, -WORD leaves out sections
    that hold it, title:WORD and heading:WORD look there only. An option that is not listed here is a
    word. Without words, pages that pass the filters are listed, newest first.""",
    context_settings={"ignore_unknown_options": True},
)
