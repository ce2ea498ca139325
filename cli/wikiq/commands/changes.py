"""`wikiq changes --since G`: the change feed, once or as it grows."""

from __future__ import annotations

from typing import Any

import click

from wikiq.answers.changes import Changes, changes
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, ForeignIndexError, UsageError
from wikiq.model.request import Source
from wikiq.model.results import ChangeRow
from wikiq.output.context import Surroundings
from wikiq.output.listing import Form, Listing, print_rows
from wikiq.output.terminal import FAINT, Span
from wikiq.shell.options import COMMANDS, FORMS, INDEX
from wikiq.shell.session import Asked, opened

FOLLOW_PAUSE_S = 0.25  # between two looks at the generation: one indexed read of .1 ms


@click.pass_obj
def _changes(surroundings: Surroundings, /, *, since: int, follow: bool, **values: Any) -> int:
    source = split_source(values)
    form = Form(**values)
    if follow and form.json:
        raise UsageError("--json", "cannot be combined with --follow", "use --ndjson, one change a line")
    with opened(source, surroundings) as asked:
        seen = _print_changes(asked, since, form, surroundings)
    while follow:
        seen = _print_until_replaced(seen, source, form, surroundings)
    return asked.exit_status(FOUND)


def _print_until_replaced(seen: Changes, source: Source, form: Form, surroundings: Surroundings) -> Changes:
    """Print what is committed, for as long as the file stays the one that was opened."""
    with opened(source.replace(fresh=False), surroundings) as asked:
        while not asked.database.is_replaced():
            with asked.database.snapshot() as snapshot:
                now = (snapshot.index_id, snapshot.generation)
            if now != (seen.index_id, seen.generation):
                since, index_id = seen.generation, seen.index_id
                seen = _print_changes(asked, since, form, surroundings, index_id=index_id)
            surroundings.out.pause(FOLLOW_PAUSE_S)
    return seen


def _print_changes(
    asked: Asked, since: int, form: Form, surroundings: Surroundings, *, index_id: str | None = None
) -> Changes:
    found = changes(asked.database, since)
    if index_id not in (None, found.index_id):
        raise ForeignIndexError(asked.database.path, "was built anew", "start over with --since 0")
    if since < found.floor:
        raise UsageError(
            f"--since {since}",
            f"changes up to generation {found.floor} are no longer kept",
            f"start over: list the pages, then follow with --since {found.generation}",
        )
    if since > found.generation:
        # Nothing would be said until this index gets there, and what it did before would be missed.
        raise UsageError(
            f"--since {since}", f"this index is at generation {found.generation}", "start over with --since 0"
        )
    beside = {"index_id": found.index_id, "generation": found.generation, "floor": found.floor}
    print_rows(found.rows, form, LISTING, surroundings, asked.tell_age(surroundings), **beside)
    return found


def _columns(row: ChangeRow) -> tuple[str, ...]:
    return str(row.generation), row.committed_at, row.op, row.slug, row.path, row.content_hash or ""


def _lines(row: ChangeRow) -> list[tuple[Span | str, ...]]:
    return [
        (f"{row.generation:>8}  ", Span(text=row.committed_at, style=FAINT), f"  {row.op:<6}  {row.path}")
    ]


LISTING = Listing(name="changes", columns=_columns, lines=_lines)

command = click.Command(
    "changes",
    callback=_changes,
    params=[
        click.Option(
            ["--since"],
            type=click.IntRange(min=0),
            required=True,
            metavar="GENERATION",
            help="The last generation already seen; 0 for all that is kept.",
        ),
        click.Option(["--follow"], is_flag=True, help="Go on, and print changes as they are committed."),
        *parameters(FORMS | INDEX),
    ],
    help=f"""{COMMANDS["changes"]}

    A generation can be compared only within one index_id, which the JSON form tells.""",
)
