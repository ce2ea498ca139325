"""The tools that a daemon works with, and their replacement: new settings, or another index file.

Opens and closes; decides neither when nor why. Not for several threads at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from indexerd.errors import IndexerdError
from indexerd.pipeline.indexer import Indexer
from indexerd.pipeline.workers import Projector
from indexerd.setup.compose import Wiki, new_indexer, open_store


class Workshop:
    """`load` reads the settings anew and says which wiki they mean; it raises IndexerdError.

    `settings_files`: where settings stand, so that an edit is noticed.
    """

    def __init__(self, load: Callable[[], Wiki], settings_files: tuple[str, ...], log: Any) -> None:
        self._load = load
        self._files = settings_files
        self._log = log
        self._stamps = self._stamp_files()
        self.wiki = load()
        self.store = open_store(self.wiki)
        self._projector, self.indexer = self._set_up()

    def reload(self) -> None:
        """Takes the settings as they are now. When they are refused, the last good ones hold."""
        self._stamps = self._stamp_files()
        wiki = self._load()
        if wiki.configuration.refused is not None:
            self.indexer.settings_problem = wiki.settings_problem
            raise wiki.configuration.refused
        self.wiki = wiki
        self._projector.close()
        self._projector, self.indexer = self._set_up()

    def settings_edited(self) -> bool:
        """Whether a settings file is another one than when it was last read."""
        return self._stamp_files() != self._stamps

    def start_anew(self) -> None:
        """Moves the index file at its place aside, if there is one, and opens a new one."""
        with contextlib.suppress(IndexerdError):  # what the old one could not do any more does not matter
            self.close()
        self.store = open_store(self.wiki, anew=True)
        self._projector, self.indexer = self._set_up()

    def close(self) -> None:
        """Ends the workers and closes the index."""
        self._projector.close()
        self.store.close()

    def _set_up(self) -> tuple[Projector, Indexer]:
        return new_indexer(self.wiki, self.store, self._log)

    def _stamp_files(self) -> list[tuple[int, int, int] | None]:
        return [_stamp(path) for path in self._files]


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns
