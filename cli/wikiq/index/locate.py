"""Which index a command means: named, of the current folder, or the only one there is (spec 5.1).

The state folder is the register: every index in it tells its own root and name. Nothing is
created. An index that cannot be read hides itself, but not from one who stands in its root.
"""

from __future__ import annotations

import os

from indexerd.contract.places import INDEX_NAME, NoHomeError, folder_stem, index_folder, state_home
from indexerd.contract.which_index import (
    MOST_LISTED,
    NONE,
    SEVERAL,
    AmbiguousNameError,
    KnownIndex,
    find_around,
    find_meant,
    shell_word,
)
from wikiq.errors import NoIndexError, UsageError, WikiqError
from wikiq.index.database import Database, open_database
from wikiq.index.page_status import is_gone
from wikiq.index.postgres import is_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DB_VARIABLE = "WIKIQ_DB"


def open_index(
    *, db: str | None = None, wiki: str | None = None, environ: Mapping[str, str], folder: str
) -> Database:
    """Open the index that `--db`, `--wiki`, the environment or the current `folder` mean.

    Raises NoIndexError that lists what there is, and what `open_database` raises.
    """
    path = db if db is not None else environ.get(DB_VARIABLE)
    if is_address(path) and (db is not None or wiki is None):
        from wikiq.index.postgres.database import open_postgres

        return open_postgres(str(path), wiki=wiki)
    if db is not None and wiki is not None:
        raise UsageError("--db", "cannot be combined with --wiki", "give one of the two")
    if wiki is not None:
        return open_database(pick_named(list_indexes(environ), wiki, folder).path)
    if path:
        return open_database(os.path.join(path, INDEX_NAME) if os.path.isdir(path) else path)
    real = os.path.realpath(folder)
    around = _open_around(real, environ)
    return around if around is not None else open_database(pick_for_folder(list_indexes(environ), real).path)


def list_indexes(environ: Mapping[str, str]) -> tuple[KnownIndex, ...]:
    """Read root and name of every index in the state folder, by name; those that fail are left out."""
    home = _state_home(environ)
    known = []
    for name in _folders(home):
        path = os.path.join(home, name, INDEX_NAME)
        if os.path.isfile(path):
            try:
                known.append(_look_into(path))
            except WikiqError:
                continue
    return tuple(sorted(known, key=lambda index: (index.wiki, index.path)))


def pick_named(known: Sequence[KnownIndex], wiki: str, folder: str) -> KnownIndex:
    """Choose by name or root (from `folder`); NoIndexError when no index or more than one fits."""
    try:
        found = find_meant(known, wiki, folder)
    except AmbiguousNameError as error:
        raise NoIndexError(wiki, SEVERAL, str(error)) from error
    if found is None:
        raise NoIndexError(wiki, NONE, _choices(known))
    return found


def pick_for_folder(known: Sequence[KnownIndex], folder: str) -> KnownIndex:
    """Choose the deepest root that holds `folder` (a real path), else the only index there is."""
    around = find_around(known, folder)
    if around is not None:
        return around
    if len(known) == 1:
        return known[0]
    if not known:
        raise NoIndexError(folder, "there is no index yet", _choices(known))
    gone = [index.root for index in known if is_gone(index.root)]
    moved = f"; if it is {gone[0]}, moved: `indexerd move {shell_word(gone[0])} .`" if gone else ""
    remedy = f"index it with `indexerd build`{moved}; or {_choices(known)}"
    raise NoIndexError(folder, "is in none of the indexed wikis", remedy)


def _open_around(folder: str, environ: Mapping[str, str]) -> Database | None:
    """Open the index of the deepest root that holds `folder`, found by the names of the index folders.

    Opening one takes a millisecond, so those whose name says that they are of another root are not
    looked into.
    """
    home = _state_home(environ)
    by_stem: dict[str, list[str]] = {}
    for name in _folders(home):
        by_stem.setdefault(name.rpartition("-")[0], []).append(name)
    while True:
        for name in by_stem.get(folder_stem(folder), ()):
            path = os.path.join(home, name, INDEX_NAME)
            try:
                database = open_database(path, patience_s=0.0)
            except WikiqError as error:
                if not isinstance(error, NoIndexError) and name == index_folder(folder):
                    return open_database(path)  # or its error: another wiki's pages are no answer here
                continue
            with database.snapshot() as snapshot:
                if snapshot.root == folder:
                    return database
            database.close()
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)


def _state_home(environ: Mapping[str, str]) -> str:
    """Give the folder of all indexes; NoIndexError where the user has no home."""
    try:
        return state_home(environ)
    except NoHomeError as error:
        remedy = "set HOME or XDG_STATE_HOME, or name an index with --db"
        raise NoIndexError("", f"there is no place for an index: {error}", remedy) from error


def _folders(home: str) -> list[str]:
    """Name the index folders; a dot marks one that has been taken out of use."""
    try:
        return sorted(name for name in os.listdir(home) if not name.startswith("."))
    except OSError:
        return []


def _look_into(path: str) -> KnownIndex:
    database = open_database(path, patience_s=0.0)
    try:
        with database.snapshot() as snapshot:
            return KnownIndex(path=path, root=snapshot.root, wiki=snapshot.wiki)
    finally:
        database.close()


def _choices(known: Sequence[KnownIndex]) -> str:
    if not known:
        return "run `indexerd build` in the wiki's folder, or name an index with --db"
    listed = ", ".join(f"{index.wiki} ({index.root})" for index in known[:MOST_LISTED])
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"name one with --wiki or --db: {listed}{more}"
