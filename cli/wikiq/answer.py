"""Runs a search for the command and prints its answer in the form that fits who reads it.

The plain reader of arguments and the click command both end here, so that they cannot differ.
"""

from __future__ import annotations

from datetime import UTC, datetime

from wikiq import render
from wikiq.arguments import build_request, check_form
from wikiq.errors import FOUND, NOTHING_FOUND
from wikiq.freshness import staleness
from wikiq.locate import open_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.arguments import SearchArguments
    from wikiq.database import Database
    from wikiq.results import SearchResult
    from wikiq.surroundings import Surroundings


def search_and_print(arguments: SearchArguments, surroundings: Surroundings) -> int:
    """Run a search and print its answer; gives the exit status."""
    from wikiq.search import search

    check_form(json=arguments.json, ndjson=arguments.ndjson, template=arguments.format)
    request = build_request(arguments, datetime.now().astimezone())
    database = open_index(
        db=arguments.db, wiki=arguments.wiki, environ=surroundings.environ, folder=surroundings.folder
    )
    result = search(database, request)
    print_result(result, arguments, database=database, surroundings=surroundings)
    return FOUND if result.hits else NOTHING_FOUND


def print_result(
    result: SearchResult, arguments: SearchArguments, *, database: Database, surroundings: Surroundings
) -> None:
    """Print an answer in the form that was asked for, or that fits the stream."""
    with database.snapshot() as snapshot:
        root = snapshot.root
        warning = staleness(database, snapshot, datetime.now(UTC)) if result.stale else None
    if warning is not None:
        surroundings.note(warning)
    out, folder = surroundings.out, surroundings.folder
    if arguments.json:
        out.text(render.result_json(result) + "\n")
        return
    for note in render.notes(result):
        surroundings.note(note)
    if not result.hits and not arguments.ndjson:
        surroundings.note("nothing found")
    for hit in result.hits:
        if arguments.ndjson:
            out.text(render.row_json(hit) + "\n")
        elif arguments.format is not None:
            from wikiq.template import hit_values

            out.filled(arguments.format, hit_values(hit, root=root, folder=folder))
        elif out.is_terminal:
            for spans in render.hit_block(hit, root=root, folder=folder, columns=out.columns):
                out.line(*spans)
        else:
            out.fields(*render.hit_fields(hit, root=root, folder=folder))
