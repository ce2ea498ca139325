"""The progress bar: only on a terminal, bounded in width, and gone when the work is done."""

from __future__ import annotations

import io
import time

import pytest

from indexerd.command.progress import Progress, render_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "done, total, elapsed, line",
    [
        (0, 100, 0.0, "[------------------------] 0/100 pages, 0/s"),
        (50, 100, 2.0, "[############------------] 50/100 pages, 25/s, 2 s left"),
        (100, 100, 4.0, "[########################] 100/100 pages, 25/s"),
        (0, 0, 1.0, "[########################] 0/0 pages, 0/s"),
    ],
)
def test_a_line_says_how_far_how_fast_and_how_long(done: int, total: int, elapsed: float, line: str) -> None:
    assert render_progress(done, total, elapsed) == line


def test_nothing_is_written_where_nobody_looks() -> None:
    out = io.StringIO()
    progress = Progress(out, start=0.0)
    progress.show(1, 2)
    progress.close()
    assert out.getvalue() == ""


def test_on_a_terminal_the_line_is_drawn_over_itself_and_cleared() -> None:
    out = Terminal()
    progress = Progress(out, start=time.monotonic())
    for done in range(1000):
        progress.show(done, 1000)
    progress.show(1000, 1000)
    progress.close()
    assert "1000/1000 pages" in out.getvalue()
    assert out.getvalue().endswith("\r\x1b[K")
    assert out.getvalue().count("\r") < 500  # redrawn a few times a second, not for each page


def test_a_bar_that_was_never_shown_clears_nothing() -> None:
    out = Terminal()
    Progress(out, start=0.0).close()
    assert out.getvalue() == ""
