"""`wikiq outline PAGE`: the headings of a page as a tree, with lines and anchors."""

from __future__ import annotations

import click

from wikiq.answers.outline import OutlineRow, outline
from wikiq.commands import candidates
from wikiq.commands.listing import listing_command
from wikiq.output.hits import shown_path
from wikiq.output.listing import Listing
from wikiq.output.template import row_values
from wikiq.output.terminal import FAINT, Span
from wikiq.shell.session import Session


def _find(session: Session, folder: str, name: str) -> Listing:
    """List the headings of a page; its path is shown as it is reached from `folder`."""
    found = outline(session.snapshot, name, folder=folder)
    path = shown_path(session.root, found.path, folder)

    def columns(row: OutlineRow) -> tuple[str, ...]:
        return f"{path}:{row.start_line}", str(row.level), row.heading, row.anchor

    def values(row: OutlineRow) -> dict[str, str]:
        return row_values(row) | {"path": path, "line": str(row.start_line)}

    beside = {field: getattr(found, field) for field in ("slug", "title", "path", "generation")}
    return Listing(
        name="sections", rows=found.sections, columns=columns, lines=_lines, values=values, beside=beside
    )


def _lines(row: OutlineRow) -> list[tuple[Span | str, ...]]:
    indent = "  " * max(row.level - 1, 0)
    anchor = f"  #{row.anchor}" if row.anchor else ""
    return [(f"{row.start_line:>6}  {indent}{row.heading}", Span(text=anchor, style=FAINT))]


command = listing_command(
    "outline", _find, click.Argument(["name"], metavar="PAGE", shell_complete=candidates.pages)
)
