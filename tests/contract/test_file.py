"""The public part of the file: no view loses or changes a column, and any stock SQLite reads it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

import pytest

from indexerd.contract import file as contract
from indexerd.contract.file import COLUMNS, FULL_TEXT_COLUMNS, READER_PRAGMAS
from indexerd.store.file.schema import SCHEMA, SCHEMA_OBJECTS, VIEWS

# As they stood when the contract was first published. Columns are only ever added, at the end; this
# table is only ever added to, with another CONTRACT_MINOR.
PUBLISHED = {
    "v1_pages": "page_id slug path title title_origin summary updated_at size content_hash front_matter"
    " raw_front_matter lead sections generation",
    "v1_sections": "section_rowid page_id slug section_id ordinal level heading heading_path path_text anchor"
    " start_line end_line heading_source body",
    "v1_chunks": "chunk_key page_id slug section_id part parts kind section_path heading_path content tokens"
    " embed_text source_text breadcrumb href start_line end_line generation",
    "v1_links": "page_id slug section_id line kind target target_path fragment label target_slug external",
    "v1_topics": "slug title description page_count",
    "v1_topic_parents": "child parent",
    "v1_topic_tree": "topic under",
    "v1_page_topics": "page_id slug topic origin",
    "v1_mentions": "page_id slug path original_path is_dir origin section_id",
    "v1_sources": "page_id source_id type target title note",
    "v1_aliases": "page_id alias",
    "v1_diagnostics": "path slug kind line message since_generation",
    "v1_changes": "generation committed_at op slug path content_hash",
    "v1_changes_floor": "generation",
    "v1_scans": "started_at finished_at reason pages_seen pages_changed missed_by_events",
}


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    for statement in SCHEMA:
        connection.execute(statement)
    for pragma in READER_PRAGMAS:
        connection.execute(pragma)
    yield connection
    connection.close()


def columns_of(database: sqlite3.Connection, name: str) -> tuple[str, ...]:
    return tuple(row[0] for row in database.execute(f"SELECT * FROM {name} LIMIT 0").description)


@pytest.mark.parametrize("view", PUBLISHED)
def test_no_published_column_is_lost_moved_or_renamed(database: sqlite3.Connection, view: str) -> None:
    published = tuple(PUBLISHED[view].split())
    assert columns_of(database, view)[: len(published)] == published


@pytest.mark.parametrize("view", COLUMNS)
def test_the_contract_names_the_columns_a_view_has(database: sqlite3.Connection, view: str) -> None:
    assert columns_of(database, view) == COLUMNS[view]


def test_every_view_that_begins_like_a_public_one_is_in_the_contract(database: sqlite3.Connection) -> None:
    found = database.execute("SELECT name FROM sqlite_schema WHERE type = 'view' AND name LIKE 'v1%'")
    assert {name for (name,) in found} == COLUMNS.keys() == VIEWS.keys()


def test_the_full_text_is_asked_by_the_columns_of_the_contract(database: sqlite3.Connection) -> None:
    assert columns_of(database, "sections_fts") == FULL_TEXT_COLUMNS
    assert columns_of(database, "sections_grams") == FULL_TEXT_COLUMNS
    assert columns_of(database, "names_fts") == ("names", "title")
    assert columns_of(database, "terms") == ("term", "doc", "cnt")


def test_a_rebuild_knows_every_object_that_is_made(database: sqlite3.Connection) -> None:
    made = database.execute(
        """SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'
        AND name NOT GLOB '*_fts_*' AND name NOT GLOB '*_grams_*'"""
    )
    assert {name for (name,) in made} == set(SCHEMA_OBJECTS)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_uses_plain_functions_only(view: str) -> None:
    """JSON functions are refused in views by 3.39-3.40.1 without trusted_schema, `->>` is 3.38 (spec 2)."""
    used = set(re.findall(r"(\w+)\(", VIEWS[view].lower()))
    assert used <= {
        "cast",
        "char",
        "count",
        "from",
        "hex",
        "length",
        "lower",
        "max",
        "printf",
        "replace",
        "substr",
    }
    assert "->" not in VIEWS[view]


def test_the_numbers_of_the_contract_are_what_readers_were_told() -> None:
    assert int.from_bytes(b"WIKI", "big") == contract.APPLICATION_ID
    assert contract.CONTRACT_MAJOR == 1
