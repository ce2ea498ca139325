"""One sync pass: scan, hold back surprising changes for confirmation, apply the rest.

Runs in a worker thread, one pass at a time. The result says what to scan again, and when; the loop
does that. A surprising change is never written before a second scan has confirmed it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from indexerd.contract.places import is_below
from indexerd.core.sync.confirmation import (
    CONFIRM_AFTER_S,
    SETTLE_AFTER_S,
    SETTLE_AT_MOST_S,
    Confirmation,
    is_emptied,
)
from indexerd.core.sync.intervals import COSTLY_BYTES, back_off_s, rest_s
from indexerd.core.sync.plan import Outcome, Unread, Vanished
from indexerd.core.sync.scheduler import Job
from indexerd.errors import NotPermittedError, RootError
from indexerd.pipeline.indexer import Indexer
from indexerd.pipeline.results import ScanResult, Update

ANOTHER_ROOT: Final = "another folder stands at the place of the root"
MOST_GONE: Final = "most pages are gone, which is believed after a second scan"

PATIENCE_S: Final = 1.0  # with a page, while the others wait for it
LATE_AGAIN_S: Final = 0.5  # until it is asked whether such a page is done

_ROOT = "root"
_DELETIONS = "deletions"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """What stands at the root's place is not believed, so nothing was written."""

    reason: str
    confirm_at: float | None = None


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync pass.

    `scan_s`: how long the scan took, before anything was read. `changed`: pages that came, went or have
    another stamp. `again`: paths to scan again, with the seconds until then. `confirm_at`: when a scan
    can confirm what is held back. `folders`: whether more than single files were scanned.
    `another_root`: the root was replaced, and that is believed now. `astray`: a reported path is no
    place of the tree, so the watcher is in error.
    `costly`: large pages, with the seconds for which reports of them wait now.
    """

    scanned: ScanResult
    update: Update
    scan_s: float = 0.0
    changed: tuple[str, ...] = ()
    again: tuple[tuple[str, float], ...] = ()
    confirm_at: float | None = None
    folders: bool = False
    another_root: bool = False
    astray: bool = False
    costly: tuple[tuple[str, float], ...] = ()


class SyncPass:
    """Brings the index of one root up to date, and remembers what waits for confirmation."""

    def __init__(self, root: str, indexer: Indexer, clock: Callable[[], float]) -> None:
        self._root = root
        self._indexer = indexer
        self._clock = clock
        self._identity: str | None = None
        self._surprises = Confirmation(CONFIRM_AFTER_S)
        self._settling = Confirmation(SETTLE_AFTER_S, SETTLE_AT_MOST_S)
        self._unread: dict[str, int] = {}  # path -> how often in a row it could not be read as it is
        self._late: dict[str, float] = {}  # pages that take long, with the time when they were begun

    @property
    def open(self) -> tuple[str, ...]:
        """What keeps the index from being equal to the tree, for people."""
        surprises = {_ROOT: ANOTHER_ROOT, _DELETIONS: MOST_GONE}
        return (
            *(surprises[key] for key in self._surprises.keys),
            *(f"{path} was emptied and may be written again" for path in self._settling.keys),
            *(f"{path} changes while it is read, or cannot be read" for path in self._unread),
            *(f"{path} takes long and is still being projected" for path in self._late),
        )

    @property
    def confirm_at(self) -> float | None:
        """When a scan can confirm what is held back, None where nothing is."""
        return _first(self._surprises.next_at(), self._settling.next_at())

    def use(self, indexer: Indexer) -> None:
        """Uses another Indexer from now on: the settings or the index file are new."""
        self._indexer = indexer

    def run(
        self, job: Job, stop: Callable[[], bool], progress: Callable[[int, int], None] | None = None
    ) -> SyncResult | Unavailable:
        """Brings the index to what is found. Raises StorageError, Stopped and what else Indexer raises."""
        began = self._clock()
        try:
            scanned = self._indexer.scan(job.covers, stop=stop)
        except (RootError, NotPermittedError) as error:
            if error.path != self._root:
                raise
            self._surprises.forget(_DELETIONS)
            self._surprises.forget(_ROOT)
            return Unavailable(f"{self._root} {error.problem}")
        scan_s = self._clock() - began
        before = self._identity
        surprise = self._hold_back_root(scanned)
        if surprise is not None:
            return Unavailable(surprise, self._surprises.next_at())
        keep_gone = self._hold_back_deletions(scanned)
        hold = self._hold_back_emptied(scanned)
        again: dict[str, float] = {}
        update = self._indexer.apply(
            scanned,
            hold=hold,
            keep_gone=keep_gone,
            accept=lambda outcome: self._accept(outcome, scanned, again),
            stop=stop,
            progress=progress,
            patience_s=PATIENCE_S,
        )
        applied_s = self._clock() - began - scan_s
        again |= dict.fromkeys(hold, SETTLE_AFTER_S)
        took = self._follow_late(scanned, update, again, began)
        return SyncResult(
            scanned=scanned,
            update=update,
            scan_s=scan_s,
            changed=_changed(scanned),
            again=(
                *again.items(),
                *self._unread_again(scanned, update),
                *dict.fromkeys(update.late, LATE_AGAIN_S).items(),
            ),
            confirm_at=_first(self._surprises.next_at(), self._indexer.retry_at),
            folders=self._any_folder(scanned),
            another_root=before not in (None, self._identity),
            astray=self._any_astray(scanned),
            costly=tuple(
                (page.path, rest_s(took.get(page.path, applied_s)))
                for page in scanned.work.read
                if page.size >= COSTLY_BYTES and page.path not in self._late
            ),
        )

    def _hold_back_root(self, scanned: ScanResult) -> str | None:
        """Why what stands at the root's place is not taken for the root, None when it is."""
        found = scanned.scan.root
        known = self._identity or self._indexer.kept_root
        if known in {None, found} or (self._identity is None and scanned.is_whole):
            self._identity = found
            self._surprises.forget(_ROOT)
            return None
        if not scanned.is_whole:
            return ANOTHER_ROOT
        if not self._surprises.believe(_ROOT, found, self._clock()):
            return ANOTHER_ROOT
        self._identity = found
        return None

    def _hold_back_deletions(self, scanned: ScanResult) -> bool:
        if self._indexer.is_surprising(scanned):
            return not self._surprises.believe(_DELETIONS, True, self._clock())  # noqa: FBT003 - there is but one
        if scanned.is_whole:
            self._surprises.forget(_DELETIONS)
        return False

    def _hold_back_emptied(self, scanned: ScanResult) -> tuple[str, ...]:
        hold = []
        for wanted in scanned.work.read:
            known, now = scanned.indexed.get(wanted.path), scanned.scan.stamps[wanted.path]
            if known is None or not is_emptied(known.stamp, now):
                self._settling.forget(wanted.path)
            elif not self._settling.believe(wanted.path, now, self._clock()):
                hold.append(wanted.path)
        unseen = (path for path in self._settling.keys if _is_unseen(path, scanned))
        for path in (*scanned.work.gone, *unseen):
            self._settling.forget(path)  # what can no longer be scanned keeps its rows anyway
        return tuple(hold)

    def _accept(self, outcome: Outcome, scanned: ScanResult, again: dict[str, float]) -> bool:
        """Whether to write an outcome; what changed after the scan is scanned again first."""
        path = outcome.path
        if isinstance(outcome, Vanished):
            again[path] = 0.0  # perhaps with the whole root
            return False
        if isinstance(outcome, Unread) or outcome.stamp == scanned.scan.stamps.get(path):
            return True
        if path in self._late:
            again[path] = LATE_AGAIN_S  # written again meanwhile: newer than what is known, and not the last
        known = scanned.indexed.get(path)
        if known is None or not is_emptied(known.stamp, outcome.stamp):
            return True
        if self._settling.believe(path, outcome.stamp, self._clock()):
            return True
        again[path] = SETTLE_AFTER_S
        return False

    def _unread_again(self, scanned: ScanResult, update: Update) -> list[tuple[str, float]]:
        """What could not be read, with the seconds until it is tried again."""
        failed = {*update.left, *scanned.scan.failing}
        for path in [*self._unread]:
            if path not in failed and any(is_below(path, cover) for cover in scanned.scan.covers):
                del self._unread[path]
        for path in failed:
            self._unread[path] = self._unread.get(path, 0) + 1
        return [(path, back_off_s(self._unread[path])) for path in failed]

    def _follow_late(
        self, scanned: ScanResult, update: Update, again: Collection[str], began: float
    ) -> dict[str, float]:
        """Note which pages take long; give the seconds that those took which are done.

        One that was written again meanwhile stays open: what it says now is not in the index.
        """
        now, before, covers = self._clock(), self._late, scanned.scan.covers
        took = {
            path: now - since
            for path, since in before.items()
            if path not in update.late and any(is_below(path, cover) for cover in covers)
        }
        late = dict.fromkeys((*update.late, *before.keys() & again), began)
        self._late = late | {path: since for path, since in before.items() if path not in took}
        return took

    def _any_astray(self, scanned: ScanResult) -> bool:
        """Whether a path lies in a folder that is not there and of which no page was known.

        The watcher follows links to folders. inotify has one watch an inode, which then bears the path
        through the link, also when the link is gone: what happens is reported at a place that is none.
        """
        known = (*scanned.indexed, *scanned.scan.stamps)
        return any(
            not os.path.isdir(os.path.join(self._root, os.path.dirname(cover)))
            and not any(is_below(path, cover) for path in known)
            for cover in scanned.scan.covers
        )

    def _any_folder(self, scanned: ScanResult) -> bool:
        """Whether what was scanned is, or was, more than single files."""
        covers = set(scanned.scan.covers)
        if scanned.is_whole or not covers.issuperset(_changed(scanned)):
            return True
        return any(_is_folder(os.path.join(self._root, cover)) for cover in covers)


def _first(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)


def _changed(scanned: ScanResult) -> tuple[str, ...]:
    """The pages that came, went or have another stamp; not those that are only hashed once more."""
    indexed, stamps = scanned.indexed, scanned.scan.stamps
    read = (page.path for page in scanned.work.read)
    changed = [path for path in read if path not in indexed or indexed[path].stamp != stamps[path]]
    return (*changed, *scanned.work.gone)


def _is_unseen(path: str, scanned: ScanResult) -> bool:
    return any(is_below(path, unseen) for unseen in scanned.scan.unseen)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
