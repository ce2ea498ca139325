"""How far a build has got, on a terminal: a bar, pages a second, and what is left.

Writes to stderr, over its own line, a few times a second; nothing anywhere else than on a terminal.
"""

from __future__ import annotations

import time
from typing import Final, TextIO

REDRAW_S: Final = 0.1
_BAR: Final = 24  # characters


class Progress:
    """One bar, from the first `show` to `close`. `now`: a monotonic clock, in seconds."""

    def __init__(self, stream: TextIO, *, start: float) -> None:
        self._stream = stream
        self._enabled = stream.isatty()
        self._start = start
        self._shown_at = float("-inf")

    def show(self, done: int, total: int) -> None:
        """Pages done and pages in all, up to now."""
        now = time.monotonic()
        if not self._enabled or (now - self._shown_at < REDRAW_S and done < total):
            return
        self._shown_at = now
        self._stream.write(f"\r\x1b[K{render_progress(done, total, now - self._start)}")
        self._stream.flush()

    def close(self) -> None:
        """Leave the line clean for what comes next."""
        if self._enabled and self._shown_at > float("-inf"):
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def render_progress(done: int, total: int, elapsed_s: float) -> str:
    """One line for people; empty work counts as done."""
    share = done / total if total else 1.0
    filled = int(share * _BAR)
    bar = "#" * filled + "-" * (_BAR - filled)
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    left = f", {(total - done) / rate:.0f} s left" if rate and done < total else ""
    return f"[{bar}] {done}/{total} pages, {rate:.0f}/s{left}"
