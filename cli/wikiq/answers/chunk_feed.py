"""Chunks for embedders: those of the whole wiki, or a feed of what changed since a generation.

All of a feed is of the one snapshot it is given. Pages are read one after the other, so memory stays
bounded; whoever hands the lines to a slow reader puts them aside first, since the snapshot must end.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexerd.contract.record import Record
from wikiq.errors import UsageError
from wikiq.index import sql
from wikiq.index.database import Snapshot, parse_names
from wikiq.model.request import NO_FILTERS, Filters
from wikiq.model.results import FORMAT
from wikiq.query.filters import checked_filters, page_condition

PAGES_AT_ONCE = 200  # looked up in one statement; the chunks of one page are in memory at a time

LONGEST_GENERATION = 19  # digits; SQLite has no longer integers

START, REPLACE, CHUNK, DELETE, END = "start", "replace", "chunk", "delete", "end"


class ChunkRow(Record):
    """One chunk with its renderings (spec 1.7); page, section_id and part identify it.

    `chunk_key` is a hash of `embed_text`: a vector made for one key serves every chunk that has it.
    """

    chunk_key: str
    page_id: int
    slug: str
    section_id: str
    part: int
    parts: int
    kind: str
    section_path: tuple[str, ...]
    heading_path: tuple[str, ...]
    content: str
    tokens: int
    embed_text: str
    source_text: str
    breadcrumb: tuple[str, ...]
    href: str
    start_line: int
    end_line: int
    generation: int


class Start(Record):
    """The first line of a feed. `complete`: it tells everything, so drop what was fed before."""

    op: str
    format: int
    index_id: str
    since: int
    generation: int
    complete: bool


class Replacement(Record):
    """A page came or changed: these keys replace all that it had. Its chunks follow."""

    op: str
    slug: str
    path: str
    generation: int
    chunk_keys: tuple[str, ...]


class ChunkEvent(ChunkRow):
    """A chunk of the page that was replaced last."""

    op: str


class Tombstone(Record):
    """A page is no more, or no longer passes the filters: its chunks go. It may never have been fed."""

    op: str
    slug: str
    generation: int


class End(Record):
    """The last line: all of the feed was given; `cursor` is where the next one goes on."""

    op: str
    generation: int
    cursor: str


class Cursor(Record):
    """How far a feed was followed. Without an `index_id` the reader vouches for the index itself."""

    generation: int
    index_id: str | None = None


class _PageRow(Record):
    """A page that changed, and whether it passes the filters."""

    page_id: int
    slug: str
    path: str
    generation: int
    passes: int


FeedRow = Start | Replacement | ChunkEvent | Tombstone | End


def list_chunks(snapshot: Snapshot, filters: Filters = NO_FILTERS) -> Iterator[ChunkRow]:
    """Give the chunks of all pages that pass the filters; see `feed_chunks` for keeping up with them."""
    for page in _changed_pages(snapshot, 0, filters):
        if page.passes:
            yield from _chunks_of(snapshot, page)


def parse_cursor(text: str) -> Cursor:
    """Read what an `end` line gave, `index_id:generation`, or a generation alone. Raises UsageError."""
    index_id, sign, generation = text.rpartition(":")
    is_number = generation.isascii() and generation.isdecimal() and len(generation) <= LONGEST_GENERATION
    if not is_number or (sign and not index_id):
        raise UsageError(f"--since {text}", "is no cursor", "give the one of the last `end` line, or 0")
    return Cursor(generation=int(generation), index_id=index_id or None)


def feed_chunks(snapshot: Snapshot, cursor: Cursor, filters: Filters = NO_FILTERS) -> Iterator[FeedRow]:
    """Give what brings a copy of the chunks up to date that was followed up to `cursor`; 0: from nothing.

    A cursor of another index, or one whose changes are no longer kept, gives everything again. Raises
    UsageError where the same is true of a bare generation.
    """
    since = _known_since(snapshot, cursor)
    gone = snapshot.rows(sql.SELECT_PAGES_GONE, (since,)) if since else []
    yield Start(
        op=START,
        format=FORMAT,
        index_id=snapshot.index_id,
        since=since,
        generation=snapshot.generation,
        complete=since == 0,
    )
    for slug, generation in gone:
        yield Tombstone(op=DELETE, slug=slug, generation=generation)
    for page in _changed_pages(snapshot, since, filters):
        if page.passes:
            yield from _replacement(snapshot, page)
        elif since:
            yield Tombstone(op=DELETE, slug=page.slug, generation=page.generation)
    reached = f"{snapshot.index_id}:{snapshot.generation}"
    yield End(op=END, generation=snapshot.generation, cursor=reached)


def _known_since(snapshot: Snapshot, cursor: Cursor) -> int:
    """The generation to go on from; 0 where the cursor's is not known here."""
    (floor,) = snapshot.only_row(sql.SELECT_CHANGES_FLOOR)
    is_same = cursor.index_id in (None, snapshot.index_id)
    if cursor.generation == 0 or (is_same and floor <= cursor.generation <= snapshot.generation):
        return cursor.generation
    if cursor.index_id is None:
        kept = f"changes are known from generation {floor} to {snapshot.generation}"
        raise UsageError(f"--since {cursor.generation}", kept, "start over with 0")
    return 0


def _replacement(snapshot: Snapshot, page: _PageRow) -> Iterator[FeedRow]:
    chunks = _chunks_of(snapshot, page)
    yield Replacement(
        op=REPLACE,
        slug=page.slug,
        path=page.path,
        generation=page.generation,
        chunk_keys=tuple(chunk.chunk_key for chunk in chunks),
    )
    for chunk in chunks:
        yield ChunkEvent(op=CHUNK, **{field: getattr(chunk, field) for field in ChunkRow.fields})


def _changed_pages(snapshot: Snapshot, since: int, filters: Filters) -> Iterator[_PageRow]:
    """The pages that changed after a generation, in the order of their ids."""
    after = 0
    while True:
        rows = _page_rows(snapshot, filters, after, since)
        yield from rows
        if len(rows) < PAGES_AT_ONCE:
            return
        after = rows[-1].page_id


def _page_rows(snapshot: Snapshot, filters: Filters, after: int, since: int) -> list[_PageRow]:
    condition, values = page_condition(checked_filters(snapshot, filters))
    statement = sql.SELECT_PAGES_TO_EMBED.format(condition=condition)
    return snapshot.records(_PageRow, statement, (*values, after, since, PAGES_AT_ONCE))


def _chunks_of(snapshot: Snapshot, page: _PageRow) -> tuple[ChunkRow, ...]:
    readers = dict.fromkeys(("section_path", "heading_path", "breadcrumb"), parse_names)
    return tuple(snapshot.records(ChunkRow, sql.SELECT_CHUNKS, (page.page_id,), **readers))
