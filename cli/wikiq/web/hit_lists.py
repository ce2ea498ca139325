"""Lists of hits as the viewer shows them: a search, the newest pages, the pages of a topic or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from indexerd.contract.record import Record
from wikiq.answers.pages import list_pages, topics
from wikiq.answers.search import search
from wikiq.index.database import Snapshot
from wikiq.model.request import DEFAULT_LIMIT, LARGEST_LIMIT, Filters
from wikiq.model.results import DIFFERENT, Hit, SearchResult
from wikiq.output.hits import copies_line, headings_of, shown_text
from wikiq.web import addresses
from wikiq.web.frame import Shown, frame_of
from wikiq.web.parameters import FILTER_NAMES, Pairs, kept, read_request

MORE_HITS = 100  # shown by the link below a list
NEWEST = 10  # pages told where nothing was found

Answer = Callable[[], Shown]


class ShownHit(Record):
    """A hit as the template takes it. `pieces`: its text, each with whether it is marked."""

    href: str
    title: str
    headings: tuple[str, ...]
    pieces: tuple[tuple[str, bool], ...]
    place: str
    topics: tuple[str, ...]
    flag: str | None
    date: str | None
    copies: str | None


class ShownFilter(Record):
    """A filter in force, and the address without it."""

    name: str
    value: str
    without: str


def show_results(snapshot: Snapshot, pairs: Pairs, now: datetime) -> Answer:
    """The hits of an address; without words and filters the newest pages.

    The last word may be the beginning of one, always: what is shown while typing is what reloading shows.
    """
    request = read_request(pairs, now).replace(prefix=True)
    is_blank = not request.query.strip() and request.filters.is_empty
    result = list_pages(snapshot, limit=request.limit) if is_blank else search(snapshot, request)
    is_waiting = not is_blank and result.policy is None and request.filters.is_empty
    newest: tuple[Hit, ...] = ()
    if not result.hits and not is_waiting:
        newest = list_pages(snapshot, limit=NEWEST).hits
    fields = kept(pairs)
    frame = frame_of(snapshot)
    heading = "Newest pages" if is_blank else "Pages" if result.policy is None else "Results"

    def finish() -> Shown:
        values = {
            "result": result,
            "heading": heading,
            "noun": "section" if request.sections and result.policy is not None else "page",
            "hits": _shown(result.hits, request.query),
            "newest": _shown(newest, ""),
            "filters": _filters(fields),
            "more": _more(result, fields),
            "is_blank": is_blank,
            "is_waiting": is_waiting,
            "sections": _toggle(fields) if result.policy is not None else None,
        }
        title = f"{request.query} - {frame.wiki}" if request.query.strip() else frame.wiki
        return Shown(template="results.html", values=values, frame=frame, title=title, query=request.query)

    return finish


def show_file(snapshot: Snapshot, path: str) -> Answer:
    """The pages that mention a file, or a folder above it."""
    return _listing(snapshot, Filters(mentions=(path,)), f"Pages that mention {path}", "file.html", {})


def show_topic(snapshot: Snapshot, name: str) -> Answer:
    """A topic: what is above and below it, and its pages."""
    row, *below = topics(snapshot, name)
    values = {"topic": row, "below": below}
    title = row.title or row.topic
    return _listing(snapshot, Filters(under=(row.topic,)), title, "topic.html", values)


def _listing(
    snapshot: Snapshot, filters: Filters, title: str, template: str, values: dict[str, object]
) -> Answer:
    result = list_pages(snapshot, filters, limit=LARGEST_LIMIT)
    frame = frame_of(snapshot)

    def finish() -> Shown:
        told = {"result": result, "heading": title, "hits": _shown(result.hits, "")} | values
        return Shown(template=template, values=told, frame=frame, title=f"{title} - {frame.wiki}")

    return finish


def _shown(hits: Sequence[Hit], query: str) -> list[ShownHit]:
    return [_shown_hit(hit, query) for hit in hits]


def _shown_hit(hit: Hit, query: str) -> ShownHit:
    evidence = hit.evidence
    matches = evidence.matches if evidence is not None and evidence.excerpt else ()
    return ShownHit(
        href=addresses.hit(hit, query),
        title=hit.title,
        headings=headings_of(hit),
        pieces=cut_at(shown_text(hit), matches),
        place=addresses.place_of(hit) if evidence is not None else hit.path,
        topics=hit.topics,
        flag=hit.status if hit.status in DIFFERENT else None,
        date=hit.updated_at[:10] if evidence is None else None,
        copies=copies_line(hit) if hit.copies else None,
    )


def cut_at(text: str, ranges: Sequence[tuple[int, int]]) -> tuple[tuple[str, bool], ...]:
    """Cut a text into pieces, each with whether it lies in one of the ranges, which are in order."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in ranges:
        pieces += ((text[at:start], False), (text[start:end], True))
        at = end
    return tuple(piece for piece in (*pieces, (text[at:], False)) if piece[0])


def _filters(fields: Pairs) -> list[ShownFilter]:
    names = frozenset((*FILTER_NAMES, "without"))
    return [
        ShownFilter(
            name=name,
            value=value,
            without=addresses.home([*fields[:at], *fields[at + 1 :]]),
        )
        for at, (name, value) in enumerate(fields)
        if name in names
    ]


def _more(result: SearchResult, fields: Pairs) -> str | None:
    """The address that shows more of the same; None where all are shown, or as many as there can be."""
    shown = len(result.hits)
    if shown >= result.total or shown >= LARGEST_LIMIT:
        return None
    limit = MORE_HITS if shown <= DEFAULT_LIMIT else LARGEST_LIMIT
    return addresses.home([*fields, ("limit", str(limit))])


def _toggle(fields: Pairs) -> str:
    """The address of the same question with hits by section instead of by page, or back."""
    rest = [field for field in fields if field[0] != "sections"]
    return addresses.home(rest if len(rest) < len(fields) else [*rest, ("sections", "1")])
