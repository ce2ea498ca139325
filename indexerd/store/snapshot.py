"""An index seen read-only at one moment, for comparing it with the tree while a daemon may write it.

Takes no writer's lock and changes nothing. The header is read by SQLite alone: closing a descriptor of
one's own would drop the locks of a store that this process has open on the same file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

import apsw

from indexerd.contract.file import APPLICATION_ID, READER_PRAGMAS
from indexerd.core.sync.model import IndexedPage
from indexerd.errors import DamagedIndexError, ForeignFileError, StorageError
from indexerd.store.file.connection import is_current, read_meta
from indexerd.store.file.failures import explaining
from indexerd.store.open import quick_check
from indexerd.store.read.fetch import fetch_indexed, fetch_shown_paths
from indexerd.store.read.public_rows import public_rows
from indexerd.store.write.change_feed import check_feed
from indexerd.store.write.fulltext import check_full_text

PATIENCE_S: Final = 2.0  # a writer that starts or stops may be in the way for a moment
PAUSE_S: Final = 0.02


class Snapshot:
    """All rows as of the moment it was opened."""

    def __init__(self, path: Path, connection: apsw.Connection, *, is_current: bool) -> None:
        self.path = path
        self.is_current = is_current
        self._connection = connection

    @classmethod
    def open(cls, path: str | Path, *, any_version: bool = False) -> Self:
        """Open the index at `path`. Raises StorageError, DamagedIndexError or ForeignFileError.

        Of one of another schema version, opened with `any_version`, only the public part is to be read.
        """
        path = Path(os.path.abspath(path))
        with explaining(path):
            if not path.exists():
                remedy = "run `indexerd build` in the wiki's folder"
                raise StorageError(str(path), "there is no index", remedy)
            if not path.is_file():  # a pipe would be waited for
                raise ForeignFileError(str(path), "is not a file", "name another file")
            connection = _connect_patiently(path)
            try:
                if connection.pragma("application_id") != APPLICATION_ID:
                    raise ForeignFileError(str(path), "is not an index of this program", "name another file")
                if not any_version and not is_current(connection):
                    problem = "is of another version of this program"
                    raise StorageError(str(path), problem, "run `indexerd build` to renew it")
                return cls(path, connection, is_current=is_current(connection))
            except BaseException:
                connection.close()
                raise

    @property
    def meta(self) -> dict[str, int | str | None]:
        """All that the file says of itself."""
        with explaining(self.path):
            try:
                return read_meta(self._connection)
            except apsw.SQLError as error:  # its writer died before it made a table, or the table is damaged
                remedy = "run `indexerd build` in the wiki's folder"
                raise DamagedIndexError(str(self.path), "does not say what it is", remedy) from error

    def count_pages(self) -> int:
        """How many pages readers see."""
        with explaining(self.path):
            return len(fetch_shown_paths(self._connection))

    def fetch_indexed(
        self, paths: Iterable[str] | None = None, *, prefix: str = ""
    ) -> dict[str, IndexedPage]:
        """The indexed pages at these paths, or all at or below `prefix`."""
        with explaining(self.path):
            return fetch_indexed(self._connection, paths, prefix)

    def public_rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """The rows of a view without ids, generations and times of commits (see `compare`)."""
        with explaining(self.path):
            yield from public_rows(self._connection, view)

    def check_integrity(self, scratch: Path) -> tuple[str, ...]:
        """What is wrong with the file, the change feed or the full text, one line each; copies to `scratch`.

        The full text checks itself by writing, which here only the copy allows.
        """
        with explaining(self.path):
            problems = quick_check(self._connection)
            if problems:
                return tuple(problems)
            problems += check_feed(self._connection)
            copy = apsw.Connection(str(scratch))
            try:
                with copy.backup("main", self._connection, "main") as backup:
                    backup.step()
                return (*problems, *check_full_text(copy))
            finally:
                copy.close()

    def close(self) -> None:
        """End the read transaction and close the connection."""
        self._connection.close(force=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _connect_patiently(path: Path) -> apsw.Connection:
    give_up_at = time.monotonic() + PATIENCE_S
    while True:
        connection = None
        try:
            connection = apsw.Connection(
                f"file:{quote(str(path))}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
            for pragma in READER_PRAGMAS:
                connection.execute(pragma)
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
            return connection
        except (apsw.BusyError, apsw.CantOpenError):
            if connection is not None:
                connection.close()
            if time.monotonic() >= give_up_at:
                raise
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        time.sleep(PAUSE_S)
