"""The words of a search command, read without click: it alone costs more than a search may take.

One table of options serves this reader and the click command. `parse_plainly` takes the shapes of
arguments it fully understands and leaves every other one (None) to click; a test holds both together.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.model.request import (
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_S,
    Source,
)

TYPE_CHECKING = False

# First words that are commands, and what the help says; each stands in `wikiq.commands.group.<name>`.
COMMANDS = {
    "backlinks": "The links of other pages that lead to a page.",
    "changes": "Pages that came, changed or went since a generation.",
    "check": "Broken links, orphans, dead mentions, and all else that is wrong with the pages.",
    "chunks": "The chunks of the pages as NDJSON, for an embedder; also what changed since a generation.",
    "eval": "How well a search finds what was judged right, on a set of judged questions.",
    "completion": "The script that completes commands, pages, sections and topics in a shell.",
    "expand": "All sections under the first two headings of a section's path.",
    "links": "The links of a page: to pages, to files, out of the wiki, and broken ones.",
    "mcp": "Serve this wiki to an agent: the Model Context Protocol on standard input and output.",
    "open": "A page in your editor, at the line of the section.",
    "outline": "The headings of a page as a tree, with lines and anchors.",
    "pages": "Pages, newest first.",
    "search": "Pages that answer a question, the best first; `wikiq WORDS...` is the same.",
    "show": "A page, or one section of it.",
    "sql": "One reading SQL statement over the index, as a table, JSON or CSV.",
    "status": "What is indexed, how old it is, and what is wrong.",
    "sync": "Wait until the index holds what is on the disk now.",
    "topics": "Topics with their pages counted.",
}

FLAG, VALUE, MANY, COUNT, SECONDS = "flag", "value", "many", "count", "seconds"


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
    ("--topic", MANY, "TOPIC", "Only pages with this topic; repeated, all must hold."),
    ("--under", MANY, "TOPIC", "Only pages with this topic or one below it."),
    ("--not-topic", MANY, "TOPIC", "Only pages without this topic."),
    ("--mentions", MANY, "PATH", "Only pages that speak of this file, or folder with a slash at its end."),
    ("--path", MANY, "GLOB", "Only pages whose path fits, or lies in this folder; repeated, one must fit."),
    (
        "--since",
        VALUE,
        "DATE",
        "Only pages updated since: 2026-07-14, 2026-07-14T09:30, or an age: 36h, 7d, 2w.",
    ),
    ("--until", VALUE, "DATE", "Only pages updated until; written like --since, and a day is meant whole."),
    ("--links-to", MANY, "PAGE", "Only pages that link to this one."),
    ("--linked-by", MANY, "PAGE", "Only pages that this one links to."),
)
INDEX = _table(
    ("--db", VALUE, "FILE", "The index to ask (also WIKIQ_DB)."),
    ("--wiki", VALUE, "NAME", "The wiki to ask, by its name or its folder."),
    ("--fresh", FLAG, "", "Wait until the index holds what is on the disk now; exit status 3 if it cannot."),
    ("--timeout", SECONDS, "SECONDS", "The longest wait of --fresh (5)."),
)
FORMS = _table(
    ("--json", FLAG, "", "One JSON document."),
    ("--ndjson", FLAG, "", "One JSON document a line, one line a row."),
    ("--format", VALUE, "TEMPLATE", "A line a row, like '{path}:{line} {title}'."),
)
SEARCH = FILTERS | _table(
    ("--limit", COUNT, "N", f"At most so many hits ({DEFAULT_LIMIT})."),
    ("--sections", FLAG, "", "Every section that matches, not the best one of a page."),
    ("--without", MANY, "WORD", "Leave out sections that hold this word or phrase; repeated."),
    (
        "--exact",
        FLAG,
        "",
        "Match words exactly: no prefixes, variants or spelling correction.",
    ),
    ("--prefix", FLAG, "", "Take the last word for the beginning of one."),
    ("--explain", FLAG, "", "Tell how the words were taken and what the scores are made of."),
    ("--all", FLAG, "", "Ask every index of the state folder."),
)
SEARCH = SEARCH | FORMS | INDEX


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
    limit: int = DEFAULT_LIMIT
    sections: bool = False
    without: tuple[str, ...] = ()
    exact: bool = False
    prefix: bool = False
    explain: bool = False
    all: bool = False
    json: bool = False
    ndjson: bool = False
    format: str | None = None
    db: str | None = None
    wiki: str | None = None
    fresh: bool = False
    timeout: float = DEFAULT_TIMEOUT_S

    @property
    def source(self) -> Source:
        """The index that is asked."""
        return Source(db=self.db, wiki=self.wiki, fresh=self.fresh, timeout=self.timeout)
