"""Prints listings: rows as one document, as NDJSON, through a template, as lines or with tabs."""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.output.form import check_form
from wikiq.output.hits import row_json, rows_json
from wikiq.output.template import row_values, write_filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from wikiq.model.results import IndexAge
    from wikiq.output.context import Surroundings
    from wikiq.output.terminal import Span


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
    out = surroundings.out
    if form.json:
        out.text(rows_json(listing.name, listing.rows, index, **listing.beside) + "\n")
        return
    for row in listing.rows:
        if form.ndjson:
            out.text(row_json(row) + "\n")
        elif form.format is not None:
            write_filled(out, form.format, listing.values(row))
        elif out.is_terminal:
            for spans in listing.lines(row):
                out.line(*spans)
        else:
            out.fields(*listing.columns(row))
