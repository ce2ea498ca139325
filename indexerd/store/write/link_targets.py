"""Which page a link means, kept right as pages come, go and change their names (spec 1.6).

A distinct thing looked up is one row of `target`; links point at it, so a page that appears makes
the broken links to it whole without a look at the pages they stand on.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final

import apsw

from indexerd.contract.terms import fold_path
from indexerd.store.file.select import select_row, select_rows
from indexerd.store.read.rows import STEM, stem
from indexerd.store.write.row_changes import RowChanges

_TARGETS: Final = """SELECT target_id, by_name, path, key, page_id FROM target
    WHERE key IN (SELECT value FROM json_each(?)) ORDER BY target_id"""
_CANDIDATES: Final = """SELECT n.key, n.rank, p.page_id, p.path, p.slug FROM name n
    JOIN page p ON p.page_id = n.page_id WHERE n.key IN (SELECT value FROM json_each(?))"""
_INSERT_LINK: Final = """INSERT INTO link(section_rowid, nth, line, kind, target, target_id, fragment, label,
    external) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"""

_Sought = tuple[int, str]  # by name or not, and what is looked up
_Candidates = dict[str, list[tuple[int, int, str, str]]]  # by key: rank, page id, path, slug


def write_links(connection: apsw.Connection, changes: RowChanges) -> None:
    """Write the gathered links, bring targets to what the names say now, drop those nobody uses.

    After the rows of `name` and `page` are written.
    """
    target_ids = _write_targets(connection, changes)
    rows = [
        (section_rowid, nth, line, kind, target, target_ids.get((by_name, path)), *rest)
        for section_rowid, nth, line, kind, target, by_name, path, *rest in changes.links_inserted
    ]
    if rows:
        connection.executemany(_INSERT_LINK, rows)
    for target_id in sorted(changes.targets_released - set(target_ids.values())):
        if select_row(connection, "SELECT 1 FROM link WHERE target_id = ? LIMIT 1", (target_id,)) is None:
            connection.execute("DELETE FROM target WHERE target_id = ?", (target_id,))


def _write_targets(connection: apsw.Connection, changes: RowChanges) -> dict[_Sought, int]:
    """Add what is looked up for the first time, look up again what names came or went for.

    Gives the ids of all that the gathered links look up.
    """
    sought = {
        (row[5], row[6]): fold_path(row[6].rstrip("/"))
        for row in changes.links_inserted
        if row[6] is not None
    }
    moved = _keys(changes.names_deleted) | _keys(changes.names_inserted)
    rows = select_rows(connection, _TARGETS, (_json(moved.union(sought.values())),))
    target_ids = {(by_name, path): target_id for target_id, by_name, path, *_ in rows}
    new = [(thing, key) for thing, key in sought.items() if thing not in target_ids]
    again = [row for row in rows if row[3] in moved]
    candidates = _fetch_candidates(connection, {key for _, key in new}.union(row[3] for row in again))
    updates = []
    for target_id, by_name, path, key, page_id in again:
        meant = _page_meant((by_name, path), candidates[key])
        if meant != page_id:
            updates.append((meant, target_id))
    connection.executemany("UPDATE target SET page_id = ? WHERE target_id = ?", updates)
    if new:
        (last,) = select_rows(connection, "SELECT coalesce(max(target_id), 0) FROM target")[0]
        target_ids |= {thing: target_id for target_id, (thing, _) in enumerate(new, last + 1)}
        connection.executemany(
            "INSERT INTO target(target_id, by_name, path, key, page_id) VALUES(?, ?, ?, ?, ?)",
            [(target_ids[thing], *thing, key, _page_meant(thing, candidates[key])) for thing, key in new],
        )
    return {thing: target_ids[thing] for thing in sought}


def _fetch_candidates(connection: apsw.Connection, keys: Collection[str]) -> _Candidates:
    candidates: _Candidates = defaultdict(list)
    for key, *candidate in select_rows(connection, _CANDIDATES, (_json(keys),)):
        candidates[key].append((candidate[0], candidate[1], candidate[2], candidate[3]))
    return candidates


def _page_meant(sought: _Sought, candidates: Iterable[tuple[int, int, str, str]]) -> int | None:
    """The page that is meant: of several with a name the shortest path, then byte order.

    A path means a page by path, slug or path without extension, as written before folded. A name
    goes down the ranks.
    """
    by_name, path = sought
    written = path.rstrip("/")
    best = min(
        (
            (not by_name and written not in (own, slug, stem(own)), rank, len(own), own.encode(), page_id)
            for rank, page_id, own, slug in candidates
            if by_name or rank <= STEM
        ),
        default=None,
    )
    return best[-1] if best else None


def _keys(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    return {row[1] for row in rows}


def _json(keys: Collection[str]) -> str:
    return json.dumps(sorted(keys))
