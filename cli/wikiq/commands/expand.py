"""`wikiq expand PAGE#section`: the sections around a section, as far as they share its path."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.outline import EXPANDED_DEPTH, Expansion, expand
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.output.context import Surroundings
from wikiq.output.hits import result_json, row_json
from wikiq.output.pager import paged
from wikiq.output.source_view import text_lines
from wikiq.output.terminal import BOLD, FAINT, Span, joined
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _expand(
    surroundings: Surroundings, /, name: str, *, depth: int, json: bool, ndjson: bool, **values: Any
) -> int:
    with opened(split_source(values), surroundings) as session:
        found = expand(session.snapshot, name, depth=depth, folder=surroundings.folder)
    session.tell_staleness(surroundings)
    out = surroundings.out
    if json:
        out.text(result_json(found, session.age) + "\n")
    elif ndjson:
        for section in found.sections:
            out.text(row_json(section) + "\n")
    elif not out.is_terminal:
        out.text("".join(section.source for section in found.sections))
    else:
        _show(found, surroundings)
    return session.exit_status(FOUND if found.sections else NOTHING_FOUND)


def _show(found: Expansion, surroundings: Surroundings) -> None:
    with paged(surroundings.out, surroundings.environ) as screen:
        screen.line(Span(text=found.title, style=BOLD), Span(text=f"  {found.path}", style=FAINT))
        if found.section_path:
            screen.line(Span(text=joined(found.section_path), style=FAINT))
        screen.line()
        for section in found.sections:
            for spans in text_lines(section.source):
                screen.line(*spans)


command = click.Command(
    "expand",
    callback=_expand,
    params=[
        click.Argument(["name"], metavar="PAGE[#SECTION]|PATH:LINE", shell_complete=candidates.sections),
        click.Option(
            ["--depth"],
            type=click.IntRange(min=0),
            default=EXPANDED_DEPTH,
            show_default=True,
            metavar="N",
            help="Number of headings that the sections have in common.",
        ),
        *parameters({name: FORMS[name] for name in ("--json", "--ndjson")} | INDEX),
    ],
    help=f"""{COMMANDS["expand"]}

    PAGE, SECTION and PATH:LINE are as for `wikiq show`. A first heading that only repeats the title
    is no element of the path.""",
)
