"""`wikiq chunks`: one chunk a line, for embedders; with `--since`, what replaces what since then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import Any

import click

from indexerd.contract.record import Record
from wikiq.answers.chunk_feed import Cursor, feed_chunks, list_chunks, parse_cursor
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.index.database import Snapshot
from wikiq.model.request import Filters
from wikiq.output.context import Surroundings
from wikiq.output.hits import row_json
from wikiq.shell.options import COMMANDS, FILTERS, INDEX, SearchArguments
from wikiq.shell.parse import build_filters
from wikiq.shell.session import opened

# The lines are put aside until the snapshot has ended, since an embedder takes hours to read them.
MOST_IN_MEMORY = 32 * 2**20  # characters; more go into a file without a name in the temporary folder
PIECE = 2**20  # characters copied at a time
PATIENCE_S = 3600.0  # of the snapshot; all chunks of 100,000 pages take minutes
_FILTERED_BY = ("--topic", "--under", "--path")


@click.pass_obj
def _chunks(surroundings: Surroundings, /, *, since: str | None, **values: Any) -> int:
    source = split_source(values)
    filters = build_filters(SearchArguments(**values), datetime.now().astimezone())
    cursor = parse_cursor(since) if since is not None else None
    with SpooledTemporaryFile(MOST_IN_MEMORY, "w+", encoding="ascii") as lines:
        with opened(source, surroundings, deadline_s=PATIENCE_S) as session:
            for row in _rows(session.snapshot, cursor, filters):
                lines.write(row_json(row) + "\n")
        status = FOUND if lines.tell() else NOTHING_FOUND
        lines.seek(0)
        while piece := lines.read(PIECE):
            surroundings.out.text(piece)
    return session.exit_status(status)


def _rows(snapshot: Snapshot, cursor: Cursor | None, filters: Filters) -> Iterator[Record]:
    if cursor is None:
        yield from list_chunks(snapshot, filters)
    else:
        yield from feed_chunks(snapshot, cursor, filters)


command = click.Command(
    "chunks",
    callback=_chunks,
    params=[
        click.Option(
            ["--since"],
            metavar="CURSOR",
            help="As a feed: what changed since the cursor of an `end` line, or a generation; 0: all.",
        ),
        *parameters({name: FILTERS[name] for name in _FILTERED_BY}),
        click.Option(
            ["--ndjson"], is_flag=True, expose_value=False, help="One JSON document a line, as always."
        ),
        *parameters(INDEX),
    ],
    help=f"""{COMMANDS["chunks"]}

    Each line is a chunk, with the text to embed, to cite and to link. With --since the lines are a feed:
    `start` (if `complete`, drop all that you have), for every page that changed a `replace` with all its
    chunk keys, then its `chunk`s, for every page that is no more a `delete`, and `end` with the cursor to
    go on from. Embed the keys that you have not seen.""",
)
