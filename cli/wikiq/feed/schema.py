"""The tables of a PostgreSQL schema that holds wikis, and which public view each of them repeats.

A table has the columns of its view but those that its reader computes (`wikiq.index.postgres.views`), and
`wiki_id` before them. Texts are byte for byte those of the index; NUL, which PostgreSQL has in no text, is
U+FFFD. Everything sorts by code point (COLLATE "C"), as in SQLite.
"""

from __future__ import annotations

from indexerd.contract.file import COLUMNS
from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_INTEGERS: Final = frozenset({
    "page_id", "sections", "section_rowid", "ordinal", "level", "start_line", "end_line", "part", "parts",
    "tokens", "line", "page_count", "f", "length",
})  # fmt: skip
_LARGE: Final = frozenset({"size", "generation", "mtime_ns", "since_generation"})
_TRUTHS: Final = frozenset({"external", "ambiguous", "is_dir"})
_PATHS: Final = frozenset({"heading_path", "section_path"})
# What the reader's views compute from other columns.
_DERIVED: Final = {
    "v1_sections": {"path_text"},
    "v1_chunks": {"slug", "embed_text", "source_text", "breadcrumb", "generation"},
}


class Table(Record):
    """A table that repeats the rows of a view."""

    name: str
    view: str
    columns: tuple[str, ...]

    @property
    def is_of_pages(self) -> bool:
        """Tell whether each row belongs to a page."""
        return "page_id" in self.columns

    @property
    def key(self) -> str:
        """The column by which rows are replaced: those of a page together, but each section by itself."""
        return "section_rowid" if self.name == "section" else "page_id"

    @property
    def paths(self) -> tuple[int, ...]:
        """The places of columns that are arrays of headings."""
        return tuple(place for place, column in enumerate(self.columns) if column in _PATHS)

    @property
    def truths(self) -> tuple[int, ...]:
        """The places of columns that are true or false."""
        return tuple(place for place, column in enumerate(self.columns) if column in _TRUTHS)


def _table(name: str, view: str) -> Table:
    left_out = _DERIVED.get(view, set())
    return Table(name=name, view=view, columns=tuple(c for c in COLUMNS[view] if c not in left_out))


PAGE: Final = _table("page", "v1_pages")
SECTION: Final = _table("section", "v1_sections")
LINK: Final = _table("link", "v1_links")
CHANGE: Final = _table("change", "v1_changes")
# With the rows of a page; `page` and `section` have columns of their own besides.
OF_PAGES: Final = (
    LINK,
    _table("chunk", "v1_chunks"),
    _table("page_topic", "v1_page_topics"),
    _table("mention", "v1_mentions"),
    _table("source", "v1_sources"),
    _table("alias", "v1_aliases"),
    _table("name", "v1_names"),
)
# Few rows, compared as a whole.
WHOLE: Final = (
    _table("topic", "v1_topics"),
    _table("topic_parent", "v1_topic_parents"),
    _table("topic_tree", "v1_topic_tree"),
    _table("diagnostic", "v1_diagnostics"),
)
# How many words a page has in each full text, how many sections with bigrams, and how many of its words stand
# in titles and headings: the totals of bm25 and of BM25F.
COUNTS: Final = (
    "word_count", "piece_section_count", "piece_word_count", "name_word_count",
    "heading_word_count", "heading_piece_count",
)  # fmt: skip
# Beside the columns of their views: what row-level policies go by, and the words of a section as they are
# indexed, a column a line, each word with blanks around it.
EXTRA: Final = {"page": ("topics", *COUNTS), "section": ("words", "pieces")}
# The words of a page's names: no view has them.
NAME_POSTING: Final = Table(name="name_posting", view="", columns=("page_id", "term", "f", "length"))
ROWS_OF_PAGES: Final = (PAGE, SECTION, *OF_PAGES, NAME_POSTING)
ALL: Final = (*ROWS_OF_PAGES, *WHOLE, CHANGE)


def columns_of(table: Table) -> tuple[str, ...]:
    """The columns of a table after `wiki_id`."""
    return (*table.columns, *EXTRA.get(table.name, ()))


def type_of(column: str) -> str:
    """The type of a column."""
    if column in _INTEGERS or column in COUNTS:
        return "integer"
    if column in _LARGE:
        return "bigint"
    if column in _TRUTHS:
        return "boolean"
    return 'text[] COLLATE "C"' if column in _PATHS or column == "topics" else 'text COLLATE "C"'


_POSTINGS: Final = (
    """CREATE TABLE {tables}.wiki(
        wiki_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        format integer NOT NULL,
        index_id text COLLATE "C" NOT NULL,
        generation bigint NOT NULL,
        changes_floor bigint NOT NULL,
        meta text NOT NULL,
        sections bigint NOT NULL,
        words bigint NOT NULL,
        piece_sections bigint NOT NULL,
        piece_words bigint NOT NULL,
        name_words bigint NOT NULL,
        heading_words bigint NOT NULL,
        heading_pieces bigint NOT NULL,
        seen_at timestamptz NOT NULL,
        note text NOT NULL)""",
    # df: the sections that hold the term. is_piece: it is of the bigram table.
    """CREATE TABLE {tables}.term(
        wiki_id integer NOT NULL,
        is_piece boolean NOT NULL,
        term text COLLATE "C" NOT NULL,
        term_id integer GENERATED BY DEFAULT AS IDENTITY,
        df integer NOT NULL,
        PRIMARY KEY(wiki_id, is_piece, term))""",
    "CREATE INDEX term_number ON {tables}.term(wiki_id, term_id)",
    # f: how often, weighted by column (bm25's weights); length: words of the section.
    """CREATE TABLE {tables}.posting(
        wiki_id integer NOT NULL,
        term_id integer NOT NULL,
        page_id integer NOT NULL,
        section_rowid integer NOT NULL,
        f integer NOT NULL,
        length integer NOT NULL)""",
    """CREATE INDEX posting_term ON {tables}.posting(wiki_id, term_id, section_rowid)
        INCLUDE (page_id, f, length)""",
    "CREATE INDEX name_posting_term ON {tables}.name_posting(wiki_id, term)",
)
_KEYS: Final = {
    "page": ("UNIQUE(wiki_id, page_id)", "UNIQUE(wiki_id, slug)", "UNIQUE(wiki_id, path)"),
    "section": ("UNIQUE(wiki_id, section_rowid)",),
}
_INDEXES: Final = (
    "CREATE INDEX section_heading_path ON {tables}.section USING gin(heading_path)",
    "CREATE INDEX link_target ON {tables}.link(wiki_id, target_slug)",
    "CREATE INDEX name_key ON {tables}.name(wiki_id, key)",
    "CREATE INDEX page_topic_topic ON {tables}.page_topic(wiki_id, topic)",
    "CREATE INDEX mention_path ON {tables}.mention(wiki_id, path)",
    "CREATE INDEX change_generation ON {tables}.change(wiki_id, generation)",
)


def ddl(tables: str) -> list[str]:
    """The statements that make the tables in a schema."""
    made = ["CREATE SCHEMA IF NOT EXISTS {tables}"]
    for table in ALL:
        columns = columns_of(table)
        lines = ["wiki_id integer NOT NULL", *(f"{column} {type_of(column)}" for column in columns)]
        lines += _KEYS.get(table.name, ())
        body = ",\n  ".join(lines)
        made.append(f"CREATE TABLE {{tables}}.{table.name}(\n  {body})")
        if table.is_of_pages and table.name != "page":
            made.append(f"CREATE INDEX {table.name}_page ON {{tables}}.{table.name}(wiki_id, page_id)")
    return [statement.format(tables=tables) for statement in (*made, *_INDEXES, *_POSTINGS)]
