"""Chunks for whoever embeds them: all of a wiki, or what replaces what since a generation.

Pages are read one after the other, each in a snapshot of its own, so memory stays bounded and no
transaction lasts while a slow reader takes the lines. A page that changes meanwhile comes again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wikiq import sql
from wikiq.database import Database, Snapshot, parse_names
from wikiq.errors import UsageError
from wikiq.filters import checked_filters, page_condition
from wikiq.record import Record
from wikiq.request import NO_FILTERS, Filters

PAGES_AT_ONCE = 200  # looked up in one statement; the chunks of one page are in memory at a time

START, REPLACE, CHUNK, DELETE, END = "start", "replace", "chunk", "delete", "end"


class ChunkRow(Record):
    """One chunk with its renderings (spec 1.7); (slug, section_id, part) is unique.

    `chunk_key` is a hash of `embed_text`: a vector made for one key serves every chunk that has it.
    """

    chunk_key: str
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
    """The first line of a feed. `complete`: pages that it does not name are no more, drop them.

    Generations mean something within one `index_id`; another one than last time: start over from 0.
    """

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
    """The last line: all of the feed was given, go on with `--since` this generation."""

    op: str
    generation: int


class _PageRow(Record):
    """A page that changed, and whether it passes the filters."""

    page_id: int
    slug: str
    path: str
    generation: int
    passes: int


FeedRow = Start | Replacement | ChunkEvent | Tombstone | End


def list_chunks(database: Database, filters: Filters = NO_FILTERS) -> Iterator[ChunkRow]:
    """Give the chunks of all pages that pass the filters; see `feed_chunks` for keeping up with them."""
    for page in _changed_pages(database, 0, filters):
        if page.passes:
            yield from _chunks_of(database, page)


def feed_chunks(database: Database, since: int, filters: Filters = NO_FILTERS) -> Iterator[FeedRow]:
    """Give what brings a copy of the chunks of generation `since` up to date; 0: from nothing.

    Raises UsageError where the changes since then are no longer kept, or nobody can know them.
    """
    with database.snapshot() as snapshot:
        (floor,) = snapshot.only_row(sql.SELECT_CHANGES_FLOOR)
        gone = snapshot.rows(sql.SELECT_PAGES_GONE, (since,)) if since else []
    if 0 < since < floor:
        raise UsageError(
            f"--since {since}", f"changes up to generation {floor} are no longer kept", "start over with 0"
        )
    if since > snapshot.generation:
        problem = f"the index is at generation {snapshot.generation}"
        raise UsageError(f"--since {since}", problem, "it was built anew: start over with 0")
    yield Start(
        op=START,
        format=1,
        index_id=snapshot.index_id,
        since=since,
        generation=snapshot.generation,
        complete=since == 0,
    )
    for slug, generation in gone:
        yield Tombstone(op=DELETE, slug=slug, generation=generation)
    for page in _changed_pages(database, since, filters):
        if page.passes:
            yield from _replacement(database, page)
        elif since:
            yield Tombstone(op=DELETE, slug=page.slug, generation=page.generation)
    yield End(op=END, generation=snapshot.generation)


def _replacement(database: Database, page: _PageRow) -> Iterator[FeedRow]:
    chunks = _chunks_of(database, page)
    yield Replacement(
        op=REPLACE,
        slug=page.slug,
        path=page.path,
        generation=page.generation,
        chunk_keys=tuple(chunk.chunk_key for chunk in chunks),
    )
    for chunk in chunks:
        yield ChunkEvent(op=CHUNK, **{field: getattr(chunk, field) for field in ChunkRow.fields})


def _changed_pages(database: Database, since: int, filters: Filters) -> Iterator[_PageRow]:
    """The pages that changed after a generation, in the order of their ids."""
    after = 0
    while True:
        with database.snapshot() as snapshot:
            rows = _page_rows(snapshot, filters, after, since)
        yield from rows
        if len(rows) < PAGES_AT_ONCE:
            return
        after = rows[-1].page_id


def _page_rows(snapshot: Snapshot, filters: Filters, after: int, since: int) -> list[_PageRow]:
    condition, values = page_condition(checked_filters(snapshot, filters))
    statement = sql.SELECT_PAGES_TO_EMBED.format(condition=condition)
    rows = snapshot.rows(statement, (*values, after, since, PAGES_AT_ONCE))
    return [_PageRow(**dict(zip(_PageRow.fields, row, strict=True))) for row in rows]


def _chunks_of(database: Database, page: _PageRow) -> tuple[ChunkRow, ...]:
    with database.snapshot() as snapshot:
        return tuple(map(_chunk_row, snapshot.rows(sql.SELECT_CHUNKS, (page.page_id,))))


def _chunk_row(row: tuple[Any, ...]) -> ChunkRow:
    values = dict(zip(ChunkRow.fields, row, strict=True))
    for field in ("section_path", "heading_path", "breadcrumb"):
        values[field] = parse_names(values[field])
    return ChunkRow(**values)
