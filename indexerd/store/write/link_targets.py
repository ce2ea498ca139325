"""Which page a link means, kept right as pages come, go and change their names (spec 1.6).

A distinct thing looked up is one row of `target`; links point at it, so a page that appears makes
the broken links to it whole without reading the pages they stand on. The steps are the core's.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final

import apsw

from indexerd.core.page.link_steps import (
    Meaning,
    Named,
    Namesakes,
    Sought,
    first_key,
    further_keys,
    meaning,
    meaning_at_first,
)
from indexerd.store.file.select import select_row, select_rows
from indexerd.store.write.row_changes import RowChanges

_SOUGHT: Final = "t.way, t.folder, t.path, t.written, t.whole_name, t.label"
_MEANT: Final = "t.page_id, t.how, t.ambiguous, t.whole"
_KNOWN: Final = f"""SELECT t.target_id, {_SOUGHT} FROM json_each(?) j JOIN target t
    ON t.path = j.value ->> 0 AND t.folder = j.value ->> 1"""
_DECIDED_BY: Final = f"""SELECT DISTINCT t.target_id, {_SOUGHT}, {_MEANT} FROM target_key k
    JOIN target t ON t.target_id = k.target_id WHERE k.key IN (SELECT value FROM json_each(?))
    ORDER BY t.target_id"""
_NAMED: Final = """SELECT n.key, n.rank, p.page_id, p.path, p.slug, n.name FROM name n
    JOIN page p ON p.page_id = n.page_id WHERE n.key IN (SELECT value FROM json_each(?))"""
_INSERT_LINK: Final = """INSERT INTO link(section_rowid, nth, line, kind, target, fragment, label, external,
    target_id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_INSERT_TARGET: Final = f"INSERT INTO target VALUES({','.join('?' * 11)})"
_UPDATE_TARGET: Final = """UPDATE target SET page_id = ?, how = ?, ambiguous = ?, whole = ?
    WHERE target_id = ?"""
_INSERT_KEY: Final = "INSERT OR IGNORE INTO target_key(key, target_id) VALUES(?, ?)"
_NO_PAGE: Final = (None, None, 0, 0)


def write_links(connection: apsw.Connection, changes: RowChanges) -> None:
    """Write the gathered links, bring targets to what the names say now, drop those nobody uses.

    After the rows of `name` and `page` are written.
    """
    target_ids = _write_targets(connection, changes)
    if changes.links_inserted:
        rows = [(*row, target_ids.get(sought)) for *row, sought in changes.links_inserted]
        connection.executemany(_INSERT_LINK, rows)
    for target_id in sorted(changes.targets_released - set(target_ids.values())):
        if select_row(connection, "SELECT 1 FROM link WHERE target_id = ? LIMIT 1", (target_id,)) is None:
            _drop_target(connection, target_id)


def _write_targets(connection: apsw.Connection, changes: RowChanges) -> dict[Sought, int]:
    """Add what is looked up for the first time, look up again what names came or went for.

    Gives the ids of all that the gathered links look up.
    """
    sought = dict.fromkeys(row[-1] for row in changes.links_inserted if row[-1] is not None)
    places = _json(sorted({(each.path, each.folder) for each in sought}))
    known = {Sought(*row): target_id for target_id, *row in select_rows(connection, _KNOWN, (places,))}
    new = [each for each in sought if each not in known]
    moved = _keys(changes.names_deleted) | _keys(changes.names_inserted)
    again = {}
    if moved:
        for target_id, *row in select_rows(connection, _DECIDED_BY, (_json(sorted(moved)),)):
            again[target_id] = (Sought(*row[:6]), tuple(row[6:]))
    meant = _find_meanings(connection, [*new, *(each for each, _ in again.values())])
    if new:
        ((last,),) = select_rows(connection, "SELECT coalesce(max(target_id), 0) FROM target")
        known |= {each: target_id for target_id, each in enumerate(new, last + 1)}
        connection.executemany(_INSERT_TARGET, [(known[each], *each, *meant[each][0]) for each in new])
    before = {target_id: (row, each) for target_id, (each, row) in again.items()}
    connection.executemany(
        _UPDATE_TARGET,
        [(*meant[each][0], target_id) for target_id, (row, each) in before.items() if meant[each][0] != row],
    )
    ids = [(known[each], each) for each in new] + [
        (target_id, each) for target_id, (_, each) in before.items()
    ]
    keys = [(key, target_id) for target_id, each in ids for key in meant[each][1]]
    connection.executemany(_INSERT_KEY, keys)
    return {each: known[each] for each in sought}


def _find_meanings(
    connection: apsw.Connection, sought: Collection[Sought]
) -> dict[Sought, tuple[tuple[Any, ...], Collection[str]]]:
    """What each means, as columns of `target`, and the keys that decide it.

    In two rounds, since most are found by their first key, and the further ones may have many pages.
    """
    names = _Names(connection)
    names.fetch(map(first_key, sought))
    found: dict[Sought, tuple[tuple[Any, ...], Collection[str]]] = {}
    left: dict[Sought, frozenset[str]] = {}
    for each in sought:
        key = first_key(each)
        if (meant := meaning_at_first(each, names.of(key))) is not None:
            found[each] = _columns(meant), (key,)
        else:
            left[each] = further_keys(each)
    names.fetch(key for keys in left.values() for key in keys)
    for each, keys in left.items():
        found[each] = _columns(meaning(each, names.of)), (first_key(each), *keys)
    return found


class _Names:
    """The pages by the keys that were fetched."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._rows: dict[str, list[Named]] = defaultdict(list)
        self._fetched: dict[str, Namesakes | None] = {}

    def fetch(self, keys: Iterable[str]) -> None:
        new = set(keys) - self._fetched.keys()
        for key, *row in select_rows(self._connection, _NAMED, (_json(sorted(new)),)):
            self._rows[key].append(Named(*row))
        self._fetched |= dict.fromkeys(new)

    def of(self, key: str) -> Namesakes:
        if (found := self._fetched[key]) is None:
            self._fetched[key] = found = Namesakes(self._rows.get(key, ()))
        return found


def _columns(meant: Meaning | None) -> tuple[Any, ...]:
    if meant is None:
        return _NO_PAGE
    return meant.page_id, meant.how.value, int(meant.is_ambiguous), int(meant.is_whole)


def _drop_target(connection: apsw.Connection, target_id: int) -> None:
    row = select_row(connection, f"SELECT {_SOUGHT} FROM target t WHERE target_id = ?", (target_id,))
    if row is not None:
        sought = Sought(*row)
        keys = [(key, target_id) for key in (first_key(sought), *further_keys(sought))]
        connection.executemany("DELETE FROM target_key WHERE key = ? AND target_id = ?", keys)
        connection.execute("DELETE FROM target WHERE target_id = ?", (target_id,))


def _keys(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    return {row[1] for row in rows}


def _json(values: Collection[Any]) -> str:
    return json.dumps(values)
