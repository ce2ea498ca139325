"""Sends long output through the user's pager; without one it goes where it would have gone."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from wikiq.output.terminal import Screen

DEFAULT_PAGER = "less"
LESS_OPTIONS = "FRX"  # leave when all fits on one screen, let styles through, keep the screen


@contextmanager
def paged(screen: Screen, environ: Mapping[str, str]) -> Iterator[Screen]:
    """Give a screen like `screen` whose text is paged; leaving the pager early is no error."""
    try:
        words = shlex.split(environ.get("PAGER", DEFAULT_PAGER))
    except ValueError:
        words = []  # like a pager that cannot be run
    if not screen.is_terminal or not words or words == ["cat"]:
        yield screen
        return
    screen.stream.flush()
    settings = {**environ, "LESS": environ.get("LESS", LESS_OPTIONS)}
    try:
        pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=settings, text=True, encoding="utf-8")
    except OSError:
        yield screen
        return
    if pager.stdin is None:
        raise AssertionError("a pipe was asked for")
    try:
        with suppress(BrokenPipeError), pager.stdin:
            yield screen.onto(pager.stdin)
    finally:
        pager.wait()
