"""Prints listings: rows as one document, as NDJSON, through a template, as lines or with tabs."""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.model.results import json_form
from wikiq.output.form import check_form
from wikiq.output.hits import row_json, rows_json, rows_of_all_json
from wikiq.output.template import row_values, write_filled
from wikiq.output.terminal import BOLD, FAINT, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from wikiq.model.results import IndexAge
    from wikiq.output.context import Surroundings


class Form(Record):
    """The form of output that was asked for; without any, what fits the stream."""

    json: bool = False
    ndjson: bool = False
    format: str | None = None

    def __post_init__(self) -> None:
        """Refuse two forms at once."""
        check_form(json=self.json, ndjson=self.ndjson, template=self.format)


class Listing(Record):
    """Rows of one kind and how they are shown: `columns` in a pipe, `lines` on a terminal.

    The JSON document has the rows under `name`, and what stands `beside` them.
    """

    name: str
    rows: Sequence[Record]
    columns: Callable[[Any], tuple[str, ...]]
    lines: Callable[[Any], Sequence[tuple[Span | str, ...]]]
    values: Callable[[Any], Mapping[str, str]] = row_values
    beside: Mapping[str, object] = {}


def print_listing(listing: Listing, form: Form, surroundings: Surroundings, index: IndexAge) -> None:
    """Print a listing in the form that was asked for, or that fits the stream."""
    if form.json:
        surroundings.out.text(rows_json(listing.name, listing.rows, index, **listing.beside) + "\n")
    else:
        _print_rows(listing, form, surroundings, {})


def print_listings(
    listings: Sequence[tuple[Listing, str, IndexAge]], form: Form, surroundings: Surroundings, beside: Record
) -> None:
    """Print listings of several wikis, each with its root; `beside` is told in the document."""
    out = surroundings.out
    if form.json:
        name = listings[0][0].name
        wikis = [(root, listing.rows, index, listing.beside) for listing, root, index in listings]
        out.text(rows_of_all_json(name, wikis, **json_form(beside)) + "\n")
        return
    is_for_people = out.is_terminal and not form.ndjson and form.format is None
    for listing, root, index in listings:
        if is_for_people and listing.rows:
            out.wrapped(Span(text=index.wiki, style=BOLD), "  ", Span(text=root, style=FAINT))
        _print_rows(listing, form, surroundings, {"wiki": index.wiki, "root": root})
        if is_for_people and listing.rows:
            out.line()


def _print_rows(listing: Listing, form: Form, surroundings: Surroundings, wiki: Mapping[str, str]) -> None:
    """Print rows in every form but a document; `wiki` says where they are from, if more than one is asked."""
    out = surroundings.out
    for row in listing.rows:
        if form.ndjson:
            out.text(row_json(row, **wiki) + "\n")
        elif form.format is not None:
            write_filled(out, form.format, {**listing.values(row), **wiki})
        elif out.is_terminal:
            for spans in listing.lines(row):
                out.wrapped(*spans)
        else:
            out.fields(*listing.columns(row), *wiki.values())
