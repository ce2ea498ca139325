"""The words of a search command, read without click: it alone costs more than a search may take.

One table of options serves this reader and the click command. `parse_plainly` takes the shapes of
arguments it fully understands and leaves every other one (None) to click; a test holds both together.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.model.request import (
    DEFAULT_LIMIT,
    DEFAULT_MAX_AGE_S,
    DEFAULT_TIMEOUT_S,
    Source,
)

TYPE_CHECKING = False

# First words that are commands, and what the help says; each stands in `wikiq.commands.group.<name>`.
COMMANDS = {
    "backlinks": "List links from other pages to a page.",
    "changes": "List pages added, changed or deleted since a generation.",
    "check": "Find broken links, orphan pages, mentions of missing files and other problems.",
    "chunks": "Print chunks as NDJSON for an embedder; with --since, only what changed.",
    "eval": "Measure search quality on a set of judged questions.",
    "completion": "Print a completion script for a shell: commands, pages, sections, topics.",
    "expand": "Show all sections under the same first two headings as a section.",
    "feed": "Keep a PostgreSQL database equal to the index, for many readers and for permissions.",
    "links": "List the links of a page: to pages, files and other sites, and broken ones.",
    "mcp": "Serve the wiki to an agent (Model Context Protocol on stdin and stdout).",
    "open": "Open a page in your editor, at the line of the section.",
    "outline": "Show the headings of a page as a tree, with lines and anchors.",
    "pages": "List pages, newest first.",
    "search": "Search the pages, best match first; `wikiq WORDS...` is the same.",
    "serve": "Show the wiki in a browser, on this machine; pages follow what is saved.",
    "show": "Show a page, one section or a range of lines.",
    "sql": "Run one read-only SQL statement on the index; print a table, JSON or CSV.",
    "status": "Show what is indexed, how fresh it is, and what is wrong.",
    "sync": "Wait until the index is up to date with the disk.",
    "topics": "List topics with their number of pages.",
}

FLAG, VALUE, MANY, COUNT, SECONDS, AGE = "flag", "value", "many", "count", "seconds", "age"


class Option(Record):
    """One long option: how it is read, the field it fills, and what the help says of it."""

    kind: str
    field: str
    metavar: str
    help: str


def _table(*rows: tuple[str, str, str, str]) -> dict[str, Option]:
    return {
        name: Option(kind=kind, field=name[2:].replace("-", "_"), metavar=metavar, help=text)
        for name, kind, metavar, text in rows
    }


FILTERS = _table(
    ("--topic", MANY, "TOPIC", "Only pages with this topic; repeat it to require several."),
    ("--under", MANY, "TOPIC", "Only pages with this topic or one below it."),
    ("--not-topic", MANY, "TOPIC", "Only pages without this topic."),
    (
        "--mentions",
        MANY,
        "PATH",
        "Only pages that mention this file, or folder (with a slash at its end).",
    ),
    (
        "--path",
        MANY,
        "GLOB",
        "Only pages whose path matches the glob or is in the folder; may be repeated.",
    ),
    (
        "--since",
        VALUE,
        "DATE",
        "Only pages updated at or after a date (2026-07-14, 2026-07, yesterday) or age (36h, 7d, 2w).",
    ),
    (
        "--until",
        VALUE,
        "DATE",
        "Only pages updated up to a date or age; written like --since, a day is included whole.",
    ),
    ("--links-to", MANY, "PAGE", "Only pages that link to this one."),
    ("--linked-by", MANY, "PAGE", "Only pages that this one links to."),
)
INDEX = _table(
    ("--db", VALUE, "FILE", "Read this index file, or a database that was fed (also WIKIQ_DB)."),
    ("--wiki", VALUE, "NAME", "Read this wiki, by its name or its folder."),
    ("--fresh", FLAG, "", "Wait until the index is up to date with the disk; exit status 3 if it cannot be."),
    ("--timeout", SECONDS, "SECONDS", "The longest wait of --fresh, in seconds (5)."),
    (
        "--copy",
        FLAG,
        "",
        "This index is a copy, whatever lies beside it: no daemon here brings it up to date.",
    ),
    ("--max-age", AGE, "SECONDS", "A copy is stale when its last commit is older than this (60)."),
)
FORMS = _table(
    ("--json", FLAG, "", "Print one JSON document."),
    ("--ndjson", FLAG, "", "Print NDJSON: one JSON document a line, one line a row."),
    ("--format", VALUE, "TEMPLATE", "Print a line a row from a template, like '{path}:{line} {title}'."),
)
HIT_FORMS = FORMS | _table(
    ("--vimgrep", FLAG, "", "Print lines that editors read: path:line:col: title > heading: excerpt."),
)
SEARCH = FILTERS | _table(
    ("--limit", COUNT, "N", f"Show at most N hits ({DEFAULT_LIMIT}; on a terminal as many as fit)."),
    ("--sections", FLAG, "", "Show every matching section, not only the best one of each page."),
    ("--copies", FLAG, "", "Show every copy of a section (versions, translations) as a hit of its own."),
    ("--without", MANY, "WORD", "Leave out sections that hold this word or phrase; repeated, any of them."),
    ("--exact", FLAG, "", "Match words exactly: no prefixes, variants or spelling correction."),
    ("--prefix", FLAG, "", "Treat the last word as a prefix."),
    ("--explain", FLAG, "", "Explain how each word was matched and what each score is made of."),
    ("--open", COUNT, "N", "Open the Nth hit in your editor."),
)
ALL = _table(("--all", FLAG, "", "Ask every registered wiki."))
SEARCH = SEARCH | ALL | HIT_FORMS | INDEX


class SearchArguments(Record):
    """A search as it was typed; fields are named after their options."""

    words: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    not_topic: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    links_to: tuple[str, ...] = ()
    linked_by: tuple[str, ...] = ()
    limit: int | None = None
    sections: bool = False
    copies: bool = False
    without: tuple[str, ...] = ()
    exact: bool = False
    prefix: bool = False
    explain: bool = False
    all: bool = False
    open: int | None = None
    json: bool = False
    ndjson: bool = False
    format: str | None = None
    vimgrep: bool = False
    db: str | None = None
    wiki: str | None = None
    fresh: bool = False
    timeout: float = DEFAULT_TIMEOUT_S
    copy: bool = False
    max_age: float = DEFAULT_MAX_AGE_S

    @property
    def source(self) -> Source:
        """The index that is asked."""
        return Source(
            db=self.db,
            wiki=self.wiki,
            fresh=self.fresh,
            timeout=self.timeout,
            copy=self.copy,
            max_age=self.max_age,
        )
