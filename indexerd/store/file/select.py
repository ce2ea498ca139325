"""Running a SELECT, with rows typed as what they are: values of whatever the columns hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw


def select_rows(
    connection: apsw.Connection, statement: str, values: Sequence[int | str | None] = ()
) -> list[tuple[Any, ...]]:
    """All rows, read at once, so that no statement is open when the next one writes."""
    return connection.execute(statement, values).fetchall()


def select_row(
    connection: apsw.Connection, statement: str, values: Sequence[int | str | None] = ()
) -> tuple[Any, ...] | None:
    """The first row, None without one."""
    rows = connection.execute(statement, values).fetchall()
    return rows[0] if rows else None


def each_row(connection: apsw.Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """One row after the other, for what is too much to hold at once; the statement stays open meanwhile."""
    yield from connection.execute(statement)
