"""From a plan's pages to row changes: what differs from the rows in the index, and nothing else.

Reads rows, gathers changes, writes none. Says which pages changed for a reader, which is what moves
the generation and fills the change feed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw

from indexerd.contract.moments import time_text
from indexerd.core.model import Page, Section
from indexerd.core.page.link_steps import sought_by
from indexerd.core.sync.model import Touch, Upsert
from indexerd.store.file.select import select_rows
from indexerd.store.read.fetch import StoredPage, fetch_names, fetch_page, fetch_page_row
from indexerd.store.read.rows import (
    ChunkRow,
    LinkRow,
    NameRow,
    PageRow,
    SectionRow,
    addresses_of,
    aliases_of,
    chunk_row,
    content_texts,
    link_row,
    name_rows,
    page_row,
    section_row,
)
from indexerd.store.write.fulltext import grams_row
from indexerd.store.write.row_changes import RowChanges
from indexerd.store.write.section_matching import match_sections


@dataclass(slots=True)
class PageGatherer:
    """Gathers the row changes of a plan's pages, which take effect at `generation`.

    `before`: slugs that changed pages had, with their paths. `after`: slugs of changed pages, with
    path and hash. `public`: some row of a view changed, be it without a change entry.
    """

    connection: apsw.Connection
    projection: str
    generation: int
    changes: RowChanges = field(default_factory=RowChanges)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    public: bool = False
    touched: int = 0
    _next_page: int = 0
    _next_section: int = 0

    def __post_init__(self) -> None:
        found = dict(select_rows(self.connection, "SELECT name, seq FROM sqlite_sequence"))
        self._next_page = found.get("page", 0) + 1
        self._next_section = found.get("section", 0) + 1

    def delete(self, path: str) -> None:
        """Delete the page at `path` with all its rows, if there is one."""
        stored = fetch_page(self.connection, path)
        if stored is None:
            return
        changes, key = self.changes, (stored.page_id,)
        self.before[stored.row.slug] = path
        for rowid, row in zip(stored.section_ids, stored.sections, strict=True):
            self._drop_section(stored, rowid, row)
        changes.name_texts[stored.page_id] = None
        changes.pages_deleted.append(key)
        changes.places_deleted += [(stored.page_id, ordinal) for ordinal in range(len(stored.lines))]
        changes.names_deleted += [(stored.page_id, *row[:3]) for row in stored.names]
        changes.topics_released.update(topic for topic, _ in stored.topics)
        changes.topics_cleared.append(key)
        changes.mentions_cleared.append(key)
        changes.sources_cleared.append(key)

    def keep(self, path: str, *, slug: str | None, touch: Touch | None) -> None:
        """Keep the page at `path` and its rows; its slug (from its neighbours) or its stamp may change.

        Of a touched file, size and hash stay.
        """
        found = fetch_page_row(self.connection, path)
        if found is None:
            return
        page_id, old = found
        row = old
        if slug is not None and slug != old.slug:
            row = row._replace(slug=slug, generation=self.generation)
            names = fetch_names(self.connection, page_id)
            self._change_names(
                page_id, names, name_rows(path, slug, old.title, aliases_of(names), addresses_of(names))
            )
        if touch is not None:
            stamp = touch.stamp
            touched = row._replace(
                device=stamp.device,
                inode=stamp.inode,
                mtime_ns=stamp.mtime_ns,
                ctime_ns=stamp.ctime_ns,
                racy=int(touch.racy),
                updated_at=old.updated or time_text(stamp.mtime_ns),
            )
            self.touched += touched != row
            row = touched
        self._change_row(page_id, old, row)

    def upsert(self, upsert: Upsert) -> None:
        """Bring the page to its new projection; of an existing page only what differs is written."""
        page = upsert.page
        row = page_row(upsert, self.projection, self.generation)
        names = name_rows(page.path, upsert.slug, page.title, page.aliases, page.addresses)
        stored = fetch_page(self.connection, page.path)
        page_id = self._insert_page(row) if stored is None else stored.page_id
        self._change_names(page_id, stored.names if stored else (), names)
        changed = self._change_sections(page_id, stored, row, page.sections)
        changed |= self._change_lists(page_id, stored, page)
        if stored is None:
            self._note(None, row)
        elif changed or stored.row.content() != row.content():
            self._change_row(page_id, stored.row, row)
            if stored.row.content() == row.content():
                self._note(stored.row, row)
        else:
            self._change_row(page_id, stored.row, row._replace(generation=stored.row.generation))

    def _insert_page(self, row: PageRow) -> int:
        page_id = self._next_page
        self._next_page += 1
        self.changes.pages_inserted.append((page_id, *row))
        self.changes.name_texts_inserted.append((page_id, row.names, row.title))
        return page_id

    def _change_row(self, page_id: int, old: PageRow, row: PageRow) -> None:
        if row == old:
            return
        self.changes.pages_updated.append((*row, page_id))
        if row.slug != old.slug:
            self.changes.slugs_vacated.append((page_id,))
        if (row.names, row.title) != (old.names, old.title):
            self.changes.name_texts[page_id] = (row.names, row.title)
        self.public |= (row.updated_at, row.mtime_ns) != (old.updated_at, old.mtime_ns)
        if row.content() != old.content():
            self._note(old, row)

    def _note(self, old: PageRow | None, row: PageRow) -> None:
        """A reader sees this page change."""
        if old is not None:
            self.before[old.slug] = old.path
        self.after[row.slug] = row.path, row.content_hash

    def _change_names(self, page_id: int, old: Sequence[NameRow], new: Sequence[NameRow]) -> None:
        if tuple(old) == tuple(new):
            return
        before, after = set(old), set(new)
        self.changes.names_deleted += [(page_id, *row[:3]) for row in old if row not in after]
        self.changes.names_inserted += [(page_id, *row) for row in new if row not in before]

    def _change_sections(
        self, page_id: int, stored: StoredPage | None, page: PageRow, sections: Sequence[Section]
    ) -> bool:
        """Sections with their places, chunks and links; whether any of them changed."""
        old_rows = stored.sections if stored else []
        rows = [section_row(section) for section in sections]
        matched = match_sections(old_rows, rows)
        kept = set(matched)
        gone = [index for index in range(len(old_rows)) if index not in kept]
        changed = bool(gone)
        if stored is not None:
            for index in gone:
                self._drop_section(stored, stored.section_ids[index], old_rows[index])
        places = []
        for ordinal, (section, row, of_old) in enumerate(zip(sections, rows, matched, strict=True)):
            if stored is None or of_old is None:
                rowid = self._add_section(page_id, page, row, section)
                changed = True
            else:
                rowid = stored.section_ids[of_old]
                changed |= self._change_section(stored, of_old, page, row, section)
            places.append((page_id, ordinal, rowid, section.start_line, section.end_line))
        return self._change_places(page_id, stored, places) or changed

    def _change_places(
        self, page_id: int, stored: StoredPage | None, places: Sequence[tuple[int, int, int, int, int]]
    ) -> bool:
        if stored is None:
            self.changes.places_written += places
            return True
        old = [
            (page_id, ordinal, rowid, *lines)
            for ordinal, (rowid, lines) in enumerate(zip(stored.section_ids, stored.lines, strict=True))
        ]
        known = set(old)
        written = [place for place in places if place not in known]
        gone = [(page_id, ordinal) for ordinal in range(len(places), len(old))]
        self.changes.places_written += written
        self.changes.places_deleted += gone
        return bool(written or gone)

    def _add_section(self, page_id: int, page: PageRow, row: SectionRow, section: Section) -> int:
        rowid = self._next_section
        self._next_section += 1
        changes = self.changes
        texts = page.title, row.ancestors, row.heading, row.body
        changes.sections_inserted.append((rowid, page_id, *row))
        changes.full_text_inserted.append((rowid, *texts))
        if (grams := grams_row(rowid, texts)) is not None:
            changes.grams_inserted.append(grams)
        if section.chunks:
            changes.chunks_inserted += [(rowid, *chunk_row(chunk)) for chunk in section.chunks]
        if section.links:
            self._add_links(rowid, page, section)
        return rowid

    def _change_section(
        self, stored: StoredPage, index: int, page: PageRow, row: SectionRow, section: Section
    ) -> bool:
        changes = self.changes
        rowid, old = stored.section_ids[index], stored.sections[index]
        old_texts, texts = content_texts(stored.row.title, old), content_texts(page.title, row)
        if old_texts != texts:
            changes.full_text[rowid] = texts
            old_grams, grams = grams_row(rowid, old_texts), grams_row(rowid, texts)
            if old_grams != grams:
                changes.grams_deleted += [old_grams] if old_grams else []
                changes.grams_inserted += [grams] if grams else []
        if old != row:
            changes.sections_updated.append((*row, rowid))
        chunks: list[ChunkRow] = [chunk_row(chunk) for chunk in section.chunks]
        links: list[LinkRow] = [link_row(link) for link in section.links]
        other_chunks = chunks != stored.chunks.get(rowid, [])
        other_links = links != stored.links.get(rowid, [])
        if other_chunks:
            changes.chunks_cleared.append((rowid,))
            changes.chunks_inserted += [(rowid, *chunk) for chunk in chunks]
        if other_links:
            changes.links_cleared.append((rowid,))
            changes.targets_released.update(stored.target_ids.get(rowid, ()))
            self._add_links(rowid, page, section)
        return old != row or other_chunks or other_links

    def _add_links(self, rowid: int, page: PageRow, section: Section) -> None:
        folder = page.path.rpartition("/")[0]
        self.changes.links_inserted += [
            (rowid, nth, *link_row(link)[:-1], sought_by(link, folder))
            for nth, link in enumerate(section.links)
        ]

    def _drop_section(self, stored: StoredPage, rowid: int, row: SectionRow) -> None:
        changes = self.changes
        changes.full_text[rowid] = None
        if (grams := grams_row(rowid, content_texts(stored.row.title, row))) is not None:
            changes.grams_deleted.append(grams)
        changes.sections_deleted.append((rowid,))
        if rowid in stored.chunks:
            changes.chunks_cleared.append((rowid,))
        if rowid in stored.links:
            changes.links_cleared.append((rowid,))
            changes.targets_released.update(stored.target_ids.get(rowid, ()))

    def _change_lists(self, page_id: int, stored: StoredPage | None, page: Page) -> bool:
        """Topics, mentions and sources: few rows a page, so each list is rewritten where it differs."""
        changes, key = self.changes, (page_id,)
        topics = sorted({(use.topic, use.origin) for use in page.topics})
        mentions = [
            (mention.path, mention.original_path, int(mention.is_dir), mention.origin, mention.ordinal)
            for mention in page.mentions
        ]
        sources = [
            (source.source_id, source.type, source.target, source.title, source.note)
            for source in page.sources
        ]
        other_topics = topics != (stored.topics if stored else [])
        other_mentions = mentions != (stored.mentions if stored else [])
        other_sources = sources != (stored.sources if stored else [])
        if other_topics:
            changes.topics_released.update(topic for topic, _ in (stored.topics if stored else ()))
            changes.topics_cleared += [key] if stored else []
            changes.topics_inserted += [(page_id, *topic) for topic in topics]
        if other_mentions:
            changes.mentions_cleared += [key] if stored else []
            changes.mentions_inserted += _numbered(page_id, mentions)
        if other_sources:
            changes.sources_cleared += [key] if stored else []
            changes.sources_inserted += _numbered(page_id, sources)
        return other_topics or other_mentions or other_sources


def _numbered(page_id: int, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(page_id, nth, *row) for nth, row in enumerate(rows)]
