"""The watched folder: which pages there are, their stamps, and their bytes (spec 1.1, 3.3, 3.4).

Everything is opened relative to directory descriptors and no link is followed, so nothing outside
the root is opened, whoever swaps folders meanwhile. Never writes, never decides what changed.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from indexerd.contract.places import is_below
from indexerd.core.model import Diagnostic, Stamp
from indexerd.core.sync.paths import WHOLE_TREE
from indexerd.core.sync.plan import Unread, Vanished
from indexerd.core.sync.reconcile import LINK_NOT_FOLLOWED, NOT_REGULAR, UNSETTLED, Scan
from indexerd.errors import ConfigurationError, NotPermittedError, RootError
from indexerd.tree.ignore import IgnoreRules, parse_ignore_file
from indexerd.tree.openat import (
    FILE_FLAGS,
    FOLDER_FLAGS,
    is_absence,
    is_exhaustion,
    open_below,
    read_up_to,
    stamp_of,
    unreadable,
)
from indexerd.tree.scanner import LeftOut, TreeSettings, Walk

READ_ATTEMPTS: Final = 4  # in one call; a file written all the time is left to the caller's back-off
READ_PAUSE_S: Final = 0.002  # doubled after each attempt
CONFIGURED: Final = "[wiki] ignore"  # where configured patterns stand
GOVERNING_FILE_BYTES: Final = 1 << 20  # topics.yaml: more was never written by hand


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a page under the stamp they were read with."""

    data: bytes
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Oversized:
    """A page over `max_page_bytes`: nothing of it was read."""

    stamp: Stamp


Reading = Content | Oversized | Vanished | Unread


class Tree:
    """One root and the rules of what in it is a page. Holds no descriptor between calls."""

    def __init__(self, root: str, settings: TreeSettings) -> None:
        self.root = os.path.abspath(root)
        self.settings = settings
        self._configured = _configured_rules(settings.ignore)
        self._own_files = tuple(path for path in settings.own_files if _lies_in(path, self.root))

    def explain(self, path: str) -> tuple[Scan, LeftOut | None]:
        """What a scan of one path finds, and the rule that leaves it out, or a folder above it."""
        found: list[LeftOut] = []
        scan = self.scan((path,), left_out=found.append)
        above = (left_out for left_out in found if is_below(path, left_out.path))
        return scan, next(above, None)

    def scan(
        self,
        covers: Sequence[str] = WHOLE_TREE,
        *,
        stop: Callable[[], bool] | None = None,
        left_out: Callable[[LeftOut], None] | None = None,
    ) -> Scan:
        """Look at the pages of `covers` (files or folders, '' the whole tree) without reading them.

        RootError when the root is missing or no folder, NotPermittedError when it cannot be listed.
        `stop` is asked once a folder; when it says so, Stopped is raised. `left_out` is told what a rule
        leaves out on the way to a cover.
        """
        started_ns = time.time_ns()
        with self._opened_root() as root:
            walk = Walk(
                root=root,
                root_path=os.path.realpath(self.root),
                settings=self.settings,
                configured=self._configured,
                real_root=self._real_root(),
                own_files=frozenset(_identities(self._own_files)),
                stop=stop,
                left_out=left_out,
            )
            for cover in covers:
                walk.look_at(cover)
            root_id = _id_of(root)
        if "" in walk.unseen:
            raise NotPermittedError(
                self.root, "cannot be listed", "let the user who runs this read the folder"
            )
        return Scan(
            covers=tuple(covers),
            root=root_id,
            started_ns=started_ns,
            stamps=walk.stamps,
            unseen=tuple(walk.unseen),
            failing=tuple(walk.failing),
            diagnostics=walk.diagnostics,
        )

    def read(self, path: str) -> Reading:
        """Read the page at `path`, unchanged from the first byte to the last."""
        return self._read(path, self.settings.max_page_bytes)

    def read_governing(self, path: str) -> Reading:
        """Read a file at the root that governs the tree (`topics.yaml`); a link not followed is Unread."""
        reading = self._read(path, GOVERNING_FILE_BYTES)
        if isinstance(reading, Vanished) and os.path.islink(os.path.join(self.root, path)):
            message = "is a link that is not followed, or leads out of the root; put the file itself there"
            return Unread(path, Diagnostic(LINK_NOT_FOLLOWED, message))
        return reading

    def _read(self, path: str, limit: int) -> Reading:
        pause = READ_PAUSE_S
        for attempt in range(READ_ATTEMPTS):
            if attempt:
                time.sleep(pause)
                pause *= 2
            try:
                with self._opened_root() as root:
                    opened = open_below(root, path, FILE_FLAGS, real_root=self._real_root())
                    found = _read_once(path, opened, limit)
            except OSError as error:
                return Vanished(path) if is_absence(error) else Unread(path, unreadable(error))
            if found is not None:
                return found
        message = "kept changing while it was read; it is read again with the next scan"
        return Unread(path, Diagnostic(UNSETTLED, message))

    def _real_root(self) -> str | None:
        return os.path.realpath(self.root) if self.settings.follow_symlinks else None

    @contextmanager
    def _opened_root(self) -> Iterator[int]:
        try:
            root = os.open(self.root, FOLDER_FLAGS & ~os.O_NOFOLLOW)
        except PermissionError as error:
            remedy = "let the user who runs this read the folder"
            raise NotPermittedError(self.root, "cannot be opened", remedy) from error
        except OSError as error:
            if is_exhaustion(error):
                raise
            problem = "is not a folder" if isinstance(error, NotADirectoryError) else "cannot be opened"
            if isinstance(error, FileNotFoundError):
                problem = "does not exist"
            raise RootError(self.root, problem, "name the folder that holds the pages") from error
        try:
            yield root
        finally:
            os.close(root)


def _configured_rules(patterns: tuple[str, ...]) -> IgnoreRules:
    if not patterns:
        return IgnoreRules()
    level, problems = parse_ignore_file("\n".join(patterns), CONFIGURED)
    if problems:
        raise ConfigurationError("[wiki] ignore", problems[0].message, "see gitignore(5) for the syntax")
    return IgnoreRules(configured=() if level is None else (level,))


def _lies_in(path: str, root: str) -> bool:
    real, above = os.path.realpath(path), os.path.realpath(root).rstrip("/")
    return real.startswith(f"{above}/")


def _identities(paths: Iterable[str]) -> Iterator[tuple[int, int]]:
    for path in paths:
        with suppress(OSError):
            facts = os.stat(path)
            yield facts.st_dev, facts.st_ino


def _read_once(path: str, descriptor: int, limit: int) -> Reading | None:
    """Read and close; None when the file changed meanwhile."""
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Unread(path, Diagnostic(NOT_REGULAR, "is not a regular file; remove it or rename it"))
        if before.st_size > limit:
            return Oversized(stamp_of(before))
        data = read_up_to(descriptor, before.st_size + 1)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(data) != before.st_size or stamp_of(before) != stamp_of(after):
        return None
    return Content(data, stamp_of(before))


def _id_of(root: int) -> str:
    """Device, inode and file system: other ones where a disk is not mounted, or another one is."""
    facts = os.fstat(root)
    return f"{facts.st_dev}:{facts.st_ino}:{os.fstatvfs(root).f_fsid}"
