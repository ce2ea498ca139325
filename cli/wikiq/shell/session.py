"""One command, one snapshot: opens the index a command asks, makes it fresh where asked, ends the snapshot.

A command answers inside the `with` block and prints after it: whoever reads slowly must not keep a
transaction open, which keeps the writer from shrinking its WAL.
"""

from __future__ import annotations

import os

from indexerd.contract.places import is_below
from wikiq.errors import NOT_FRESH, NOTHING_FOUND, CancelledError, UnknownPageError, WikiqError
from wikiq.index.freshness import HANGING, STOPPED, age_of, freshness_of, freshness_words, is_usual, staleness
from wikiq.index.locate import DB_VARIABLE, open_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from wikiq.index.barrier_client import Barrier
    from wikiq.index.database import Database, Reading, Snapshot
    from wikiq.model.request import Source
    from wikiq.model.results import Freshness, IndexAge
    from wikiq.output.context import Surroundings


class Session:
    """An open index and the one snapshot that the command answers from.

    `snapshot` is taken when it is first asked for; its statements together may take `deadline_s`. After
    the block `root`, `freshness` and `age` tell of that state. `is_fresh`: freshness was not asked for,
    or could be had.
    """

    def __init__(
        self, database: Database, *, folder: str, is_named: bool, deadline_s: float | None = None
    ) -> None:
        self.database = database
        self.is_fresh = True
        self._folder = folder
        self._is_named = is_named
        self._deadline_s = deadline_s
        self._reading: Reading | None = None
        self._snapshot: Snapshot | None = None
        self._not_fresh: tuple[Barrier, Surroundings] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._reading is not None:
                self._reading.__exit__(kind, error, trace)
        except CancelledError as cancelled:
            raise KeyboardInterrupt from cancelled  # nobody but Ctrl-C cancels the question of a command
        finally:
            self.database.close()
        if self._not_fresh is not None:
            barrier, surroundings = self._not_fresh
            freshness = self.freshness if self._snapshot is not None else None
            surroundings.note(not_fresh_note("the answer", barrier, freshness))
        # Who reads a copy, or rows that somebody grants, cannot have a page taken in.
        is_own = self._snapshot is not None and not self.database.is_copy
        if isinstance(error, UnknownPageError) and is_own:
            from wikiq.shell.left_out import explain_absence

            explain_absence(error, self.root, self._folder)
        if isinstance(error, WikiqError) and error.exit_status == NOTHING_FOUND and not self.is_fresh:
            error.exit_status = NOT_FRESH  # what is not found may be there

    @property
    def snapshot(self) -> Snapshot:
        """The state that the command answers from."""
        if self._snapshot is None:
            self._reading = self.database.snapshot(self._deadline_s)
            self._snapshot = self._reading.__enter__()
            freshness_of(self._snapshot)  # it is told after the block
        return self._snapshot

    @property
    def root(self) -> str:
        """The folder that the paths of the answer start from."""
        return self.snapshot.root

    @property
    def freshness(self) -> Freshness:
        """How far the answer may be behind the tree, and why."""
        return freshness_of(self.snapshot)

    @property
    def age(self) -> IndexAge:
        """What every answer says of its index."""
        return age_of(self.snapshot)

    def make_fresh(self, timeout_s: float, surroundings: Surroundings) -> Barrier:
        """Wait for `timeout_s` at most until the index holds what is on the disk now.

        Before the snapshot is taken. Names the wiki where nobody did and the current folder is not in it:
        that folder is not what is fresh. The database is another one afterwards where the file was replaced.
        """
        from wikiq.index.barrier_client import make_fresh

        if not self._is_named:
            with self.database.snapshot() as snapshot:
                name, root = snapshot.wiki, snapshot.root
            if not is_below(os.path.realpath(surroundings.folder), root):
                surroundings.note(f"this is about the wiki {name} in {root}")
        self.database, barrier = make_fresh(self.database, timeout_s)
        self.is_fresh = barrier.fresh
        return barrier

    def ask_fresh(self, timeout_s: float, surroundings: Surroundings) -> None:
        """Wait as `make_fresh` does; where it is in vain, a note says so after the block."""
        barrier = self.make_fresh(timeout_s, surroundings)
        if not barrier.fresh:
            self._not_fresh = barrier, surroundings

    def tell_staleness(self, surroundings: Surroundings, *, has_footer: bool = False) -> None:
        """Note in one line when the answer may be behind the tree; after the block.

        On a terminal a few words do, which a footer has already: how to start a daemon is told once a day.
        """
        warning = staleness(self.freshness, self.root)
        if warning is None or not self.is_fresh:  # the latter was told
            return
        if surroundings.err.is_terminal and is_usual(self.freshness):
            from wikiq.shell.remembered import is_advice_due

            is_advice = self.freshness.mode == STOPPED
            if not (is_advice and is_advice_due(surroundings.environ, self.root)):
                if not has_footer:
                    surroundings.note(freshness_words(self.freshness))
                return
        surroundings.note(warning)

    def exit_status(self, status: int) -> int:
        """Answered, but freshness was asked for and could not be had: 3."""
        return status if self.is_fresh else NOT_FRESH


def opened(source: Source, surroundings: Surroundings, *, deadline_s: float | None = None) -> Session:
    """Open the index that `source` means. Raises what `open_index` does."""
    environ = surroundings.environ
    database = open_index(db=source.db, wiki=source.wiki, environ=environ, folder=surroundings.folder)
    database.is_copy, database.max_age_s = source.copy, source.max_age
    is_named = bool(source.db or source.wiki or environ.get(DB_VARIABLE))
    session = Session(database, folder=surroundings.folder, is_named=is_named, deadline_s=deadline_s)
    if source.fresh:
        session.ask_fresh(source.timeout, surroundings)
    return session


def not_fresh_note(what: str, barrier: Barrier, freshness: Freshness | None) -> str:
    """Say in one line why freshness could not be had, and what to do."""
    is_idle = freshness is not None and freshness.mode in (STOPPED, HANGING)
    remedy = f"; {freshness.remedy}" if freshness is not None and is_idle else ""
    return f"{what} may be behind the disk: {barrier.problem}{remedy}"
