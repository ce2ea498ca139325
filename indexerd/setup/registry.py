"""Finds, lists, forgets and moves indexes. The state folder is the register: each index records its wiki.

There is no list that could be wrong. An index out of use is a folder with a dot before its name,
which nobody looks into. Which index a word means is told by the contract, for readers too.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from indexerd.contract.places import (
    INDEX_NAME,
    LOCK_NAME,
    NoHomeError,
    home_folder,
    index_folder,
    state_home,
)
from indexerd.contract.which_index import (
    NONE,
    SEVERAL,
    AmbiguousNameError,
    KnownIndex,
    find_meant,
    is_folder,
    name_one,
)
from indexerd.core.page.names import is_text
from indexerd.errors import ConfigurationError, IndexerdError, RootError, UsageError
from indexerd.store import Snapshot, Store
from indexerd.store.file.lock import WriterLock
from indexerd.tree.openat import is_absence


class ListedIndex(KnownIndex):
    """An index as it is listed. `problem`: why it is of no use now, with the remedy, else None."""

    pages: int = 0
    problem: str | None = None


def resolve_root(argument: str | None, environ: Mapping[str, str], *, must_exist: bool = True) -> str:
    """The folder that a command means, absolute; the current one without an argument.

    Raises RootError when it is no folder (with `must_exist`) or its path is no text, UsageError for an
    empty name, and for `/` and the home folder by default.
    """
    if not argument and argument is not None:  # of a variable that is not set, most likely
        raise UsageError("", "the name of the folder is empty", "name the folder that holds the pages")
    everything = {"/"}
    root = os.path.abspath(os.curdir if argument is None else argument)
    if must_exist and not os.path.isdir(root):
        problem = "is not a folder" if os.path.lexists(root) else "does not exist"
        raise RootError(root, problem, "name the folder that holds the pages")
    if not is_text(os.path.realpath(root)):
        remedy = "rename the folder in it that is not"
        raise RootError(root, "has a path that is not valid UTF-8, which no index can hold", remedy)
    with suppress(NoHomeError):
        everything = {"/", os.path.realpath(home_folder(environ))}
    if argument is None and os.path.realpath(root) in everything:
        raise UsageError(root, "is everything you have", "name a folder; this one too, if you mean it")
    return root


def root_of_name(argument: str | None, environ: Mapping[str, str]) -> str | None:
    """The root that a command's argument means: itself, or that of the one index of this name.

    A service's instance may be named after the wiki as well as after its folder. Raises UsageError where
    it means several.
    """
    if argument is None or is_folder(argument):
        return argument
    found = _meant(list_indexes(environ), argument)
    if found is None or not found.root or found.root == os.path.realpath(argument):
        return argument
    if os.path.isdir(argument):
        raise UsageError(argument, SEVERAL, name_one([os.path.join(os.curdir, argument), found.root]))
    return found.root


def state_folder(environ: Mapping[str, str]) -> str:
    """The folder of all indexes. Raises ConfigurationError where the user has no home."""
    try:
        return state_home(environ)
    except NoHomeError as error:
        remedy = "set HOME or XDG_STATE_HOME, or name a file with --db"
        raise ConfigurationError("", f"there is no place for an index: {error}", remedy) from error


def index_path(root: str, environ: Mapping[str, str]) -> Path:
    """The default place of the index of the wiki at `root` (spec 3.8)."""
    return Path(state_folder(environ)) / index_folder(os.path.realpath(root)) / INDEX_NAME


def repository_prefix(root: str) -> str:
    """The root's place in the nearest folder at or above it that holds `.git`, with a slash; '' for none."""
    real = Path(os.path.realpath(root))
    for above in (real, *real.parents):
        if (above / ".git").exists():
            place = real.relative_to(above).as_posix()
            return "" if place == "." else f"{place}/"
    return ""


def list_indexes(environ: Mapping[str, str], *, forgotten: bool = False) -> tuple[ListedIndex, ...]:
    """Every index in use, by name and root, or every forgotten one; what cannot be read has a reason."""
    home = Path(state_folder(environ))
    try:
        folders = sorted(entry for entry in home.iterdir() if entry.name.startswith(".") is forgotten)
    except FileNotFoundError:
        return ()
    paths = [folder / INDEX_NAME for folder in folders]
    known = [_look_into(path) for path in paths if _may_be_index(path)]
    return tuple(sorted(known, key=lambda index: (index.wiki, index.root)))


def find_index(wanted: str, environ: Mapping[str, str], *, forgotten: bool = False) -> ListedIndex:
    """The index that a name or a root means, with `forgotten` also one that is out of use.

    Raises UsageError when that is none or several.
    """
    if not wanted:
        raise UsageError("", "the name of the index is empty", "name the index, or its root")
    known = list_indexes(environ)
    found = _meant(known, wanted)
    if found is None and forgotten:
        found = _meant(list_indexes(environ, forgotten=True), wanted)
    if found is None:
        names = ", ".join(index.wiki for index in known) or "none"
        raise UsageError(wanted, NONE, f"there are: {names}")
    return found


def _meant(known: Sequence[ListedIndex], wanted: str) -> ListedIndex | None:
    try:
        return find_meant(known, wanted, os.curdir)
    except AmbiguousNameError as error:
        raise UsageError(wanted, SEVERAL, str(error)) from error


def forget_index(index: ListedIndex, *, purge: bool) -> None:
    """Take an index out of use; with `purge` its files go, else `revive_index` brings it back."""
    folder = Path(index.path).parent
    lock = WriterLock.acquire(folder / LOCK_NAME)
    try:
        aside = _aside(folder)
        if aside != folder:
            if aside.exists():
                shutil.rmtree(aside)
            os.rename(folder, aside)  # at once, whatever happens to the removal
        if purge:
            shutil.rmtree(aside)
    finally:
        lock.release()


def revive_index(path: Path) -> None:
    """Bring the index at its default place back into use, if it was forgotten and nothing took its place."""
    aside = _aside(path.parent)
    if aside.exists() and not path.parent.exists():
        os.rename(aside, path.parent)


def move_index(index: ListedIndex, new_root: str, environ: Mapping[str, str]) -> Path:
    """Let the index go with its wiki to `new_root`; the next scan looks for what changed meanwhile.

    Raises UsageError when there is an index of `new_root` already, AnotherWriterError.
    """
    real = os.path.realpath(new_root)
    place = index_path(real, environ)
    if place.parent.exists():
        raise UsageError(real, "has an index of its own", f"indexerd forget {real}, or forget the old one")
    old_name = os.path.basename(index.root)
    name = os.path.basename(real) if index.wiki == old_name else index.wiki
    Store.open(Path(index.path), root=real, name=name).close()
    os.rename(os.path.dirname(index.path), place.parent)
    return place


def _aside(folder: Path) -> Path:
    """The hidden name of the folder of an index that is out of use."""
    return folder.with_name(f".{folder.name.removeprefix('.')}")


def _may_be_index(path: Path) -> bool:
    """Whether a file is there, or it cannot be told; then the listing says why."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        return not is_absence(error)


def _look_into(path: Path) -> ListedIndex:
    try:
        with Snapshot.open(path, any_version=True) as snapshot:
            meta, pages, is_current = snapshot.meta, snapshot.count_pages(), snapshot.is_current
    except IndexerdError as error:
        unread = f"{error.problem}; {error.remedy}"
        return ListedIndex(path=str(path), root="", wiki=path.parent.name, problem=unread)
    root, name = str(meta.get("root")), str(meta.get("name"))
    problem = None
    if not is_current:
        problem = f"is of another version of this program; indexerd build {root} renews it"
    if not os.path.isdir(root):
        problem = f"its folder is gone; indexerd move {root} NEW, or indexerd forget {root}"
    return ListedIndex(path=str(path), root=root, wiki=name, pages=pages, problem=problem)
