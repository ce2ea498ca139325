"""`wikiq sql QUERY`: one reading statement over the index, as a table, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json as json_format
from typing import Any

import click

from wikiq.answers.raw_sql import DEFAULT_LIMIT_S, MOST_ROWS, Table, ask
from wikiq.commands.group import Seconds, parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND, UsageError
from wikiq.model.results import FORMAT
from wikiq.output.context import Surroundings
from wikiq.output.terminal import BOLD, Span
from wikiq.shell.options import COMMANDS, INDEX
from wikiq.shell.session import opened

WIDEST_CELL = 60  # columns of one value in a table for people
INFINITY = float("inf")


@click.pass_obj
def _sql(
    surroundings: Surroundings,
    /,
    statement: str,
    values: tuple[str, ...],
    *,
    json: bool,
    ndjson: bool,
    csv: bool,
    time_limit: float,
    **options: Any,
) -> int:
    forms = [name for name, given in (("--json", json), ("--ndjson", ndjson), ("--csv", csv)) if given]
    if len(forms) > 1:
        raise UsageError(" ".join(forms), "cannot be combined", "give one of them")
    with opened(split_source(options), surroundings, deadline_s=time_limit) as session:
        table = ask(session.snapshot, statement, values)
    if table.is_cut:
        surroundings.note(f"these are the first {MOST_ROWS} rows; add LIMIT or a condition")
    _print(table, forms[0] if forms else "", surroundings)
    return session.exit_status(FOUND if table.rows else NOTHING_FOUND)


def _print(table: Table, form: str, surroundings: Surroundings) -> None:
    out = surroundings.out
    if form == "--json":
        keys = table.keys
        rows = [dict(zip(keys, map(_plain, row), strict=True)) for row in table.rows]
        out.text(json_format.dumps({"format": FORMAT, "columns": keys, "rows": rows}) + "\n")
    elif form == "--ndjson":
        keys = table.keys
        for row in table.rows:
            named = dict(zip(keys, map(_plain, row), strict=True))
            out.text(json_format.dumps(named) + "\n")
    elif form == "--csv":
        text = io.StringIO()
        rows_of_text = (map(_plain, row) for row in table.rows)
        csv.writer(text, lineterminator="\n").writerows((table.columns, *rows_of_text))
        out.text(text.getvalue())
    elif out.is_terminal:
        _print_table(table, surroundings)
    else:
        for row in table.rows:
            out.fields(*map(_shown, row))


def _print_table(table: Table, surroundings: Surroundings) -> None:
    shown = [tuple(_cut(_shown(value)) for value in row) for row in table.rows]
    widths = [max(map(len, column)) for column in zip(table.columns, *shown, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (table.columns, *shown)
    ]
    surroundings.out.line(Span(text=lines[0], style=BOLD))
    for line in lines[1:]:
        surroundings.out.line(line)


def _plain(value: object) -> object:
    """A value as JSON and CSV can hold it; a BLOB as hexadecimal digits, infinity as SQL can write it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and abs(value) == INFINITY:
        return "9e999" if value > 0 else "-9e999"
    return value


def _shown(value: object) -> str:
    return "" if value is None else str(_plain(value))


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDEST_CELL else line[: WIDEST_CELL - 1] + "…"


command = click.Command(
    "sql",
    callback=_sql,
    params=[
        click.Argument(["statement"], metavar="QUERY"),
        click.Argument(["values"], nargs=-1, metavar="[VALUE]..."),
        click.Option(["--json"], is_flag=True, help="Print one JSON document."),
        click.Option(
            ["--ndjson"], is_flag=True, help="Print NDJSON: one JSON document a line, one line a row."
        ),
        click.Option(["--csv"], is_flag=True, help="Print CSV with a header line."),
        click.Option(
            ["--time-limit"],
            type=Seconds(min=0, min_open=True),
            default=DEFAULT_LIMIT_S,
            show_default=True,
            metavar="SECONDS",
            help="Time limit of the statement, in seconds.",
        ),
        *parameters(INDEX),
    ],
    help=f"""{COMMANDS["sql"]}

    QUERY may hold `?`, which the VALUEs fill in order. The views are described in docs/database.md;
    their names begin with v1_.""",
)
