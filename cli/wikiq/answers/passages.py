"""A passage of a page by lines, whatever it was named by, with the headings inside it (spec 6.5).

For readers with a budget: text as it stands in the file, whole lines, and where a part of it can end.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.answers.line_range import read_lines, split_range
from wikiq.answers.outline import OutlineRow, outline
from wikiq.answers.pages import page
from wikiq.answers.subtree import with_deeper
from wikiq.index.database import Snapshot
from wikiq.query.names import find_page


class Passage(Record):
    """Lines `start_line` to `end_line` of a page that has `total_lines`; `lines` are without their ends.

    `heading_path` is that of the section asked for, empty for a whole page or a range. `sections` are the
    headings whose lines lie inside, in order. `status`: the file on the disk against what was indexed.
    """

    path: str
    title: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    total_lines: int
    status: str
    lines: tuple[str, ...]
    sections: tuple[OutlineRow, ...]


def passage(snapshot: Snapshot, name: str, *, folder: str | None = None) -> Passage:
    """Give what `name` means: PAGE, PATH:FROM-TO, or PATH:LINE and PAGE#section with all subsections.

    Raises UnknownPageError, UnknownSectionError, UsageError.
    """
    is_range = split_range(name) is not None and find_page(snapshot, name, folder=folder) is None
    asked = read_lines(snapshot, name, folder=folder) if is_range else None
    found = page(snapshot, asked.path if asked else name, folder=folder)
    whole = page(snapshot, found.path, folder=folder) if found.section is not None else found
    lines = split_lines(whole.source)
    rows = outline(snapshot, found.path, folder=folder).sections
    heading_path: tuple[str, ...] = ()
    start, end = 1, len(lines)
    if asked is not None:
        start, end = asked.start_line, asked.end_line
    elif found.section is not None:
        at = int(found.section.section_id)
        inside = with_deeper(rows, at)
        start, end, heading_path = inside[0].start_line, inside[-1].end_line, rows[at].section_path
    return Passage(
        path=found.path,
        title=found.title,
        heading_path=heading_path,
        start_line=start,
        end_line=end,
        total_lines=len(lines),
        status=found.status,
        lines=tuple(lines[start - 1 : end]),
        sections=tuple(row for row in rows if start <= row.start_line <= end),
    )


def split_lines(source: str) -> list[str]:
    """Split text into lines as Markdown counts them: at LF, CR LF or CR, nowhere else (spec 1.2)."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
