"""One scan of the tree: from folder to folder by descriptor, gathering stamps and what is wrong.

The loop over a folder's entries is the start-up cost of a large wiki, so it compares strings and
asks for ignore rules only where there are any. Reads no page and decides nothing about the index.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from indexerd.contract.places import is_below
from indexerd.core.model import Diagnostic, Stamp
from indexerd.core.page.names import (
    IGNORE_FILES,
    PASSED_OVER,
    escape_name,
    is_passed_over,
    is_text,
    page_suffixes,
)
from indexerd.core.sync.reconcile import (
    LINK_NOT_FOLLOWED,
    LINKED_WORKTREE,
    NOT_REGULAR,
    READ_FAILED,
    TOO_DEEP_FOLDER,
    UNDECODABLE_NAME,
)
from indexerd.tree.ignore import Decision, IgnoreRules, parse_ignore_file
from indexerd.tree.openat import (
    FILE_FLAGS,
    FOLDER_FLAGS,
    is_absence,
    open_below,
    read_up_to,
    resolve_below,
    stamp_of,
    unreadable,
)

DEEPEST_FOLDER: Final = 128  # levels; each holds a descriptor while what is below it is walked
IGNORE_FILE_BYTES: Final = 1 << 20


class Stopped(Exception):  # noqa: N818 - no error: the caller asked for it
    """The caller's `stop` said so; nothing was decided."""


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Which files are scanned. `ignore`: gitignore patterns; `own_files`: the index, if inside."""

    extensions: tuple[str, ...] = ("md", "markdown")
    ignore: tuple[str, ...] = ()
    gitignore: bool = True
    follow_symlinks: bool = False
    max_page_bytes: int = 16 << 20
    own_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that a rule leaves out. `decision`: the pattern, where it was one."""

    path: str
    rule: str
    decision: Decision | None = None


HIDDEN: Final = "hidden"
PASSED_OVER_FOLDER: Final = "node_modules"
IGNORED: Final = "ignored"
NOT_A_PAGE_NAME: Final = "extension"
OWN_FILE: Final = "own_file"
UNFOLLOWED_LINK: Final = "link"
WORKTREE: Final = "worktree"

GIT: Final = ".git"
_POINTER: Final = re.compile(r"gitdir: *(.+?)/\.git/worktrees/[^/\n]+/?\s*\Z")
_POINTER_BYTES: Final = 8192  # two paths as long as they may be


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder being scanned: its path ('' the root), the rules in it, and whether a link led here."""

    path: str
    rules: IgnoreRules
    depth: int = 0
    linked: bool = False

    def path_of(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name


@dataclass(slots=True)
class Walk:
    """What one scan has found so far. `root` is a descriptor; `real_root` is set where links count."""

    root: int
    root_path: str
    settings: TreeSettings
    configured: IgnoreRules
    real_root: str | None = None
    own_files: frozenset[tuple[int, int]] = frozenset()
    stop: Callable[[], bool] | None = None
    left_out: Callable[[LeftOut], None] | None = None
    folds_names: bool = sys.platform == "darwin"  # APFS takes page.md for Page.md, and NFD for NFC
    stamps: dict[str, Stamp] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    diagnostics: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    suffixes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.suffixes = page_suffixes(self.settings.extensions)

    def look_at(self, cover: str) -> None:
        """Look at one file, or at a folder and all below it; '' is the root."""
        top = _Place("", self.configured)
        if not cover:
            self._walk(self.root, top)
            return
        *folders, name = cover.split("/")
        at, place = os.dup(self.root), self._with_ignore_files(self.root, top)
        try:
            for part in folders:
                if place is None or not self._is_spelled(at, part):
                    return
                entered = self._enter(at, place, part)
                if entered is None:
                    return
                os.close(at)
                at, place = entered[0], self._with_ignore_files(*entered)
            if place is not None and self._is_spelled(at, name):
                self._look_at_entry(at, place, name)
        except OSError as error:
            if not is_absence(error):
                self._leave_out(cover, unreadable(error))
        finally:
            os.close(at)

    def _is_spelled(self, descriptor: int, name: str) -> bool:
        """Whether the folder has an entry of just this name, where it would open others for it as well."""
        return not self.folds_names or name in os.listdir(descriptor)

    def _look_at_entry(self, descriptor: int, place: _Place, name: str) -> None:
        facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISDIR(facts.st_mode):
            self._walk_below(descriptor, place, name)
        elif is_passed_over(name):
            self._tell_passed_over(place.path_of(name), name)
        elif stat.S_ISLNK(facts.st_mode) and self._leads_to_folder(place.path_of(name)):
            self._walk_below(descriptor, place, name)
        elif name.lower().endswith(self.suffixes):
            self._take(place, name, facts)
        else:
            is_link = stat.S_ISLNK(facts.st_mode)
            self._tell(LeftOut(place.path_of(name), UNFOLLOWED_LINK if is_link else NOT_A_PAGE_NAME))

    def _tell(self, left_out: LeftOut) -> None:
        if self.left_out is not None:
            self.left_out(left_out)

    def _tell_passed_over(self, path: str, name: str) -> None:
        self._tell(LeftOut(path, HIDDEN if name.startswith(".") else PASSED_OVER_FOLDER))

    def _is_ignored(self, place: _Place, path: str, *, folder: bool) -> bool:
        if not place.rules or not place.rules.exclude(path, folder=folder):
            return False
        if self.left_out is not None:  # which pattern it was is asked once more, since scans need not know
            self._tell(LeftOut(path, IGNORED, place.rules.decide(path, folder=folder)))
        return True

    def _walk(self, descriptor: int, place: _Place) -> None:
        """Everything in the folder and below. The descriptor stays the caller's."""
        if self.stop is not None and self.stop():
            raise Stopped
        pages, folders, governed = [], [], False
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == "." or name == PASSED_OVER:
                        governed = governed or name in IGNORE_FILES or name == GIT
                    elif entry.is_dir(follow_symlinks=False) or (
                        entry.is_symlink() and self._leads_to_folder(place.path_of(name))
                    ):
                        folders.append(name)
                    elif name.lower().endswith(self.suffixes):
                        pages.append(entry)
        except OSError as error:
            self._miss(place.path, error)
            return
        within = self._with_ignore_files(descriptor, place) if governed else place
        if within is None:
            return
        self._take_all(pages, within)
        for name in folders:
            self._walk_below(descriptor, within, name)

    def _take_all(self, pages: Iterable[os.DirEntry[str]], place: _Place) -> None:
        prefix = place.path_of("")
        is_plain = not place.rules and not self.own_files
        for entry in pages:
            name = entry.name
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError as error:
                if not is_absence(error):
                    self._miss(prefix + name, error)
                continue
            if is_plain and stat.S_ISREG(facts.st_mode) and (name.isascii() or is_text(name)):
                self.stamps[prefix + name] = stamp_of(facts)  # nearly all there are
            else:
                self._take(place, name, facts)

    def _take(self, place: _Place, name: str, facts: os.stat_result) -> None:
        """A file with the name of a page: its stamp, or why it is none."""
        path = place.path_of(name)
        if self._is_ignored(place, path, folder=False):
            return
        if not is_text(name):
            self._note(escape_name(path), UNDECODABLE_NAME, "the name is not valid UTF-8; rename the file")
            return
        if stat.S_ISLNK(facts.st_mode):
            self._take_link(path)
        elif not stat.S_ISREG(facts.st_mode):
            self._note(path, NOT_REGULAR, "is not a regular file; remove it or rename it")
        elif not self.own_files or (facts.st_dev, facts.st_ino) not in self.own_files:
            self.stamps[path] = stamp_of(facts)
        else:
            self._tell(LeftOut(path, OWN_FILE))

    def _take_link(self, path: str) -> None:
        if self.real_root is None:
            remedy = "set follow_symlinks = true in [wiki] to index what it leads to"
            self._note(path, LINK_NOT_FOLLOWED, f"is a symbolic link; {remedy}")
            return
        target = resolve_below(self.real_root, path)
        if target is None:
            self._note(
                path, LINK_NOT_FOLLOWED, "is a link that leads nowhere or out of the root; mend or remove it"
            )
            return
        try:
            descriptor = open_below(self.root, target, FILE_FLAGS)
        except OSError as error:
            if not is_absence(error):
                self._miss(path, error)
            return
        try:
            facts = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if stat.S_ISREG(facts.st_mode):
            self.stamps[path] = stamp_of(facts)

    def _walk_below(self, descriptor: int, place: _Place, name: str) -> None:
        try:
            entered = self._enter(descriptor, place, name)
        except OSError as error:
            if not is_absence(error):
                self._miss(place.path_of(name), error)
            return
        if entered is None:
            return
        try:
            self._walk(*entered)
        finally:
            os.close(entered[0])

    def _enter(self, descriptor: int, place: _Place, name: str) -> tuple[int, _Place] | None:
        """Open a folder in `place`; None when it is left out. Raises OSError."""
        path = place.path_of(name)
        if is_passed_over(name):
            self._tell_passed_over(path, name)
            return None
        if self._is_ignored(place, path, folder=True):
            return None
        if not is_text(name):
            self._note(escape_name(path), UNDECODABLE_NAME, "the name is not valid UTF-8; rename the folder")
            return None
        if place.depth >= DEEPEST_FOLDER:
            self._note(path, TOO_DEEP_FOLDER, f"lies more than {DEEPEST_FOLDER} folders deep; move it up")
            self.unseen.append(path)
            return None
        try:
            below = os.open(name, FOLDER_FLAGS, dir_fd=descriptor)
        except OSError as error:
            if self.left_out is not None and self.real_root is None and _is_link(descriptor, name):
                self._tell(LeftOut(path, UNFOLLOWED_LINK))
            if self.real_root is None or not is_absence(error):
                raise
            return self._enter_link(place, path)
        return below, _Place(path, place.rules, place.depth + 1, place.linked)

    def _leads_to_folder(self, path: str) -> bool:
        target = None if self.real_root is None else resolve_below(self.real_root, path)
        if target is None or self.real_root is None:
            return False
        return os.path.isdir(os.path.join(self.real_root, target))

    def _enter_link(self, place: _Place, path: str) -> tuple[int, _Place] | None:
        """Follow a link to a folder, once: links that lead to one another would multiply the tree."""
        target = None if place.linked or self.real_root is None else resolve_below(self.real_root, path)
        if target is None or is_below(path, target):  # nowhere, out of the root, or round a loop
            return None
        below = open_below(self.root, target, FOLDER_FLAGS)
        return below, _Place(path, place.rules, place.depth + 1, linked=True)

    def _with_ignore_files(self, descriptor: int, place: _Place) -> _Place | None:
        """The place under the rules of its own ignore files; None, and unseen, if one cannot be read.

        Without its rules a folder might show what it was told to hide. None as well for a worktree of a
        repository that is in the tree already: it has every page twice.
        """
        rules = place.rules
        if place.path and (twin := self._main_worktree(descriptor, place.path)) is not None:
            self._tell(LeftOut(place.path, WORKTREE))
            remedy = "to search it, index it as a wiki of its own"
            self._note(
                place.path, LINKED_WORKTREE, f"is a git worktree of {twin}, so it is left out; {remedy}"
            )
            return None
        names = IGNORE_FILES if self.settings.gitignore else IGNORE_FILES[1:]
        for name in names:
            try:
                text = _read_small_file(descriptor, name, IGNORE_FILE_BYTES)
            except OSError as error:
                if not is_absence(error):
                    self._miss(place.path, error, what=name)
                    return None
                continue
            level, problems = parse_ignore_file(text, name, place.path, room=rules.room)
            if problems:
                self.diagnostics[place.path_of(name)] = problems
            if level is not None:
                rules = rules.below(level)
        return place if rules is place.rules else _Place(place.path, rules, place.depth, place.linked)

    def _main_worktree(self, descriptor: int, folder: str) -> str | None:
        """The repository of which `folder` is a linked worktree, where that lies round here; else None."""
        try:
            found = _POINTER.match(_read_small_file(descriptor, GIT, _POINTER_BYTES))
        except OSError:
            return None
        if found is None:
            return None
        main = os.path.realpath(os.path.join(self.root_path, folder, found[1]))
        is_round_here = is_below(main, self.root_path) or is_below(self.root_path, main)
        return escape_name(main) if is_round_here else None

    def _miss(self, path: str, error: OSError, *, what: str = "") -> None:
        why = unreadable(error)
        self._leave_out(path, why)
        self.diagnostics[f"{path}/{what}".strip("/")] = (why,)

    def _leave_out(self, path: str, why: Diagnostic) -> None:
        self.unseen.append(path)
        if why.kind == READ_FAILED:
            self.failing.append(path)

    def _note(self, path: str, kind: str, message: str) -> None:
        self.diagnostics[path] = (Diagnostic(kind, message),)


def _is_link(descriptor: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _read_small_file(descriptor: int, name: str, limit: int) -> str:
    opened = os.open(name, FILE_FLAGS, dir_fd=descriptor)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return ""
        return read_up_to(opened, limit).decode("utf-8", "replace")
    finally:
        os.close(opened)
