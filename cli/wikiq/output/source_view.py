"""A page for people: its source with headings, code and quotes set off; pure, and no Markdown parser.

What a line is, is guessed from how it begins; the text itself is never changed.
"""

from __future__ import annotations

from wikiq.output.terminal import BOLD, FAINT, PLACE, Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wikiq.model.results import PageView

_FENCES = ("```", "~~~")
_FRONT_MATTER = ("---\n", "+++\n")
_CODE, _HEADING = PLACE, "1;4"


def page_lines(view: PageView) -> Iterator[tuple[Span | str, ...]]:
    """Give the page or section as lines, below a line that says which one it is."""
    yield (Span(text=view.title, style=BOLD), Span(text=f"  {view.path}", style=FAINT))
    details = [f"updated {view.updated_at[:10]}", *(f"#{topic}" for topic in view.topics)]
    if view.section is not None:
        place = f"lines {view.section.start_line}-{view.section.end_line}"
        details = [joined(view.section.heading_path), place]
    yield (Span(text="  ".join(details), style=FAINT),)
    yield ()
    yield from text_lines(view.source)


def text_lines(source: str) -> Iterator[tuple[Span | str, ...]]:
    """Style the lines of a Markdown text."""
    fence = ""
    front_matter = source[:3] if source.startswith(_FRONT_MATTER) else ""
    for nth, line in enumerate(
        source.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    ):
        start = line.lstrip()
        if front_matter:
            front_matter = "" if nth and line.rstrip() in (front_matter, "...") else front_matter
            yield (Span(text=line, style=FAINT),)
        elif fence:
            fence = "" if start.startswith(fence) else fence
            yield (Span(text=line.replace("\t", "    "), style=_CODE),)
        elif start.startswith(_FENCES):
            fence = start[:3]
            yield (Span(text=line, style=_CODE),)
        elif start.startswith("#") and start.lstrip("#").startswith(" "):
            yield (Span(text=line, style=_HEADING),)
        elif start.startswith((">", "|")):
            yield (Span(text=line, style=FAINT),)
        else:
            yield _inline(line.replace("\t", "    "))


def _inline(line: str) -> tuple[Span | str, ...]:
    """Set off what stands between single backticks."""
    pieces = line.split("`")
    if len(pieces) % 2 == 0:
        return (line,)
    return tuple(
        Span(text=f"`{piece}`", style=_CODE) if place % 2 else piece for place, piece in enumerate(pieces)
    )
