"""Lines of a page as it was indexed, by their numbers: PATH:FROM-TO."""

from __future__ import annotations

import re

from indexerd.contract.record import Record
from indexerd.contract.which_index import shell_word
from wikiq.answers.pages import LINE_DIGITS, source_of
from wikiq.errors import UnknownSectionError, UsageError
from wikiq.index.database import Snapshot
from wikiq.query.names import require_page

# A line with its end, as Markdown has them: not `splitlines`, which ends lines at form feeds too.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class LineRange(Record):
    """Lines `start_line` to `end_line` of a page, both included; `source` is their text."""

    slug: str
    title: str
    path: str
    generation: int
    start_line: int
    end_line: int
    source: str


def split_range(name: str) -> tuple[str, int, int] | None:
    """Take PATH:FROM-TO apart; None for anything else."""
    path, _, lines = name.rpartition(":")
    first, sign, last = lines.partition("-")
    if not path or not sign or not _is_line(first) or not _is_line(last):
        return None
    return path, int(first), int(last)


def read_lines(snapshot: Snapshot, name: str, *, folder: str | None = None) -> LineRange:
    """Give the lines that PATH:FROM-TO means; TO may be past the last.

    Raises UnknownPageError, UnknownSectionError for lines that are not there, UsageError.
    """
    parts = split_range(name)
    if parts is None or not 1 <= parts[1] <= parts[2]:
        raise UsageError(name, "names no lines", "give PATH:FROM-TO, like guide.md:10-20")
    path, first, last = parts
    page = require_page(snapshot, path, folder=folder)
    lines = _LINE.findall(source_of(snapshot, page.page_id))
    if first > len(lines):
        remedy = f"see `wikiq outline {shell_word(page.slug)}`"
        raise UnknownSectionError(f"{page.path}:{first}", f"the last line is {len(lines)}", remedy)
    return LineRange(
        slug=page.slug,
        title=page.title,
        path=page.path,
        generation=snapshot.generation,
        start_line=first,
        end_line=min(last, len(lines)),
        source="".join(lines[first - 1 : last]),
    )


def _is_line(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LINE_DIGITS
