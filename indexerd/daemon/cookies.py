"""Files that prove how far the watcher has come: seen is what was there before them (spec 3.6).

They lie in a folder of the daemon's own, which the same watcher watches, so their events queue
behind those of every change before them. Never written in the wiki.
"""

from __future__ import annotations

import contextlib
import os
import re
from itertools import count
from typing import Final

import anyio

PATIENCE_S: Final = 2.0  # a watcher that is behind by more is as good as deaf: a scan is sooner

_COOKIE: Final = re.compile(r"\d+-\d+")  # process and number


class Cookies:
    """The files of one process in `folder`, which is made when it is missing."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._numbers = count(1)
        self._expected: dict[str, anyio.Event] = {}

    def prepare(self) -> None:
        """Makes the folder and removes what a killed process left in it. Raises OSError.

        Whoever names a place for the index may have a folder of this name there: nothing else is removed.
        """
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        for name in filter(_COOKIE.fullmatch, os.listdir(self._folder)):
            path = os.path.join(self._folder, name)
            with contextlib.suppress(OSError):
                if os.lstat(path).st_size == 0:
                    os.unlink(path)

    async def pass_one(self) -> bool:
        """Makes a file and waits for the watcher to report it; whether it did in time."""
        name = f"{os.getpid()}-{next(self._numbers)}"
        path = os.path.join(self._folder, name)
        seen = self._expected[name] = anyio.Event()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(path, flags, 0o600))
            with anyio.move_on_after(PATIENCE_S):
                await seen.wait()
        except OSError:
            return False
        finally:
            del self._expected[name]
            with contextlib.suppress(OSError):
                os.unlink(path)
        return seen.is_set()

    def seen(self, names: frozenset[str]) -> None:
        """The watcher reports these files."""
        for name in names & self._expected.keys():
            self._expected[name].set()
