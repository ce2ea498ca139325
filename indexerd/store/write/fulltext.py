"""The three full-text tables: writing, merging in bounded pieces, checking.

`sections_fts` and `names_fts` read old values through a view, so they are written before the rows
change; `sections_grams` keeps no content, so its old values are computed from the old row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import apsw

from indexerd.contract.terms import grams
from indexerd.store.file.schema import GRAMS_TABLE
from indexerd.store.file.select import each_row
from indexerd.store.write.row_changes import RowChanges, Texts

MERGE_PAGES: Final = 50  # of the index a bounded merge writes at most: 1-2 ms (spec 2.3)

_CHECKED: Final = ("sections_fts", "names_fts")
_GRAMS_DELETE: Final = """INSERT INTO
    sections_grams(sections_grams, rowid, title, ancestors, heading, body) VALUES('delete', ?, ?, ?, ?, ?)"""
_GRAMS_INSERT: Final = (
    "INSERT INTO sections_grams(rowid, title, ancestors, heading, body) VALUES(?, ?, ?, ?, ?)"
)
_ALL_TEXTS: Final = """SELECT section_rowid, title, ancestors, heading, body FROM section_text
    ORDER BY section_rowid"""
_INSTANCES: Final = "SELECT term, doc, col, offset FROM {} ORDER BY term, doc, col, offset"


def grams_row(rowid: int, texts: Texts) -> tuple[Any, ...] | None:
    """The row of `sections_grams` for a section, None where it holds no such script."""
    title, ancestors, heading, body = texts
    if body.isascii() and heading.isascii() and ancestors.isascii() and title.isascii():
        return None
    row = (grams(title), grams(ancestors), grams(heading), grams(body))
    return (rowid, *row) if any(row) else None


def write_full_text(connection: apsw.Connection, changes: RowChanges) -> int:
    """Bring the full text to what the rows will be; before the rows change. Gives rows touched.

    By ascending rowid, old and new value of a row together: FTS5 flushes its buffer whenever a rowid
    goes back.
    """
    if changes.grams_deleted:
        connection.executemany(_GRAMS_DELETE, sorted(changes.grams_deleted))
    for rowid, texts in sorted(changes.full_text.items()):
        if texts is None:
            connection.execute("DELETE FROM sections_fts WHERE rowid = ?", (rowid,))
        else:
            connection.execute(
                "UPDATE sections_fts SET title = ?, ancestors = ?, heading = ?, body = ? WHERE rowid = ?",
                (*texts, rowid),
            )
    if changes.full_text_inserted:
        connection.executemany(
            "INSERT INTO sections_fts(rowid, title, ancestors, heading, body) VALUES(?, ?, ?, ?, ?)",
            changes.full_text_inserted,
        )
    if changes.grams_inserted:
        connection.executemany(_GRAMS_INSERT, sorted(changes.grams_inserted))
    for page_id, names in sorted(changes.name_texts.items()):
        if names is None:
            connection.execute("DELETE FROM names_fts WHERE rowid = ?", (page_id,))
        else:
            connection.execute("UPDATE names_fts SET names = ?, title = ? WHERE rowid = ?", (*names, page_id))
    if changes.name_texts_inserted:
        connection.executemany(
            "INSERT INTO names_fts(rowid, names, title) VALUES(?, ?, ?)", changes.name_texts_inserted
        )
    return len(changes.full_text) + len(changes.full_text_inserted)


def refill_grams(connection: apsw.Connection) -> None:
    """Fill `sections_grams` anew from the rows, inside the caller's transaction (terms version)."""
    connection.execute("INSERT INTO sections_grams(sections_grams) VALUES('delete-all')")
    connection.executemany(_GRAMS_INSERT, _expected_grams(connection))


def merge_full_text(connection: apsw.Connection, pages: int = MERGE_PAGES) -> bool:
    """Merge segments, writing about `pages` pages at most; whether there was anything to merge.

    A merge that finds nothing changes at most one row (https://sqlite.org/fts5.html#the_merge_command).
    """
    before = connection.total_changes()
    connection.execute("INSERT INTO sections_fts(sections_fts, rank) VALUES('merge', ?)", (pages,))
    return connection.total_changes() - before >= 2


def check_full_text(connection: apsw.Connection) -> Iterator[str]:
    """What is wrong with the full text, one line a table; holds the write lock, .45 s for 33 MB.

    Rank 1 compares with the rows; rank 0 and PRAGMA integrity_check see no drift (spec 2.3).
    """
    for table in _CHECKED:
        try:
            connection.execute(f"INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)")
        except apsw.CorruptError:
            yield f"{table} does not hold what the rows say"
    try:
        connection.execute("INSERT INTO sections_grams(sections_grams) VALUES('integrity-check')")
        if not _grams_agree(connection):
            yield "sections_grams does not hold what the rows say"
    except apsw.CorruptError:
        yield "sections_grams is damaged"
    except UnicodeDecodeError:
        yield "a section's text is damaged"


def _expected_grams(connection: apsw.Connection) -> Iterator[tuple[Any, ...]]:
    for rowid, title, ancestors, heading, body in each_row(connection, _ALL_TEXTS):
        row = grams_row(rowid, (title, ancestors, heading, body))
        if row is not None:
            yield row


def _grams_agree(connection: apsw.Connection) -> bool:
    """Compare with a table filled from the rows: a contentless one can be checked no other way."""
    expected = apsw.Connection(":memory:")
    try:
        expected.execute(GRAMS_TABLE)
        expected.executemany(_GRAMS_INSERT, _expected_grams(connection))
        expected.execute("CREATE VIRTUAL TABLE seen USING fts5vocab('sections_grams', 'instance')")
        connection.execute(
            "CREATE VIRTUAL TABLE temp.grams_seen USING fts5vocab('main', 'sections_grams', 'instance')"
        )
        found = connection.execute(_INSTANCES.format("temp.grams_seen"))
        try:
            return _equal(found, expected.execute(_INSTANCES.format("seen")))
        finally:
            found.close(force=True)  # a table that is still read cannot be dropped
    finally:
        expected.close()
        connection.execute("DROP TABLE IF EXISTS temp.grams_seen")


def _equal(left: Iterable[object], right: Iterable[object]) -> bool:
    end = object()
    iterators = iter(left), iter(right)
    while True:
        first, second = next(iterators[0], end), next(iterators[1], end)
        if first != second:
            return False
        if first is end:
            return True
