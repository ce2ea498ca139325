"""`wikiq changes --since G`: the change feed, once or as it grows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from wikiq.answers.changes import Changes, known_changes
from wikiq.commands.group import parameters, split_source
from wikiq.errors import (
    FOUND,
    DamagedIndexError,
    ForeignIndexError,
    NoIndexError,
    UnreadableIndexError,
    UsageError,
)
from wikiq.model.request import Source
from wikiq.model.results import ChangeRow
from wikiq.output.context import Surroundings
from wikiq.output.listing import Form, Listing, print_listing
from wikiq.output.terminal import FAINT, Span
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import opened

FOLLOW_PAUSE_S = 0.25  # between two polls of the generation: one indexed read of .1 ms
REPLACED_WITHIN_S = 5.0  # a copy is away, or torn, no longer than that


@click.pass_obj
def _changes(surroundings: Surroundings, /, *, since: int, follow: bool, **values: Any) -> int:
    source = split_source(values)
    form = Form(**values)
    if follow and form.json:
        raise UsageError("--json", "cannot be combined with --follow", "use --ndjson, one change a line")
    with opened(source, surroundings) as session:
        found = known_changes(session.snapshot, since)
    session.tell_staleness(surroundings)
    print_listing(_listing(found), form, surroundings, session.age)
    if follow:
        for grown in _follow(found, source, surroundings):
            print_listing(_listing(grown), form, surroundings, session.age)
    return session.exit_status(FOUND)


def _follow(seen: Changes, source: Source, surroundings: Surroundings) -> Iterator[Changes]:
    """Give what is committed, for ever; goes on in the file that takes the place of this one.

    A copy that is replaced may be away or torn meanwhile.
    """
    away_since = None
    while True:
        try:
            for found in _follow_file(seen, source, surroundings):
                seen, away_since = found, None
                yield found
        except (NoIndexError, DamagedIndexError, UnreadableIndexError):
            away_since = away_since or time.monotonic()
            if time.monotonic() - away_since > REPLACED_WITHIN_S:
                raise
            surroundings.out.pause(FOLLOW_PAUSE_S)


def _follow_file(seen: Changes, source: Source, surroundings: Surroundings) -> Iterator[Changes]:
    """Give what is committed, a snapshot each time, until another file takes the place of this one."""
    with opened(source.replace(fresh=False), surroundings) as session:
        while not session.database.is_replaced():
            with session.database.snapshot() as snapshot:
                if snapshot.index_id != seen.index_id:
                    path = session.database.path
                    raise ForeignIndexError(path, "was rebuilt", "start over with --since 0")
                seen = known_changes(snapshot, seen.generation)
            yield seen
            surroundings.out.pause(FOLLOW_PAUSE_S)


def _columns(row: ChangeRow) -> tuple[str, ...]:
    return str(row.generation), row.committed_at, row.op, row.slug, row.path, row.content_hash or ""


def _lines(row: ChangeRow) -> list[tuple[Span | str, ...]]:
    return [
        (f"{row.generation:>8}  ", Span(text=row.committed_at, style=FAINT), f"  {row.op:<6}  {row.path}")
    ]


def _listing(found: Changes) -> Listing:
    beside = {"index_id": found.index_id, "generation": found.generation, "floor": found.floor}
    return Listing(name="changes", rows=found.rows, columns=_columns, lines=_lines, beside=beside)


command = click.Command(
    "changes",
    callback=_changes,
    params=[
        click.Option(
            ["--since"],
            type=click.IntRange(min=0),
            required=True,
            metavar="GENERATION",
            help="The last generation already seen; 0 for all that are kept.",
        ),
        click.Option(
            ["--follow"], is_flag=True, help="Keep running and print new changes as they are committed."
        ),
        *parameters(FORMS | INDEX),
    ],
    help=f"""{COMMANDS["changes"]}

    A generation can be compared only within one index_id, which the JSON form tells.""",
)
