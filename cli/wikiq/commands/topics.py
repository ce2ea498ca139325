"""`wikiq topics`: the topics, with how many pages carry each one."""

from __future__ import annotations

import click

from wikiq.answers.pages import topics
from wikiq.commands import candidates
from wikiq.commands.listing import listing_command
from wikiq.model.results import TopicRow
from wikiq.output.listing import Listing
from wikiq.output.terminal import BOLD, FAINT, Span
from wikiq.shell.session import Session


def _find(session: Session, _folder: str, topic: str | None) -> Listing:
    return Listing(name="topics", rows=topics(session.snapshot, topic), columns=_columns, lines=_lines)


def _columns(row: TopicRow) -> tuple[str, ...]:
    return row.topic, str(row.pages), str(row.pages_under), row.title or ""


def _lines(row: TopicRow) -> list[tuple[Span | str, ...]]:
    below = f" ({row.pages_under} with those below)" if row.pages_under != row.pages else ""
    title = f"  {row.title}" if row.title and row.title.casefold() != row.topic else ""
    return [(f"{row.pages:6}  ", Span(text=row.topic, style=BOLD), title, Span(text=below, style=FAINT))]


command = listing_command(
    "topics",
    _find,
    click.Argument(["topic"], required=False, shell_complete=candidates.topics),
    more_help=" With TOPIC, that one and those right below it.",
)
