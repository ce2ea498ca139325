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
from contextlib import closing
from itertools import pairwise
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


def look(connection: sqlite3.Connection) -> int:
    """One search, and how torn the view of it is."""
    connection.execute("BEGIN")
    try:
        connection.execute(SEARCH).fetchone()
        return int(connection.execute(TORN).fetchone()[0] or 0)
    finally:
        connection.execute("ROLLBACK")


def read_until(db: Path, stop: threading.Event, *, held: bool) -> dict[str, object]:
    """Searches until told to stop, over one connection or over a new one each time."""
    looks, torn, generations, errors = 0, 0, [0], []
    kept = open_index(db) if held else None
    while not stop.is_set():
        try:
            connection = kept or open_index(db)
            if held:
                torn += bool(look(connection))
            else:
                with closing(connection):
                    torn += bool(look(connection))
                    generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'")
                    generations.append(generation.fetchone()[0])
            looks += 1
        except sqlite3.Error as error:
            errors.append(f"{type(error).__name__}: {error}")
        time.sleep(PAUSE_S)
    backwards = sum(1 for earlier, later in pairwise(generations) if later < earlier)
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
