"""Which page a link means, kept right as pages come, go and change their names (spec 1.6).

A distinct thing looked up is one row of `target`; links point at it, so a page that appears makes
the broken links to it whole without a look at the pages they stand on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import apsw

from indexerd.core.terms import fold_path
from indexerd.store.changes import RowChanges
from indexerd.store.rows import STEM, TITLE, stem
from indexerd.store.select import select_row, select_rows

_CANDIDATES: Final = """SELECT n.rank, p.page_id, p.path, p.slug FROM name n
    JOIN page p ON p.page_id = n.page_id WHERE n.key = ? AND n.rank <= ?"""
_TARGETS: Final = """SELECT target_id, by_name, path, key, page_id FROM target
    WHERE key IN (SELECT value FROM json_each(?)) ORDER BY target_id"""
_TARGET: Final = "SELECT target_id FROM target WHERE key = ? AND by_name = ? AND path = ?"
_INSERT_LINK: Final = """INSERT INTO link(section_rowid, nth, line, kind, target, target_id, fragment, label,
    external) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def write_links(connection: apsw.Connection, changes: RowChanges) -> None:
    """Write the gathered links, bring targets to what the names say now, drop those nobody uses.

    After the rows of `name` and `page` are written.
    """
    _resolve_again(connection, changes)
    known: dict[tuple[int, str], int] = {}
    rows = []
    for section_rowid, nth, line, kind, target, by_name, path, *rest in changes.links_inserted:
        target_id = None
        if path is not None:
            target_id = known.get((by_name, path))
            if target_id is None:
                target_id = known[by_name, path] = _target_id(connection, by_name, path)
        rows.append((section_rowid, nth, line, kind, target, target_id, *rest))
    if rows:
        connection.executemany(_INSERT_LINK, rows)
    for target_id in sorted(changes.targets_released - set(known.values())):
        if select_row(connection, "SELECT 1 FROM link WHERE target_id = ? LIMIT 1", (target_id,)) is None:
            connection.execute("DELETE FROM target WHERE target_id = ?", (target_id,))


def _target_id(connection: apsw.Connection, by_name: int, path: str) -> int:
    key = fold_path(path.rstrip("/"))
    found = select_row(connection, _TARGET, (key, by_name, path))
    if found is not None:
        return int(found[0])
    connection.execute(
        "INSERT INTO target(by_name, path, key, page_id) VALUES(?, ?, ?, ?)",
        (by_name, path, key, _page_meant(connection, by_name, path, key)),
    )
    return connection.last_insert_rowid()


def _resolve_again(connection: apsw.Connection, changes: RowChanges) -> None:
    """Look up once more what is called by a name that a page gained or lost."""
    keys = _keys(changes.names_deleted) | _keys(changes.names_inserted)
    for target_id, by_name, path, key, page_id in select_rows(
        connection, _TARGETS, (json.dumps(sorted(keys)),)
    ):
        meant = _page_meant(connection, by_name, path, key)
        if meant != page_id:
            connection.execute("UPDATE target SET page_id = ? WHERE target_id = ?", (meant, target_id))


def _keys(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    return {row[1] for row in rows}


def _page_meant(connection: apsw.Connection, by_name: int, path: str, key: str) -> int | None:
    """The page that is meant: of several with a name the shortest path, then byte order.

    A path means a page by path, slug or path without extension, as written before folded. A name
    goes down the ranks.
    """
    candidates = select_rows(connection, _CANDIDATES, (key, TITLE if by_name else STEM))
    written = path.rstrip("/")
    best = min(
        (
            (not by_name and written not in (own, slug, stem(own)), rank, len(own), own.encode(), page_id)
            for rank, page_id, own, slug in candidates
        ),
        default=None,
    )
    return best[-1] if best else None
