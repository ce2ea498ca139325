"""`wikiq links PAGE` and the form it shares with `wikiq backlinks PAGE`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import click

from wikiq.answers.links import BROKEN, PAGE, LinkRow, links
from wikiq.commands import candidates
from wikiq.commands.listing import listing_command
from wikiq.output.hits import shown_path
from wikiq.output.listing import Listing
from wikiq.output.template import row_values
from wikiq.output.terminal import FAINT, PLACE, WARNING, Span
from wikiq.shell.session import Session

Service = Callable[..., tuple[LinkRow, ...]]


def link_command(name: str, service: Service) -> click.Command:
    """Make a command that lists what `service` finds for a page."""

    def find(session: Session, folder: str, page: str) -> Listing:
        return _listing(session.root, folder, service(session.snapshot, page, folder=folder))

    return listing_command(
        name, find, click.Argument(["page"], metavar="PAGE", shell_complete=candidates.pages)
    )


def _listing(root: str, folder: str, rows: Sequence[LinkRow]) -> Listing:
    """Rows whose paths are shown as they are reached from `folder`; a line of text once, after its links."""
    to_come = Counter(map(_text_line, rows))

    def place(row: LinkRow) -> str:
        return f"{shown_path(root, row.path, folder)}:{row.line}"

    def columns(row: LinkRow) -> tuple[str, ...]:
        return place(row), row.status, _aim(row) + _remark(row) * row.ambiguous, row.label

    def lines(row: LinkRow) -> list[tuple[Span | str, ...]]:
        aim = Span(text=_aim(row), style=WARNING if row.status == BROKEN else "")
        mark = Span(text=_remark(row), style=FAINT)
        to_come[_text_line(row)] -= 1
        context = [] if to_come[_text_line(row)] else [("    ", Span(text=row.context, style=FAINT))]
        return [(Span(text=place(row), style=PLACE), "  ", aim, mark), *context]

    def values(row: LinkRow) -> dict[str, str]:
        return row_values(row) | {"path": shown_path(root, row.path, folder)}

    return Listing(name="links", rows=rows, columns=columns, lines=lines, values=values)


def _text_line(row: LinkRow) -> tuple[str, int, str]:
    """What is shown below a link; of a long line it is the part around the link."""
    return row.path, row.line, row.context


def _remark(row: LinkRow) -> str:
    """What is unusual about a link: it leads to no page, or several pages were equally near."""
    if row.ambiguous:
        return " (ambiguous)"
    return f" [{row.status}]" if row.status != PAGE else ""


def _aim(row: LinkRow) -> str:
    """The page that the link leads to, else the target as written."""
    if row.target_slug is None:
        return row.target
    return f"{row.target_slug}#{row.fragment}" if row.fragment else row.target_slug


command = link_command("links", links)
