"""Runs a search for the command and prints its answer in the form that fits who reads it.

The plain reader of arguments and the click command both end here, so that they cannot differ.
"""

from __future__ import annotations

from datetime import datetime

from indexerd.contract.record import Record
from wikiq.errors import FOUND, NOT_FRESH, NOTHING_FOUND
from wikiq.index.freshness import freshness_words
from wikiq.model.results import ExplainedResult, SearchResult
from wikiq.model.results import place as place_of_hit
from wikiq.output.form import check_form
from wikiq.output.hits import (
    explanation_lines,
    footer,
    hit_block,
    hit_fields,
    listed_line,
    notes,
    nothing_found,
    result_json,
    row_json,
    vimgrep_line,
)
from wikiq.output.terminal import counted
from wikiq.shell.parse import build_request
from wikiq.shell.session import opened

TYPE_CHECKING = False
LEAST_SHOWN = 5  # hits on a small screen; fewer are no choice
ROWS_BELOW = 2  # of the screen: the footer and the next prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wikiq.model.results import Hit, MergedResult
    from wikiq.output.context import Surroundings
    from wikiq.shell.options import SearchArguments
    from wikiq.shell.remembered import ShownHit
    from wikiq.shell.session import Session


class Place(Record):
    """Where a hit is: the root its path starts from, and its index, by file or by the root of its wiki."""

    root: str
    db: str | None = None
    wiki: str | None = None


def search_and_print(arguments: SearchArguments, surroundings: Surroundings) -> int:
    """Run a search and print its answer; gives the exit status."""
    check_output(arguments)
    request = build_request(arguments, datetime.now().astimezone())
    if arguments.all:
        from wikiq.shell.all_wikis import search_everywhere

        found = search_everywhere(request, arguments.source, surroundings)
        placed = [Place(root=hit.root, wiki=hit.root) for hit in found.hits]
        if arguments.open is not None:
            return _open(found.hits, placed, arguments.open, surroundings)
        print_answer(found, placed, counted(len(found.wikis), "wiki"), arguments, surroundings)
        if found.not_fresh:
            return NOT_FRESH
        return FOUND if found.hits else NOTHING_FOUND
    from wikiq.answers.search import search

    with opened(arguments.source, surroundings) as session:
        result = search(session.snapshot, request)
    if arguments.open is not None:
        places = [Place(root=session.root, db=session.database.path)] * len(result.hits)
        return session.exit_status(_open(result.hits, places, arguments.open, surroundings))
    print_result(result, arguments, session=session, surroundings=surroundings)
    return session.exit_status(FOUND if result.hits else NOTHING_FOUND)


def check_output(arguments: SearchArguments) -> None:
    """Refuse two forms of output at once, and a template that no hit can fill."""
    forms = {"json": arguments.json, "ndjson": arguments.ndjson, "vimgrep": arguments.vimgrep}
    check_form(template=arguments.format, **forms)
    if arguments.format is not None:
        from wikiq.output.template import check_hit_template

        check_hit_template(arguments.format)


def print_result(
    result: SearchResult, arguments: SearchArguments, *, session: Session, surroundings: Surroundings
) -> None:
    """Print the answer of one index in the form that was asked for, or that fits the stream."""
    has_footer = bool(result.hits) and are_blocks(arguments, surroundings)
    session.tell_staleness(surroundings, has_footer=has_footer)
    places = [Place(root=session.root, db=session.database.path)] * len(result.hits)
    print_answer(result, places, freshness_words(session.freshness), arguments, surroundings)
    if arguments.json:
        return
    if isinstance(result, ExplainedResult):
        for line in explanation_lines(result):
            surroundings.err.line(line)


def print_answer(
    result: SearchResult | MergedResult,
    places: Sequence[Place],
    age: str,
    arguments: SearchArguments,
    surroundings: Surroundings,
) -> None:
    """Print an answer; `places` say where its hits are, `age` in a few words how fresh it is."""
    if arguments.json:
        surroundings.out.text(result_json(result) + "\n")
        return
    for line in notes(result):
        surroundings.note(line)
    if not result.hits and not arguments.ndjson:
        surroundings.note(nothing_found(result))
    elif are_blocks(arguments, surroundings):
        _print_blocks(result, places, age, arguments, surroundings)
    else:
        _print_lines(zip(result.hits, places, strict=True), arguments, surroundings)


def are_blocks(arguments: SearchArguments, surroundings: Surroundings) -> bool:
    """Tell whether hits are shown to people, by number."""
    is_for_programs = arguments.json or arguments.ndjson or arguments.vimgrep or arguments.format is not None
    return surroundings.out.is_terminal and not is_for_programs


def _print_blocks(
    result: SearchResult | MergedResult,
    places: Sequence[Place],
    age: str,
    arguments: SearchArguments,
    surroundings: Surroundings,
) -> None:
    """Print as many hits as fit the screen, or as were asked for, and remember them by their number."""
    out, folder = surroundings.out, surroundings.folder
    is_listing = all(hit.evidence is None for hit in result.hits)
    left = out.rows - ROWS_BELOW
    shown = 0
    for hit, place in zip(result.hits, places, strict=True):
        if is_listing:
            block = [listed_line(hit, shown + 1, root=place.root, folder=folder)]
        else:
            columns = out.columns
            block = list(hit_block(hit, shown + 1, root=place.root, folder=folder, columns=columns))
        left -= len(block)
        if left < 0 and shown >= LEAST_SHOWN and arguments.limit is None:
            break
        for spans in block:
            out.wrapped(*spans)
        shown += 1
    noun = "section" if arguments.sections else "page"
    out.wrapped(*footer(result, shown, noun, age))
    from wikiq.shell.remembered import remember_hits

    shown_hits = zip(result.hits[:shown], places, strict=False)
    remember_hits(surroundings.environ, [_remembered(hit, place) for hit, place in shown_hits])


def _print_lines(
    hits: Iterable[tuple[Hit, Place]], arguments: SearchArguments, surroundings: Surroundings
) -> None:
    """Print hits for programs, a line each."""
    out, folder = surroundings.out, surroundings.folder
    for hit, place in hits:
        if arguments.ndjson:
            out.text(row_json(hit) + "\n")
        elif arguments.format is not None:
            from wikiq.output.template import hit_values, write_filled

            write_filled(out, arguments.format, hit_values(hit, root=place.root, folder=folder))
        elif arguments.vimgrep:
            out.line(vimgrep_line(hit, root=place.root, folder=folder))
        else:
            out.fields(*hit_fields(hit, root=place.root, folder=folder))


def _remembered(hit: Hit, place: Place) -> ShownHit:
    from wikiq.shell.remembered import ShownHit

    path, line = place_of_hit(hit)
    return ShownHit(db=place.db, wiki=place.wiki, name=f"{path}:{line}" if hit.evidence else path)


def _open(hits: Sequence[Hit], places: Sequence[Place], number: int, surroundings: Surroundings) -> int:
    """Open the hit of that number in the editor."""
    from wikiq.shell.editor import open_page

    if number > len(hits):
        found = f"the search has {counted(len(hits), 'hit')}" if hits else "nothing found"
        surroundings.note(found)
        return NOTHING_FOUND
    hit, place = hits[number - 1], places[number - 1]
    line = place_of_hit(hit)[1]
    return open_page(place.root, hit.path, hit.status, line, surroundings)
