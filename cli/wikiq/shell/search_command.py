"""Runs a search for the command and prints its answer in the form that fits who reads it.

The plain reader of arguments and the click command both end here, so that they cannot differ.
"""

from __future__ import annotations

from datetime import datetime

from wikiq.errors import FOUND, NOT_FRESH, NOTHING_FOUND
from wikiq.model.results import ExplainedResult
from wikiq.output.form import check_form
from wikiq.output.hits import (
    explanation_lines,
    hit_block,
    hit_fields,
    notes,
    nothing_found,
    result_json,
    row_json,
)
from wikiq.shell.parse import build_request
from wikiq.shell.session import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wikiq.model.results import Hit, MergedResult, SearchResult
    from wikiq.output.context import Surroundings
    from wikiq.shell.options import SearchArguments
    from wikiq.shell.session import Session


def search_and_print(arguments: SearchArguments, surroundings: Surroundings) -> int:
    """Run a search and print its answer; gives the exit status."""
    check_output(arguments)
    request = build_request(arguments, datetime.now().astimezone())
    if arguments.all:
        from wikiq.shell.all_wikis import search_everywhere

        found = search_everywhere(request, arguments.source, surroundings)
        print_answer(found, [hit.root for hit in found.hits], arguments, surroundings)
        if found.not_fresh:
            return NOT_FRESH
        return FOUND if found.hits else NOTHING_FOUND
    from wikiq.answers.search import search

    with opened(arguments.source, surroundings) as session:
        result = search(session.snapshot, request)
    print_result(result, arguments, session=session, surroundings=surroundings)
    return session.exit_status(FOUND if result.hits else NOTHING_FOUND)


def check_output(arguments: SearchArguments) -> None:
    """Refuse two forms of output at once, and a template that no hit can fill."""
    check_form(json=arguments.json, ndjson=arguments.ndjson, template=arguments.format)
    if arguments.format is not None:
        from wikiq.output.template import check_hit_template

        check_hit_template(arguments.format)


def print_result(
    result: SearchResult, arguments: SearchArguments, *, session: Session, surroundings: Surroundings
) -> None:
    """Print the answer of one index in the form that was asked for, or that fits the stream."""
    session.tell_staleness(surroundings)
    print_answer(result, [session.root] * len(result.hits), arguments, surroundings)
    if arguments.json:
        return
    if isinstance(result, ExplainedResult):
        for line in explanation_lines(result):
            surroundings.err.line(line)


def print_answer(
    result: SearchResult | MergedResult,
    roots: Sequence[str],
    arguments: SearchArguments,
    surroundings: Surroundings,
) -> None:
    """Print an answer; `roots` are the folders that the paths of its hits start from."""
    if arguments.json:
        surroundings.out.text(result_json(result) + "\n")
        return
    for note in notes(result):
        surroundings.note(note)
    if not result.hits and not arguments.ndjson:
        surroundings.note(nothing_found(result))
    print_hits(zip(result.hits, roots, strict=True), arguments, surroundings)


def print_hits(
    hits: Iterable[tuple[Hit, str]], arguments: SearchArguments, surroundings: Surroundings
) -> None:
    """Print hits one by one, each with the root its path starts from."""
    out, folder = surroundings.out, surroundings.folder
    for hit, root in hits:
        if arguments.ndjson:
            out.text(row_json(hit) + "\n")
        elif arguments.format is not None:
            from wikiq.output.template import hit_values, write_filled

            write_filled(out, arguments.format, hit_values(hit, root=root, folder=folder))
        elif out.is_terminal:
            for spans in hit_block(hit, root=root, folder=folder, columns=out.columns):
                out.line(*spans)
        else:
            out.fields(*hit_fields(hit, root=root, folder=folder))
