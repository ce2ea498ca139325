"""Opens an index to read: never writes, checks that the file is one, gives consistent snapshots.

A snapshot is one short read transaction: what is printed is printed after it has ended, since a
reader that holds one keeps the writer from shrinking its WAL. Which SELECTs run is not known here.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from datetime import UTC, datetime

from indexerd.contract.file import CONTRACT_MINOR
from wikiq.errors import (
    CancelledError,
    ForeignIndexError,
    WikiqError,
)
from wikiq.index.connection import connect, read_meta
from wikiq.index.daemon_state import has_lock, view_daemon, writer_is_running
from wikiq.index.failures import _CLOSED, _PASSING, _primary_code, damaged, explained
from wikiq.index.file_check import check_file, identity_of, stamp_of
from wikiq.index.row_lengths import average_lengths
from wikiq.index.sql import SELECT_AVERAGES, SELECT_GENERATION, SELECT_WRONG_ROWS
from wikiq.model.request import DEFAULT_MAX_AGE_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, TypeVar

    from indexerd.contract.record import Record
    from wikiq.index.asked import Asked
    from wikiq.index.daemon_state import DaemonView
    from wikiq.index.row_lengths import Lengths
    from wikiq.model.results import Freshness

    R = TypeVar("R", bound=Record)

OPEN_PATIENCE_S = 2.0  # a writer that starts, stops or recovers is through with it well before
OPEN_PAUSE_S = 0.02  # between two tries
# Of the processor, for one snapshot's statements: a busy machine makes no question a bad one (FAULTS 68).
DEADLINE_S = 30.0  # 20 times the slowest honest search measured
DEADLINE_STEPS = 20_000  # virtual machine steps between two looks at the clock: about 1 ms

# The second one comes from SQLite's own message about a name that is no UTF-8.
_Failure = (sqlite3.Error, UnicodeDecodeError)

_MISSING = ("no such column", "no such table")  # views and columns are only ever added (spec 2.2)
RENEW = "start `indexerd run`, or run `indexerd build`, to renew it"


class Snapshot:
    """One state of the index: an answer reads all of it here, for as long as the `with` block runs.

    `daemon` was seen just before `moment`, at which the state was taken: what the daemon calls pending
    then is not in the state, so an answer is never called fresher than it is. What stands in `meta` can
    be read after the block too.
    """

    __slots__ = ("connection", "daemon", "database", "freshness", "meta", "moment")

    def __init__(
        self,
        *,
        connection: sqlite3.Connection,
        meta: Mapping[str, Any],
        database: Database,
        daemon: DaemonView,
        moment: datetime,
    ) -> None:
        self.connection = connection
        self.meta = meta
        self.database = database
        self.daemon = daemon
        self.moment = moment
        self.freshness: Freshness | None = None  # kept by `freshness_of`

    def onto(self, connection: sqlite3.Connection) -> Snapshot:
        """Give a snapshot that reads a copy of the same state through another connection."""
        return Snapshot(
            connection=connection,
            meta=self.meta,
            database=self.database,
            daemon=self.daemon,
            moment=self.moment,
        )

    @property
    def index_id(self) -> str:
        """The identity within which generations and row ids can be compared."""
        return str(self.meta.get("index_id", ""))

    @property
    def generation(self) -> int:
        """The number of the last commit that changed rows."""
        return int(self.meta["generation"])

    @property
    def root(self) -> str:
        """The folder that is indexed: absolute, without links."""
        return str(self.meta.get("root", ""))

    @property
    def wiki(self) -> str:
        """The name of the wiki."""
        return str(self.meta.get("name", ""))

    def rows(self, select: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Fetch every row of a SELECT."""
        return self.connection.execute(select, values).fetchall()

    def records(
        self,
        kind: type[R],
        select: str,
        values: Sequence[Any] | Mapping[str, Any] = (),
        **readers: Callable[[Any], Any],
    ) -> list[R]:
        """Fetch every row of a SELECT as a record whose fields are its columns; see `Record.from_row`."""
        return [kind.from_row(row, **readers) for row in self.rows(select, values)]

    def row(self, select: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[Any, ...] | None:
        """Fetch the first row of a SELECT, None without one."""
        found: tuple[Any, ...] | None = self.connection.execute(select, values).fetchone()
        return found

    def candidates(self, asked: Asked) -> list[tuple[Any, ...]]:
        """Fetch what may answer a question, one row a candidate: the columns of `sql.SELECT_RANKED`."""
        return self.rows(asked.statement, asked.values)

    def average_lengths(self) -> Lengths:
        """Tell how many words a section has on average."""
        return average_lengths(*self.only_row(SELECT_AVERAGES))

    def only_row(self, select: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[Any, ...]:
        """Fetch the row of a SELECT that has one in every index that is whole."""
        found = self.row(select, values)
        if found is None:
            raise sqlite3.DatabaseError("a row is missing")
        return found


class Database:
    """An open index. Good for many snapshots, one after the other, in one thread at a time.

    `identity`: device and inode of the file. `made_fresh`: a barrier has been passed for what is
    about to be asked. `is_copy`: it is said to be a copy; `max_age_s`: the age from which one is stale.
    A copy is closed between two snapshots: who keeps it up to date may wait until no reader has it open.
    """

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        *,
        immutable: bool,
        identity: tuple[int, int] | None,
    ) -> None:
        self.path = path
        self.immutable = immutable
        self.identity = identity
        self.made_fresh = False
        self.is_copy = False
        self.max_age_s = DEFAULT_MAX_AGE_S
        self._stamp = stamp_of(path)
        self._open: sqlite3.Connection | None = connection
        self._rests = not has_lock(self.folder)  # nobody writes it where it lies, so somebody may replace it
        self._is_asked = False
        self.deadline_s = DEADLINE_S
        self._give_up_at = float("inf")
        self._is_cancelled = False
        connection.set_progress_handler(self._must_stop, DEADLINE_STEPS)

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection; made again where it was closed after the last snapshot."""
        if self._open is None:
            self._open = connect(self.path, immutable=self.immutable)
            self._open.set_progress_handler(self._must_stop, DEADLINE_STEPS)
        return self._open

    @property
    def is_overdue(self) -> bool:
        """Tell whether the statements of this snapshot have had their time of the processor."""
        return time.thread_time() > self._give_up_at

    def cancel(self) -> None:
        """End the statement that runs now; the snapshot's block ends with a CancelledError.

        May be called from any thread. Without a snapshot it does nothing.
        """
        self._is_cancelled = True
        if self._open is not None:
            self._open.interrupt()

    def generation(self) -> int:
        """Read the generation alone, one row, to see whether anything has been committed."""
        try:
            return int(self._connection.execute(SELECT_GENERATION).fetchone()[0])
        except (*_Failure, TypeError, ValueError) as error:
            raise explained(error, self.path) from error
        finally:
            self._rest()

    @property
    def folder(self) -> str:
        """The folder that holds the index, its lock and the daemon's state."""
        return os.path.dirname(os.path.abspath(self.path))

    def snapshot(self, deadline_s: float | None = None) -> Reading:
        """Read one state of the index in a `with` block; its statements together may take `deadline_s`.

        SQLite's own errors leave the block as a WikiqError that names the file. Without a deadline of
        its own a snapshot has DEADLINE_S.
        """
        return Reading(self, DEADLINE_S if deadline_s is None else deadline_s)

    def allow(self, deadline_s: float) -> None:
        """Give the statements of a snapshot this much time of the processor from now on."""
        self.deadline_s = deadline_s
        self._give_up_at = time.thread_time() + deadline_s

    def begin(self, deadline_s: float) -> Snapshot:
        """Start a read transaction; `Reading` ends it."""
        daemon = view_daemon(self.folder)
        moment = datetime.now(UTC)
        self.allow(deadline_s)
        self._is_cancelled = False
        self._is_asked = True
        self._connection.execute("BEGIN")
        return Snapshot(
            connection=self._connection,
            meta=read_meta(self._connection),
            database=self,
            daemon=daemon,
            moment=moment,
        )

    def end(self) -> None:
        """End the read transaction."""
        self._give_up_at = float("inf")
        self._is_asked = False
        if self._open is not None:
            self._open.rollback()
        self._rest()

    def find_damage(self) -> str | None:
        """Look for pages of the file, or rows, that no writer leaves behind; reads all of the index."""
        try:
            found = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                return str(found).splitlines()[-1]
            wrong = self._connection.execute(SELECT_WRONG_ROWS).fetchone()
            return f"a wrong value in {wrong[0]}" if wrong else None
        except _Failure as error:
            return str(error)

    def explained(self, error: Exception) -> WikiqError:
        """Turn SQLite's error into one that says what to do, the contract of the file considered."""
        if str(error).startswith(_MISSING):
            contract = str(read_meta(self._connection).get("contract", ""))
            minor = contract.partition(".")[2]
            if minor.isdecimal() and int(minor) < CONTRACT_MINOR:
                problem = f"has contract {contract:.20}, which lacks what is asked for"
                return ForeignIndexError(self.path, problem, RENEW)
        return explained(error, self.path)

    def _must_stop(self) -> bool:
        """Tell SQLite whether to end its statement; asked every DEADLINE_STEPS."""
        return self._is_cancelled or self.is_overdue

    def is_replaced(self) -> bool:
        """Tell whether what is open would never change again: another file has taken the index's place.

        Or, where it was opened as immutable, the same file has been written since.
        """
        if identity_of(self.path) != self.identity:
            return True
        return self.immutable and (os.path.exists(f"{self.path}-wal") or stamp_of(self.path) != self._stamp)

    def another(self) -> Database:
        """Open the same index once more, for another thread; raises what `open_database` does."""
        return open_database(self.path)

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()

    def _rest(self) -> None:
        """Close a copy until it is asked again."""
        if self._rests and not self._is_asked:
            self.close()
            self._open = None


class Reading:
    """The `with` block of one snapshot. Written out, since contextlib costs a search half a millisecond."""

    def __init__(self, database: Database, deadline_s: float) -> None:
        self._database = database
        self._deadline_s = deadline_s

    def __enter__(self) -> Snapshot:
        try:
            return self._database.begin(self._deadline_s)
        except _Failure as error:
            self._database.end()
            raise explained(error, self._database.path) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        was_overdue = self._database.is_overdue
        self._database.end()
        if isinstance(error, WikiqError) or not isinstance(error, Exception):
            return
        # Ctrl-C ends a statement like `cancel`: it raises while SQLite has the clock looked at, and Python's
        # sqlite3 drops what is raised there.
        if _primary_code(error) == sqlite3.SQLITE_INTERRUPT and not was_overdue:
            raise CancelledError(self._database.path, "the question was cancelled", "ask again") from error
        # A ProgrammingError is a statement of ours that is wrong: a bug, which keeps its traceback.
        if isinstance(error, _Failure) and not isinstance(error, sqlite3.ProgrammingError):
            raise self._database.explained(error) from error
        # What looks like a bug may be a file that lies; the file is suspected first.
        if (damage := self._database.find_damage()) is not None:
            raise damaged(self._database.path, damage) from error


def open_database(path: str, *, patience_s: float = OPEN_PATIENCE_S) -> Database:
    """Open the index at `path` to read.

    Raises NoIndexError, ForeignIndexError, DamagedIndexError or UnreadableIndexError. `patience_s`
    is how long a writer that is just starting or stopping is waited for.
    """
    check_file(path)
    give_up_at = time.monotonic() + patience_s
    while True:
        try:
            return _opened(path, immutable=False)
        except _Failure as error:
            code = _primary_code(error)
            if code in _CLOSED and _is_closed(path):
                break
            if code not in _PASSING or time.monotonic() > give_up_at:
                raise explained(error, path) from error
        time.sleep(OPEN_PAUSE_S)
    try:
        return _opened(path, immutable=True)
    except _Failure as error:
        raise explained(error, path) from error


def parse_names(text: str) -> tuple[str, ...]:
    """Read a JSON array of strings, as heading paths are kept; sqlite3.DatabaseError if it is none."""
    try:
        names = json.loads(text)
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError(f"not JSON: {text!r:.40}") from error
    if not isinstance(names, list):
        raise sqlite3.DatabaseError(f"not an array: {text!r:.40}")
    return tuple(str(name) for name in names)


def _opened(path: str, *, immutable: bool) -> Database:
    identity = identity_of(path)  # taken first: a file that comes in between is taken for replaced
    return Database(path, connect(path, immutable=immutable), immutable=immutable, identity=identity)


def _is_closed(path: str) -> bool:
    """Tell whether nobody writes the index and all of it is in the one file.

    Only then may it be read as immutable: while a WAL holds rows, that would serve old ones.
    """
    return not os.path.exists(f"{path}-wal") and writer_is_running(os.path.dirname(path) or ".") is False
