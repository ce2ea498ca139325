"""What both sides know of the file: identity, versions, columns of the public part, where it lies.

The public part is the views `v1_*`, the full-text tables and `terms`; `docs/database.md` is its
contract and a test holds the two against each other. The DDL stands in `schema`, which only the
writer loads. Standard library only: the reader imports this module. Nothing here opens a file.
"""

from __future__ import annotations

# The name is what type checkers go by: importing typing costs a search as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

APPLICATION_ID: Final = 0x57494B49  # "WIKI"
SCHEMA_VERSION: Final = 2  # shape of the private tables, `user_version`; another one: rebuild
PROJECTION_VERSION: Final = 2  # what the rows mean; another one: every page is projected anew
TERMS_VERSION: Final = 1  # what is fed to `sections_grams`; another one: it is filled anew
CONTRACT_MAJOR: Final = 1  # readers refuse another one
CONTRACT_MINOR: Final = 1  # columns and views are only ever added

PAGE_SIZE: Final = 8192  # bytes; 2.25 x source against 2.32 x with 4096 (spec 2.3)
LONGEST_SCAN_INTERVAL_S: Final = 900.0  # between two looks of a daemon; longer silence is a fault
CHANGES_KEPT: Final = 100_000  # rows of the change feed before whole generations are trimmed


# The default categories cut Devanagari vowel signs off their letters (spec 4.2).
TOKENIZER: Final = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
FULL_TEXT_COLUMNS: Final = ("title", "ancestors", "heading", "body")

META_KEYS: Final = (
    "contract",  # "major.minor" of the public part
    "index_id",  # random; generations and row ids mean something within one only
    "generation",  # of the last commit that changed public rows
    "committed_at",  # when that was; NULL before the first
    "projection_version",  # under which the last complete scan left every page
    "terms_version",
    "root",
    "name",
    "created_at",
    "building",  # 1 until the first complete scan is in, then 0
    "writer",
    "host",  # of the machine it was last opened on for writing; not in an older index
    "changes_floor",  # the newest generation that was trimmed off the change feed
    "clean",  # 1 when the writer closed it; the writer's own
    "objects",  # tables and views that a rebuild drops; the writer's own
    "root_id",  # device, inode and file system of the root at the last complete scan; the writer's own
)

# Columns of the public views, in order; only ever added to (spec 2.2).
COLUMNS: Final = {
    "v1_pages": (
        "page_id", "slug", "path", "title", "title_origin", "summary", "updated_at", "size",
        "content_hash", "front_matter", "raw_front_matter", "lead", "sections", "generation", "mtime_ns",
    ),
    "v1_sections": (
        "section_rowid", "page_id", "slug", "section_id", "ordinal", "level", "heading",
        "heading_path", "path_text", "anchor", "start_line", "end_line", "heading_source", "body",
        "section_path",
    ),
    "v1_section_pages": ("section_rowid", "page_id"),
    "v1_chunks": (
        "chunk_key", "page_id", "slug", "section_id", "part", "parts", "kind", "section_path",
        "heading_path", "content", "tokens", "embed_text", "source_text", "breadcrumb", "href",
        "start_line", "end_line", "generation",
    ),
    "v1_links": (
        "page_id", "slug", "section_id", "line", "kind", "target", "target_path", "fragment",
        "label", "target_slug", "external", "how", "ambiguous",
    ),
    "v1_topics": ("slug", "title", "description", "page_count"),
    "v1_topic_parents": ("child", "parent"),
    "v1_topic_tree": ("topic", "under"),
    "v1_page_topics": ("page_id", "slug", "topic", "origin"),
    "v1_mentions": ("page_id", "slug", "path", "original_path", "is_dir", "origin", "section_id"),
    "v1_sources": ("page_id", "source_id", "type", "target", "title", "note"),
    "v1_aliases": ("page_id", "alias"),
    "v1_names": ("page_id", "slug", "key", "kind"),
    "v1_diagnostics": ("path", "slug", "kind", "line", "message", "since_generation"),
    "v1_changes": ("generation", "committed_at", "op", "slug", "path", "content_hash"),
    "v1_changes_floor": ("generation",),
    "v1_scans": (
        "started_at", "finished_at", "reason", "pages_seen", "pages_changed", "missed_by_events",
    ),
}  # fmt: skip

# Set on every connection of a reader, after opening with mode=ro.
READER_PRAGMAS: Final = (
    "PRAGMA query_only = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
