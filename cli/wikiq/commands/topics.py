"""`wikiq topics`: the topics, with how many pages carry each one."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.pages import topics
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.model.results import TopicRow
from wikiq.output.context import Surroundings
from wikiq.output.listing import Form, Listing, print_rows
from wikiq.output.terminal import BOLD, FAINT, Span
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _topics(surroundings: Surroundings, /, topic: str | None, **values: Any) -> int:
    source = split_source(values)
    form = Form(**values)
    with opened(source, surroundings) as session:
        rows = topics(session.snapshot, topic)
    session.tell_staleness(surroundings)
    print_rows(rows, form, LISTING, surroundings, session.age)
    return session.exit_status(FOUND if rows else NOTHING_FOUND)


def _columns(row: TopicRow) -> tuple[str, ...]:
    return row.topic, str(row.pages), str(row.pages_under), row.title or ""


def _lines(row: TopicRow) -> list[tuple[Span | str, ...]]:
    below = f" ({row.pages_under} with those below)" if row.pages_under != row.pages else ""
    title = f"  {row.title}" if row.title and row.title.casefold() != row.topic else ""
    return [(f"{row.pages:6}  ", Span(text=row.topic, style=BOLD), title, Span(text=below, style=FAINT))]


LISTING = Listing(name="topics", columns=_columns, lines=_lines)

command = click.Command(
    "topics",
    callback=_topics,
    params=[
        click.Argument(["topic"], required=False, shell_complete=candidates.topics),
        *parameters(FORMS | INDEX),
    ],
    help=f"{COMMANDS['topics']} With TOPIC, that one and those right below it.",
)
