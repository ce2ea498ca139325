"""`wikiq chunks`: one chunk a line, for embedders; with `--since`, what replaces what since then."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from wikiq.arguments import COMMANDS, FILTERS, INDEX, SearchArguments, build_filters
from wikiq.chunks import feed_chunks, list_chunks
from wikiq.commands import parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.render import row_json
from wikiq.source import opened
from wikiq.surroundings import Surroundings

_FILTERED_BY = ("--topic", "--under", "--path")


@click.pass_obj
def _chunks(surroundings: Surroundings, /, *, since: int | None, **values: Any) -> int:
    source = split_source(values)
    filters = build_filters(SearchArguments(**values), datetime.now().astimezone())
    with opened(source, surroundings) as asked:
        given = 0
        rows = (
            list_chunks(asked.database, filters)
            if since is None
            else feed_chunks(asked.database, since, filters)
        )
        for row in rows:
            surroundings.out.text(row_json(row) + "\n")
            given += 1
        return asked.exit_status(FOUND if given else NOTHING_FOUND)


command = click.Command(
    "chunks",
    callback=_chunks,
    params=[
        click.Option(
            ["--since"],
            type=click.IntRange(min=0),
            metavar="GENERATION",
            help="What changed after a generation, as a feed; 0: everything, as a feed.",
        ),
        *parameters({name: FILTERS[name] for name in _FILTERED_BY}),
        click.Option(
            ["--ndjson"], is_flag=True, expose_value=False, help="One JSON document a line, as always."
        ),
        *parameters(INDEX),
    ],
    help=f"""{COMMANDS["chunks"]}

    Each line is a chunk, with the text to embed, to cite and to link. With --since the lines are a
    feed: `start` (another index_id than last time: begin again with --since 0), for every page that
    changed a `replace` with all its chunk keys followed by its `chunk`s, for every page that is no more
    a `delete`, and `end` with the generation to go on from. Embed the keys not seen before.""",
)
