"""A reader that must never notice the daemon's comings and goings, as a process of its own.

`python -m tests.crash.reader DB held|anew` searches until its input closes, then prints one JSON
object: how often it searched, and every error it saw.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
import time
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Final

from tests.crash.process import open_index

PAUSE_S: Final = 0.01
MOST_ERRORS: Final = 20  # kept; one is too many already

SEARCH: Final = """SELECT count(*) FROM sections_fts WHERE sections_fts MATCH 'index OR page'"""
# What is committed together is seen together: every section has its page, every page its sections.
TORN: Final = """SELECT
    (SELECT count(*) FROM v1_pages) - (SELECT count(DISTINCT page_id) FROM v1_sections)
    + (SELECT sum(sections) FROM v1_pages) - (SELECT count(*) FROM v1_sections)"""
# The last that the change feed says of a page is what the page is, and nothing is newer than the index.
UNTRUE: Final = """SELECT count(*) FROM (
        SELECT slug, op, content_hash, max(generation) AS newest FROM v1_changes
        WHERE generation > ?1 - 50 GROUP BY slug) AS said
    LEFT JOIN v1_pages AS page USING(slug)
    WHERE (op = 'upsert') <> (page.slug IS NOT NULL) OR newest > ?1
    OR (op = 'upsert' AND (said.content_hash IS NOT page.content_hash OR newest > page.generation))"""
STATE: Final = """SELECT (SELECT value FROM meta WHERE key = 'index_id'),
    (SELECT value FROM meta WHERE key = 'generation')"""


def look(connection: sqlite3.Connection) -> tuple[bool, tuple[str, int]]:
    """One search: whether the view of it was torn, and the state it was of."""
    connection.execute("BEGIN")
    try:
        connection.execute(SEARCH).fetchone()
        state: tuple[str, int] = connection.execute(STATE).fetchone()
        torn = connection.execute(TORN).fetchone()[0] or connection.execute(UNTRUE, state[1:]).fetchone()[0]
        return bool(torn), state
    finally:
        connection.execute("ROLLBACK")


def read_until(db: Path, stop: threading.Event, *, held: bool) -> dict[str, object]:
    """Searches until told to stop, over one connection or over a new one each time."""
    looks, torn, backwards, errors = 0, 0, 0, []
    newest: dict[str, int] = {}  # generation by index
    kept = open_index(db) if held else None
    while not stop.is_set():
        try:
            connection = kept or open_index(db)
            with nullcontext() if held else closing(connection):
                is_torn, (index, generation) = look(connection)
            looks += 1
            torn += is_torn
            backwards += generation < newest.get(index, 0)
            newest[index] = generation
        except sqlite3.Error as error:
            errors.append(f"{type(error).__name__}: {error}")
        time.sleep(PAUSE_S)
    return {"looks": looks, "torn": torn, "backwards": backwards, "errors": errors[:MOST_ERRORS]}


def main() -> None:
    """The command."""
    db, how = Path(sys.argv[1]), sys.argv[2]
    stop = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    print(json.dumps(read_until(db, stop, held=how == "held")))


if __name__ == "__main__":
    main()
