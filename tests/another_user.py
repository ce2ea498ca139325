"""Somebody else than root, for the tests of who may read: file permissions mean nothing to root.

Knows whether another user can run this installation, which may lie in a home that is root's alone.
"""

from __future__ import annotations

import email.parser  # noqa: F401 - imported late by importlib.metadata, when it may be out of reach
import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

import indexerd

NOBODY: Final = 65534
AS_NOBODY: Final = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def _find_closed_folder() -> Path | None:
    """A folder above this installation that another user may not enter."""
    for place in (indexerd.__file__, sysconfig.get_path("purelib")):
        for folder in Path(place).resolve().parents:
            if not folder.stat().st_mode & 0o001:
                return folder
    return None


_CLOSED: Final = _find_closed_folder()
needs_open_installation = pytest.mark.skipif(
    _CLOSED is not None, reason=f"another user may not enter {_CLOSED}, where this installation is"
)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Steps down for a moment; who is not root stays who he is."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
