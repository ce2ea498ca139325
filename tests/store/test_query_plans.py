"""What a documented look-up costs: it goes by an index, whatever the size of the wiki."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexerd.contract.file import READER_PRAGMAS
from tests.store.wiki import bring, open_store

LOOKUPS = {
    "a section by its row": "SELECT * FROM v1_sections WHERE section_rowid = 5",
    "the sections of a page": "SELECT * FROM v1_sections WHERE page_id = 5 ORDER BY ordinal",
    "the sections of a slug": "SELECT * FROM v1_sections WHERE slug = '5' ORDER BY ordinal",
    "one section": "SELECT * FROM v1_sections WHERE slug = '5' AND ordinal = 1",
    "the page of a section": "SELECT page_id FROM v1_section_pages WHERE section_rowid = 5",
    "the chunks of a page": "SELECT * FROM v1_chunks WHERE page_id = 5 ORDER BY section_id, part",
    "the links of a page": "SELECT * FROM v1_links WHERE page_id = 5",
    "the links of a slug": "SELECT * FROM v1_links WHERE slug = '5'",
    "a page by path": "SELECT * FROM v1_pages WHERE path = '5.md'",
    "a page by slug": "SELECT * FROM v1_pages WHERE slug = '5'",
    "pages by name": "SELECT * FROM v1_names WHERE key = '5'",
    "the aliases of a page": "SELECT * FROM v1_aliases WHERE page_id = 5",
    "the topics of a page": "SELECT * FROM v1_page_topics WHERE page_id = 5",
    "the pages of a topic": "SELECT * FROM v1_page_topics WHERE topic = 't'",
    "the mentions of a file": "SELECT * FROM v1_mentions WHERE path = 'src/a.py'",
    "what changed": "SELECT * FROM v1_changes WHERE generation > 3",
    "the chunks that changed": """SELECT * FROM v1_chunks
        WHERE page_id IN (SELECT page_id FROM v1_pages WHERE generation > 3)""",
    "the newest pages": "SELECT slug FROM v1_pages ORDER BY updated_at DESC LIMIT 20",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wiki")
    with open_store(folder) as store:
        bring(
            store,
            {f"{number}.md": f"# {number}\n\n[next]({number + 1}.md) `src/a.py` #t\n" for number in range(9)},
        )
    return folder / "index.db"


@pytest.fixture
def reader(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for pragma in READER_PRAGMAS:
        connection.execute(pragma)
    yield connection
    connection.close()


def plan(reader: sqlite3.Connection, query: str) -> list[str]:
    return [row[3] for row in reader.execute(f"EXPLAIN QUERY PLAN {query}")]


@pytest.mark.parametrize("query", LOOKUPS.values(), ids=LOOKUPS)
def test_a_lookup_scans_no_table(query: str, reader: sqlite3.Connection) -> None:
    by_index = "SCAN page USING INDEX page_updated"
    scans = [
        step
        for step in plan(reader, query)
        if step.startswith("SCAN") and step not in ("SCAN v1_links", by_index)
    ]
    assert scans == []
    reader.execute(query).fetchall()


def test_backlinks_go_from_the_page_to_its_targets_to_their_links(reader: sqlite3.Connection) -> None:
    """The half of links without a page is cut off by `NULL = ?` before it reads a row."""
    query = "SELECT slug FROM v1_links WHERE target_slug = '5'"
    steps = plan(reader, query)
    first_half = steps[: steps.index("UNION ALL")]
    assert [step for step in first_half if step.startswith("SCAN")] == []
    assert any("link_target" in step for step in first_half)
    assert reader.execute(query).fetchall() == [("4",)]
    work = []
    reader.set_progress_handler(lambda: work.append(1), 100)
    reader.execute(query).fetchall()
    reader.set_progress_handler(None, 0)
    assert len(work) <= 5
