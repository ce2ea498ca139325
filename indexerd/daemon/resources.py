"""What a daemon works with: settings, store and workers; replaced for new settings or another index file.

Opens and closes; decides neither when nor why. Not for several threads at once.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from typing import Any

from indexerd.errors import IndexerdError
from indexerd.pipeline.indexer import Indexer
from indexerd.pipeline.workers import Projector
from indexerd.setup.compose import Wiki, new_indexer, open_store
from indexerd.setup.config import CONFIG_FILE_BYTES
from indexerd.tree.openat import FILE_FLAGS, read_up_to


class Resources:
    """`load` reads the settings again and says which wiki they mean; it raises IndexerdError.

    `settings_files`: where settings stand, so that an edit is noticed.
    """

    def __init__(self, load: Callable[[], Wiki], settings_files: tuple[str, ...], log: Any) -> None:
        self._load = load
        self._files = settings_files
        self._log = log
        self._texts = self._read_files()
        self.wiki = load()
        self.store = open_store(self.wiki)
        self._projector, self.indexer = self._set_up()

    def reload(self) -> None:
        """Takes the settings as they are now. When they are refused, the last good ones hold."""
        self._texts = self._read_files()
        wiki = self._load()
        if wiki.configuration.refused is not None:
            self.indexer.settings_changed(wiki.settings_problem)
            raise wiki.configuration.refused
        self.wiki = wiki
        self._projector.close()
        self._projector, self.indexer = self._set_up()

    def settings_edited(self) -> bool:
        """Whether a settings file is another one than when it was last read."""
        return self._read_files() != self._texts

    def start_over(self) -> None:
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

    def _read_files(self) -> list[bytes | None]:
        return [_read(path) for path in self._files]


def _read(path: str) -> bytes | None:
    """The bytes, since a stamp may hide an edit; None for what is no file that can be read."""
    try:
        descriptor = os.open(path, FILE_FLAGS & ~os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return (
            read_up_to(descriptor, CONFIG_FILE_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        )
    except OSError:
        return None
    finally:
        os.close(descriptor)
