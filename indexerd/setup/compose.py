"""Builds every object: from a root and its settings to an index open for writing.

The one place where tree, store, workers and indexer meet, for every command that writes. Reads the
settings and the register; decides nothing about pages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from indexerd.contract.places import INDEX_NAME, LOCK_NAME, STATE_NAME
from indexerd.core.model import Diagnostic, ProjectionOptions
from indexerd.core.sync.reconcile import SETTINGS_INVALID
from indexerd.errors import ConfigurationError, IndexerdError, UsageError
from indexerd.pipeline.indexer import Indexer
from indexerd.pipeline.workers import Projector
from indexerd.service.status_file import drop_leftover
from indexerd.setup.config import Configuration, Settings, load_configuration
from indexerd.setup.registry import index_path, repository_prefix, resolve_root, revive_index
from indexerd.store import Snapshot, Store
from indexerd.tree.mounts import find_event_free
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree

TAKEN_NAMES: Final = frozenset({LOCK_NAME, STATE_NAME, f"{STATE_NAME}.new"})


@dataclass(frozen=True, slots=True)
class Wiki:
    """A root with its settings and places, before anything is opened. `root`: as it was named."""

    root: str
    index: Path
    configuration: Configuration

    @property
    def settings(self) -> Settings:
        """What is in force."""
        return self.configuration.settings

    @property
    def settings_problem(self) -> Diagnostic | None:
        """What the index says of the wiki's own settings where they are left out as a whole."""
        refused = self.configuration.refused
        if refused is None:
            return None
        return Diagnostic(SETTINGS_INVALID, f"it is left out as a whole: {refused.problem}; {refused.remedy}")

    @property
    def tree_settings(self) -> TreeSettings:
        """Which files of the tree are scanned. The index is no page, whatever its name."""
        settings = self.settings
        return TreeSettings(
            extensions=settings.extensions,
            ignore=settings.ignore,
            gitignore=settings.gitignore,
            follow_symlinks=settings.follow_symlinks,
            max_page_bytes=settings.max_page_bytes,
            own_files=(str(self.index),),
        )

    @property
    def projection_options(self) -> ProjectionOptions:
        """What a projection knows besides bytes and path."""
        return ProjectionOptions(
            identity_names=self.settings.names,
            repository_prefix=repository_prefix(self.root),
            extensions=self.settings.extensions,
        )

    @property
    def name(self) -> str:
        """What `wikiq --wiki` calls it: as set, as it was, or like the folder."""
        if self.settings.name is not None:
            return self.settings.name
        if self.index.exists():
            with suppress(IndexerdError), Snapshot.open(self.index, any_version=True) as snapshot:
                return str(snapshot.meta["name"])
        return os.path.basename(os.path.realpath(self.root)) or "root"


def find_wiki(
    argument: str | None,
    flags: Mapping[str, str | bool],
    environ: Mapping[str, str],
    *,
    must_exist: bool = True,
) -> Wiki:
    """The wiki that a command means. Raises RootError, UsageError, ConfigurationError."""
    root = resolve_root(argument, environ, must_exist=must_exist)
    configuration = load_configuration(root, flags, environ)
    db = configuration.settings.db
    if db is None:
        return Wiki(root, index_path(root, environ), configuration)
    path = Path(os.path.abspath(db))
    if path.name in TAKEN_NAMES:
        raise UsageError(str(path), "is the name of a file beside an index", "name another file with --db")
    return Wiki(root, path / INDEX_NAME if path.is_dir() else path, configuration)


def open_store(wiki: Wiki, *, anew: bool = False) -> Store:
    """The index of the wiki, open for writing; with `anew` a damaged one is moved aside first."""
    refuse_shared_disk(wiki.index)
    if wiki.settings.db is None:
        revive_index(wiki.index)
    return Store.open(
        wiki.index,
        root=os.path.realpath(wiki.root),
        name=wiki.name,
        share_group=wiki.settings.share_group,
        anew=anew,
    )


def refuse_shared_disk(index: Path) -> None:
    """Raises ConfigurationError for an index on a file system that another machine may write too.

    SQLite's WAL needs shared memory, which two machines do not have (https://sqlite.org/wal.html).
    """
    fault = find_event_free(os.path.realpath(index.parent))
    if fault is not None:
        place = fault.reason.partition(", ")[0]
        problem = f"cannot hold an index, since {place}, which other machines may write"
        remedy = "name a file on a local disk with --db, or set XDG_STATE_HOME to a folder there"
        raise ConfigurationError(str(index.parent), problem, remedy)


def new_indexer(wiki: Wiki, store: Store, log: Any) -> tuple[Projector, Indexer]:
    """What brings the store up to date with the tree. The projector is the caller's to close."""
    tree = Tree(wiki.root, wiki.tree_settings)
    options = wiki.projection_options
    projector = Projector(tree, options)
    indexer = Indexer(
        tree=tree,
        store=store,
        projector=projector,
        options=options,
        log=log,
        settings_problem=wiki.settings_problem,
    )
    return projector, indexer


@contextmanager
def opened_indexer(wiki: Wiki, log: Any, *, anew: bool = False) -> Iterator[tuple[Indexer, Store]]:
    """The index of the wiki as `open_store` gives it, and what brings it up to date; closed afterwards."""
    with open_store(wiki, anew=anew) as store:
        drop_leftover(str(wiki.index.with_name(STATE_NAME)))
        projector, indexer = new_indexer(wiki, store, log)
        try:
            yield indexer, store
        finally:
            projector.close()


@contextmanager
def scratch_indexer(wiki: Wiki, folder: Path, log: Any) -> Iterator[tuple[Indexer, Path]]:
    """An empty index in `folder` for comparison, and what fills it from the same tree."""
    with Store.open(folder / INDEX_NAME, root=os.path.realpath(wiki.root), name="verify") as store:
        projector, indexer = new_indexer(wiki, store, log)
        try:
            yield indexer, store.path
        finally:
            projector.close()
