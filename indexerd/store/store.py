"""The one writer of an index: opens it, applies plans each in one transaction, keeps it in shape.

Holds the writer's lock from before the database is opened until after it is closed. Decides nothing
about pages: a plan says what to write. Never copies or opens the database file by other means.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import apsw

from indexerd.contract.file import CHANGES_KEPT, PAGE_SIZE
from indexerd.contract.places import INDEX_NAME, LOCK_NAME
from indexerd.core.model import Diagnostic
from indexerd.core.sync.model import Applied, IndexedPage, Plan, ScanRecord
from indexerd.errors import DamagedIndexError
from indexerd.store.file.connection import (
    BUSY_TIMEOUT_MS,
    Identity,
    create_schema,
    drop_schema,
    savepoint,
    transaction,
    write_meta,
)
from indexerd.store.file.failures import explaining
from indexerd.store.file.files import access_for, inspect_file, prepare_folder
from indexerd.store.file.lock import WriterLock
from indexerd.store.file.select import select_row
from indexerd.store.open import FOUND_DAMAGED, Opened, describe, open_database, quick_check
from indexerd.store.read import fetch
from indexerd.store.write.change_feed import count_changes, trim_changes, write_scan
from indexerd.store.write.fulltext import MERGE_PAGES, check_full_text, merge_full_text
from indexerd.store.write.transaction import write_plan

UNCLEAN_JUMP: Final = 1 << 20  # past any generation that a power failure may have taken back (spec 3.5)
TRUNCATE_PATIENCE_MS: Final = 100  # waiting for readers; without a commit in the meantime
BUILD_WAL_PAGES: Final = 64 * 1024 * 1024 // PAGE_SIZE  # past this a first build moves the WAL to the file


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The result of a checkpoint, in pages of the WAL. `complete`: no reader held it up."""

    pages: int
    moved: int

    @property
    def complete(self) -> bool:
        """Whether all of the WAL is in the file."""
        return self.moved == self.pages


class Store:
    """An index opened for writing. Not for several threads at once."""

    def __init__(self, path: Path, lock: WriterLock, opened: Opened, identity: Identity) -> None:
        self.path = path
        self.moved_aside = opened.moved_aside
        self.was_unclean = opened.was_unclean
        self.needs_rebuild = opened.needs_rebuild
        self._lock = lock
        self._connection = opened.connection
        self._identity = identity
        self._closed = False
        self._rebuilding = False
        self._damaged = False  # found out on the way; the next opening shall know
        self._marked_open = False  # whether this session's first commit has said that it is not closed
        self._jump = opened.was_unclean
        self._waits_for_disk = True  # each commit
        self._change_rows: int | None = None  # in the feed; None: to be counted
        self._place = os.stat(path)
        self.wal_pages = 0  # in the WAL and not in the file yet; the WAL's own file does not shrink
        opened.connection.set_wal_hook(self._note_wal)

    @classmethod
    def open(
        cls, path: str | Path, *, root: str, name: str, share_group: str | None = None, anew: bool = False
    ) -> Self:
        """Open the index at `path` for writing, or make one.

        A damaged index is moved aside (`moved_aside` says where to) and one is made from nothing; so
        is any index with `anew`. One of another schema version is kept for its readers until
        `rebuilding` (`needs_rebuild`). Raises AnotherWriterError, ForeignFileError, NotPermittedError,
        StorageError or ConfigurationError (no such group).
        """
        path = Path(os.path.abspath(path))
        access = access_for(share_group)
        lock_path = path.with_name(LOCK_NAME)
        with explaining(path):
            prepare_folder(path.parent, access)
            # A lock that is there may be held by a store of this process, whose locks on the database a
            # check of the header would drop; beside a foreign file none is to be left.
            locked_before = lock_path.exists()
            found = None if locked_before else inspect_file(path, may_be_damaged=False)
            lock = WriterLock.acquire(lock_path, mode=access.file_mode, group=access.group)
            try:
                # A lock in the folder says nothing of a file of any other name: that may be a page.
                found = found or inspect_file(path, may_be_damaged=anew or path.name == INDEX_NAME)
                identity = describe(root, name)
                opened = open_database(path, found, access, identity, anew=anew)
                return cls(path, lock, opened, identity)
            except BaseException:
                lock.release()
                raise

    @property
    def generation(self) -> int:
        """The generation that readers see."""
        return int(self._meta("generation") or 0)

    @property
    def index_id(self) -> str:
        """The identity within which generations and ids mean something."""
        return str(self._meta("index_id"))

    @property
    def building(self) -> bool:
        """Whether no complete scan is in yet."""
        return bool(self._meta("building"))

    def fetch_indexed(
        self, paths: Iterable[str] | None = None, *, prefix: str = ""
    ) -> dict[str, IndexedPage]:
        """The indexed pages at these paths, or all at or below `prefix`; nothing before a rebuild."""
        if not self._is_readable:
            return {}
        with self._explaining():
            return fetch.fetch_indexed(self._connection, paths, prefix)

    def count_pages(self, *, at_most: int) -> int:
        """How many pages there are, counted no further than `at_most`; none before a rebuild."""
        if not self._is_readable:
            return 0
        with self._explaining():
            return fetch.count_pages(self._connection, at_most)

    def fetch_shown_paths(self) -> set[str]:
        """The paths of all pages that readers see now, before a rebuild as well."""
        with self._explaining():
            return fetch.fetch_shown_paths(self._connection)

    def fetch_neighbours(self, base_slugs: Collection[str]) -> set[str]:
        """The paths of the pages whose base slug is one of these; nothing before a rebuild."""
        if not self._is_readable:
            return set()
        with self._explaining():
            return fetch.fetch_neighbours(self._connection, base_slugs)

    def fetch_diagnostics(self, prefixes: Collection[str] = ("",)) -> dict[str, tuple[Diagnostic, ...]]:
        """The diagnostics of paths at or below these at least (PathDiagnostics)."""
        if not self._is_readable:
            return {}
        with self._explaining():
            return fetch.fetch_diagnostics(self._connection, prefixes)

    def apply(self, plan: Plan, *, committed_at: str) -> Applied:
        """Write a plan in one transaction; all of it, or nothing and an IndexerdError.

        The generation moves when a row of a view changed. A changed page has a change entry; one that
        was only touched, and diagnostics, have none. Nothing is committed where nothing differs.
        """
        if self._rebuilding:
            with self._explaining(), savepoint(self._connection):
                return self._write(plan, committed_at)
        if self.needs_rebuild:
            raise RuntimeError("an index of another schema version is rebuilt before anything is applied")
        try:
            with self._committing():
                before = self.generation
                applied = self._write(plan, committed_at)
        except BaseException:
            self._change_rows = None
            raise
        self._jump &= applied.generation == before
        if self.wal_pages > BUILD_WAL_PAGES and self.building:
            self.checkpoint()
        return applied

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """Make the index from nothing in the same file; all plans applied inside are one transaction.

        Readers see the old rows until the end of the block, then the new ones, under a new index id;
        when the block raises, the old ones stay. Tables of other programs are kept.
        """
        with self._explaining():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            with self._explaining():
                drop_schema(self._connection)
                create_schema(self._connection, self._identity)
            self._rebuilding = True
            yield
            with self._explaining():
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._rebuilding = False
            self._change_rows = None
        self.needs_rebuild = self._jump = False

    def record_scan(self, scan: ScanRecord, *, always: bool = False) -> None:
        """Keep a scan that found a change, or the first one; others cost no commit (state.json has them).

        `always`: in any case. None is kept before a rebuild.
        """
        if self._is_readable:
            with self._explaining():
                first = select_row(self._connection, "SELECT 1 FROM scan LIMIT 1") is None
                if always or scan.pages_changed or scan.missed_by_events or first:
                    with self._committing():
                        write_scan(self._connection, scan)

    @property
    def root_id(self) -> str | None:
        """The folder that the rows are of, whatever its path; None before the first complete scan."""
        return None if (kept := self._meta("root_id")) is None else str(kept)

    def keep_root(self, root_id: str) -> None:
        """Remember which folder the rows are of; nothing is committed while it is the same."""
        if self._is_readable and root_id != self.root_id:
            with self._committing():
                write_meta(self._connection, root_id=root_id)

    def merge(self, pages: int = MERGE_PAGES) -> bool:
        """Merge about `pages` pages of full text between commits; whether there was anything (spec 2.3)."""
        with self._committing():
            return merge_full_text(self._connection, pages)

    def checkpoint(self, *, truncate: bool = False) -> Checkpoint:
        """Move the WAL to the file as far as readers let it; with `truncate`, when idle, empty it too."""
        connection = self._connection
        with self._explaining():
            moved = Checkpoint(*connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE))
            self.wal_pages = moved.pages - moved.moved
            if truncate and moved.complete:
                connection.set_busy_timeout(TRUNCATE_PATIENCE_MS)
                try:
                    moved = Checkpoint(*connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
                except apsw.BusyError:
                    # A reader still uses the WAL's last state; all of it is in the file.
                    return moved
                finally:
                    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        return moved

    def release_memory(self) -> None:
        """Drop the page cache; the operating system has the pages still."""
        with self._explaining():
            self._connection.pragma("shrink_memory")

    @property
    def wal_bytes(self) -> int:
        """The size of the WAL on disk, by stat; it is not opened."""
        try:
            return os.stat(f"{self.path}-wal").st_size
        except OSError:
            return 0

    @property
    def place(self) -> tuple[int, int]:
        """Device and inode of the file that is open."""
        return self._place.st_dev, self._place.st_ino

    def is_in_place(self) -> bool:
        """Whether the file that is open is still the one at its path (FAULTS: replaced while open)."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # nobody knows; what is open goes on working
        return (found.st_dev, found.st_ino) == self.place

    def check_integrity(self) -> tuple[str, ...]:
        """What is wrong with the file or the full text, one line each; writes nothing, holds the lock."""
        with self._explaining():
            problems = quick_check(self._connection)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                problems += check_full_text(self._connection)
            finally:
                self._connection.execute("ROLLBACK")
        return tuple(problems)

    def close(self) -> None:
        """Record that the index was closed, move the WAL to the file and give the lock back; once.

        The WAL itself stays, so that readers without the right to create one can go on (spec 3.5).
        """
        if self._closed:
            return
        self._closed = True
        try:
            with self._explaining():
                if (clean := self._state_to_leave()) is not None:
                    with transaction(self._connection):
                        write_meta(self._connection, clean=clean)
                self._connection.close()
        finally:
            self._connection.close(force=True)
            self._lock.release()

    def _state_to_leave(self) -> int | None:
        """What the next opening is to find in `meta.clean`, None where it stands there already."""
        if self._damaged:
            return FOUND_DAMAGED
        # While the jump is still to come, the next session must know of it.
        return 1 if self._meta("clean") == 0 and not self._jump else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """As `explaining`; and what turns out to be damaged is remembered until the next opening."""
        try:
            with explaining(self.path):
                yield
        except DamagedIndexError:
            self._damaged = True
            raise

    @contextmanager
    def _committing(self) -> Iterator[None]:
        """A transaction; the first one of a session that writes says durably that the index is open.

        So whatever a power failure takes back, the next session knows, and jumps (spec 3.5). The
        connection starts with synchronous=FULL for it, and stays so until the jump is made: one that
        was taken back would lead to the same generations once more. Later commits need not wait for
        the disk.
        """
        connection = self._connection
        with self._explaining():
            if self._marked_open and not self._jump and self._waits_for_disk:
                connection.pragma("synchronous", "NORMAL")
                self._waits_for_disk = False
            before = connection.total_changes()
            with transaction(connection):
                yield
                first = not self._marked_open and connection.total_changes() != before
                if first:
                    write_meta(connection, clean=0)
            self._marked_open |= first

    def _note_wal(self, _connection: apsw.Connection, _schema: str, pages: int) -> int:
        self.wal_pages = pages
        return apsw.SQLITE_OK

    def _write(self, plan: Plan, committed_at: str) -> Applied:
        applied = write_plan(
            self._connection, plan, generation=self._next_generation(), committed_at=committed_at
        )
        self._trim(applied.upserted + applied.deleted, applied.generation)
        return applied

    def _next_generation(self) -> int:
        """The generation of the transaction at hand, should it change what readers see.

        A rebuild is one commit to them, however many plans it takes.
        """
        if self._rebuilding:
            return 1
        return self.generation + (UNCLEAN_JUMP if self._jump else 1)

    def _trim(self, added: int, generation: int) -> None:
        if self._change_rows is None:
            self._change_rows = count_changes(self._connection)
        else:
            self._change_rows += added
        if self._change_rows > CHANGES_KEPT:
            self._change_rows -= trim_changes(self._connection, self._change_rows, generation)

    @property
    def _is_readable(self) -> bool:
        """Whether the tables are of this program's version, be it only inside a rebuild."""
        return self._rebuilding or not self.needs_rebuild

    def _meta(self, key: str) -> int | str | None:
        """One thing the file says of itself; nothing while it is of another schema version."""
        if not self._is_readable:
            return None
        with self._explaining():
            found = select_row(self._connection, "SELECT value FROM meta WHERE key = ?", (key,))
        return None if found is None else found[0]
