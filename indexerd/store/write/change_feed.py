"""Writes what readers follow beside the rows: change feed, diagnostics, scans.

All inside the transaction that changes the rows, so no reader ever sees one without the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import apsw

from indexerd.contract.file import CHANGES_KEPT
from indexerd.core.model import Diagnostic
from indexerd.core.sync.model import ScanRecord
from indexerd.store.file.connection import write_meta
from indexerd.store.file.select import select_rows

SCANS_KEPT: Final = 200  # rows; a day of scans that found something every seven minutes

_SAID: Final = """SELECT nth, kind, line, message, since_generation FROM diagnostic
    WHERE path = ? AND origin = ? ORDER BY nth"""
# No more generations than rows that are too many, since each has one at least.
_GENERATIONS: Final = """SELECT generation, count(*) FROM change WHERE generation < ?
    GROUP BY generation ORDER BY generation LIMIT ?"""

# Where a follower of the feed would end elsewhere than at the pages there are: each page's newest entry
# against the page, and each slug's newest entry against whether a page has it.
_UNTOLD: Final = """SELECT path FROM v1_pages p
    WHERE generation > (SELECT generation FROM v1_changes_floor) AND NOT EXISTS(
      SELECT 1 FROM v1_changes c WHERE c.generation = p.generation AND c.slug = p.slug
        AND c.op = 'upsert' AND c.path = p.path AND c.content_hash IS p.content_hash)
    UNION
    SELECT path FROM (SELECT slug, path, op, max(generation) FROM v1_changes GROUP BY slug) c
    WHERE (c.op <> 'delete') <> EXISTS(SELECT 1 FROM v1_pages p WHERE p.slug = c.slug)
    UNION
    SELECT p.path FROM v1_pages p, meta WHERE meta.key = 'generation' AND p.generation > meta.value
    ORDER BY path"""

BY_PROJECTION, BY_PATH = 0, 1  # who said a diagnostic (schema, diagnostic.origin)


def write_changes(
    connection: apsw.Connection,
    generation: int,
    committed_at: str,
    before: Mapping[str, str],
    after: Mapping[str, tuple[str, str | None]],
) -> tuple[int, int]:
    """Enter one row a slug: where no page has it now, its end. Gives how many came and how many went."""
    gone = {slug: path for slug, path in before.items() if slug not in after}
    entries: dict[str, tuple[str, str, str | None]] = {
        slug: ("upsert", path, content_hash) for slug, (path, content_hash) in after.items()
    }
    entries |= {slug: ("delete", path, None) for slug, path in gone.items()}
    if entries:
        connection.execute("INSERT OR IGNORE INTO commits VALUES(?, ?)", (generation, committed_at))
        connection.executemany(
            "INSERT OR REPLACE INTO change VALUES(?, ?, ?, ?, ?)",
            [(generation, slug, *entry) for slug, entry in sorted(entries.items())],
        )
    return len(after), len(gone)


def count_changes(connection: apsw.Connection) -> int:
    """Rows in the change feed; counted once an opening, since that reads all of them."""
    return int(select_rows(connection, "SELECT count(*) FROM change")[0][0])


def trim_changes(connection: apsw.Connection, kept: int, newest: int) -> int:
    """Drop the oldest generations, each as a whole, until `kept` rows are few enough; gives how many.

    The newest stays however large it is: a follower that is one behind must never have to start over.
    """
    floor, dropped = 0, 0
    for generation, rows in select_rows(connection, _GENERATIONS, (newest, kept - CHANGES_KEPT)):
        if kept - dropped <= CHANGES_KEPT:
            break
        floor, dropped = generation, dropped + rows
    if dropped:
        connection.execute("DELETE FROM change WHERE generation <= ?", (floor,))
        connection.execute("DELETE FROM commits WHERE generation <= ?", (floor,))
        write_meta(connection, changes_floor=floor)
    return dropped


def check_feed(connection: apsw.Connection) -> Iterator[str]:
    """One line for each page of which the change feed tells something else than the page's row."""
    for (path,) in select_rows(connection, _UNTOLD):
        yield f"v1_changes {path}: does not lead to the page as it is"


def write_diagnostics(
    connection: apsw.Connection, path: str, origin: int, said: Sequence[Diagnostic], generation: int
) -> bool:
    """Replace what one side says of a path; whether that is anything new. What persists keeps its age.

    A diagnostic is the same one when kind and message are, wherever its line went.
    """
    old = select_rows(connection, _SAID, (path, origin))
    if not old and not said:
        return False
    ages: dict[tuple[str, str], list[int]] = defaultdict(list)
    for _, kind, _, message, since in reversed(old):
        ages[kind, message].append(since)
    new = []
    for nth, diagnostic in enumerate(said):
        known = ages[diagnostic.kind, diagnostic.message]
        since = known.pop() if known else generation
        new.append((nth, diagnostic.kind, diagnostic.line, diagnostic.message, since))
    if new == old:
        return False
    connection.execute("DELETE FROM diagnostic WHERE path = ? AND origin = ?", (path, origin))
    connection.executemany(
        """INSERT INTO diagnostic(path, origin, nth, kind, line, message, since_generation)
        VALUES(?, ?, ?, ?, ?, ?, ?)""",
        [(path, origin, *row) for row in new],
    )
    return True


def write_scan(connection: apsw.Connection, scan: ScanRecord) -> None:
    """Keep a scan, and no more than the last ones."""
    connection.execute(
        """INSERT INTO scan(started_at, finished_at, reason, pages_seen, pages_changed, missed_by_events)
        VALUES(?, ?, ?, ?, ?, ?)""",
        (
            scan.started_at,
            scan.finished_at,
            scan.reason,
            scan.pages_seen,
            scan.pages_changed,
            scan.missed_by_events,
        ),
    )
    connection.execute("DELETE FROM scan WHERE scan_id <= (SELECT max(scan_id) FROM scan) - ?", (SCANS_KEPT,))
