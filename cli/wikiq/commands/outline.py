"""`wikiq outline PAGE`: the headings of a page as a tree, with lines and anchors."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.outline import OutlineRow, outline
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND
from wikiq.output.context import Surroundings
from wikiq.output.hits import shown_path
from wikiq.output.listing import Form, Listing, print_rows
from wikiq.output.template import row_values
from wikiq.output.terminal import FAINT, Span
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _outline(surroundings: Surroundings, /, name: str, **values: Any) -> int:
    source = split_source(values)
    form = Form(**values)
    with opened(source, surroundings) as session:
        found = outline(session.snapshot, name, folder=surroundings.folder)
    session.tell_staleness(surroundings)
    path = shown_path(session.root, found.path, surroundings.folder)
    beside = {field: getattr(found, field) for field in ("slug", "title", "path", "generation")}
    print_rows(found.sections, form, _listing(path), surroundings, session.age, **beside)
    return session.exit_status(FOUND)


def _listing(path: str) -> Listing:
    """Headings of the page at `path`, as it is reached from the current folder."""

    def columns(row: OutlineRow) -> tuple[str, ...]:
        return f"{path}:{row.start_line}", str(row.level), row.heading, row.anchor

    def values(row: OutlineRow) -> dict[str, str]:
        return row_values(row) | {"path": path, "line": str(row.start_line)}

    return Listing(name="sections", columns=columns, lines=_lines, values=values)


def _lines(row: OutlineRow) -> list[tuple[Span | str, ...]]:
    indent = "  " * max(row.level - 1, 0)
    anchor = f"  #{row.anchor}" if row.anchor else ""
    return [(f"{row.start_line:>6}  {indent}{row.heading}", Span(text=anchor, style=FAINT))]


command = click.Command(
    "outline",
    callback=_outline,
    params=[
        click.Argument(["name"], metavar="PAGE", shell_complete=candidates.pages),
        *parameters(FORMS | INDEX),
    ],
    help=COMMANDS["outline"],
)
