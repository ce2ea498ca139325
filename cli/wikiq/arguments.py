"""The words of a search command, read without click: it alone costs more than a search may take.

One table of options serves this reader and the click command. `parse_plainly` takes the shapes of
arguments it fully understands and leaves every other one (None) to click; a test holds both together.
"""

from __future__ import annotations

from wikiq.errors import UsageError
from wikiq.record import Record
from wikiq.request import (
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_S,
    LARGEST_LIMIT,
    LONGEST_TIMEOUT_S,
    Filters,
    SearchRequest,
    Source,
    bindable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

# First words that are commands, and what the help says; each stands in `wikiq.commands.<name>`.
COMMANDS = {
    "backlinks": "The links of other pages that lead to a page.",
    "changes": "Pages that came, changed or went since a generation.",
    "check": "Broken links, orphans, dead mentions, and all else that is wrong with the pages.",
    "chunks": "The chunks of the pages as NDJSON, for an embedder; also what changed since a generation.",
    "eval": "How well a search finds what was judged right, on a set of judged questions.",
    "completion": "The script that completes commands, pages, sections and topics in a shell.",
    "expand": "All sections under the first two headings of a section's path.",
    "links": "The links of a page: to pages, to files, out of the wiki, and broken ones.",
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
LONGEST_COMMAND = 2  # words of one that is no search: its name and a page, a topic or a statement
_OTHERS = ("--help", "--version")

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
    ("--exact", FLAG, "", "Neither try words as prefixes nor correct them."),
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


def parse_plainly(arguments: Sequence[str]) -> SearchArguments | None:
    """Read the arguments of a search, None where click has to say what they mean.

    An option that is not in the table is a word, and so is all that does not begin with `--`.
    """
    words: list[str] = []
    values: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        name, sign, value = argument.partition("=")
        option = SEARCH.get(name)
        if argument in ("--", "--help"):
            return None
        if option is None:
            words.append(argument)
        elif option.kind == FLAG:
            if sign:
                return None
            values[option.field] = True
        else:
            value = value if sign else next(rest, "")
            if not value or value.startswith("-") or not _keep(values, option, value):
                return None
    return SearchArguments(words=tuple(words), **values)


def _keep(values: dict[str, Any], option: Option, value: str) -> bool:
    if option.kind == MANY:
        values[option.field] = (*values.get(option.field, ()), value)
    elif option.kind == COUNT:
        # A sign, a digit of another script, or more digits than the limit has: click's int decides.
        is_plain = value.isascii() and value.isdecimal() and len(value) <= len(str(LARGEST_LIMIT))
        if not is_plain or not 1 <= int(value) <= LARGEST_LIMIT:
            return False
        values[option.field] = int(value)
    elif option.kind == SECONDS:
        is_plain = value.isascii() and value.replace(".", "", 1).isdecimal()
        if not is_plain or float(value) > LONGEST_TIMEOUT_S:
            return False
        values[option.field] = float(value)
    else:
        values[option.field] = value
    return True


def first_word(arguments: Sequence[str]) -> int | None:
    """Find where the first argument stands that is neither a known option nor the value of one."""
    position = 0
    while position < len(arguments):
        name, sign, _ = arguments[position].partition("=")
        option = SEARCH.get(name)
        if option is None:
            return position
        position += 1 if sign or option.kind == FLAG else 2
    return None


def as_command(arguments: Sequence[str]) -> list[str]:
    """Put the command first; words that begin with none are a search."""
    if arguments[-1:] == ["-h"] and (
        len(arguments) == 1 or (len(arguments) == 2 and arguments[0] in COMMANDS)
    ):
        return [*arguments[:-1], "--help"]  # alone it is no word that anybody looks for
    place = first_word(arguments)
    if not arguments or (place is not None and arguments[place] in _OTHERS):
        return list(arguments)
    if place is not None and arguments[place] in COMMANDS:
        return [arguments[place], *arguments[:place], *arguments[place + 1 :]]
    return ["search", *arguments]


def meant_commands(arguments: Sequence[str]) -> list[str]:
    """Give the commands that the first word of a search without `search` misses by one edit.

    None but `search` takes more than one word after it, so `how to …` did not mean `show`.
    """
    place = first_word(arguments)
    if place is None or arguments[place] in COMMANDS:
        return []
    near = [command for command in COMMANDS if is_one_edit_away(arguments[place], command)]
    parsed = parse_plainly(arguments) if near else None
    is_long = parsed is not None and len(parsed.words) > LONGEST_COMMAND
    return [command for command in near if command == "search" or not is_long]


def unknown_options(arguments: Sequence[str]) -> list[str]:
    """Give the words of a search that look like options and are none, without their values."""
    found: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            break
        name, sign, _ = argument.partition("=")
        option = SEARCH.get(name)
        if option is None:
            found += [name] if name.startswith("--") else []
        elif option.kind != FLAG and not sign:
            next(rest, None)
    return found


def build_filters(arguments: SearchArguments, now: datetime) -> Filters:
    """Turn the typed filters into conditions; `now` is the moment an age counts from."""
    since = until = None
    if arguments.since is not None or arguments.until is not None:
        from wikiq.dates import parse_since, parse_until

        since = parse_since(arguments.since, now) if arguments.since is not None else None
        until = parse_until(arguments.until, now) if arguments.until is not None else None
    return Filters(
        topics=_clean(arguments.topic),
        under=_clean(arguments.under),
        not_topics=_clean(arguments.not_topic),
        mentions=_clean(arguments.mentions),
        paths=_clean(arguments.path),
        since=since,
        until=until,
        links_to=_clean(arguments.links_to),
        linked_by=_clean(arguments.linked_by),
    )


def build_request(arguments: SearchArguments, now: datetime) -> SearchRequest:
    """Turn typed arguments into a question. Raises UsageError on a bad date."""
    return SearchRequest(
        query=" ".join(_clean(arguments.words)),
        filters=build_filters(arguments, now),
        limit=arguments.limit,
        sections=arguments.sections,
        exact=arguments.exact,
        prefix=arguments.prefix,
        explain=arguments.explain,
    )


def check_form(*, json: bool, ndjson: bool, template: str | None) -> None:
    """Refuse more than one form of output."""
    chosen = [
        name
        for name, given in (("--json", json), ("--ndjson", ndjson), ("--format", template is not None))
        if given
    ]
    if len(chosen) > 1:
        raise UsageError(" ".join(chosen), "cannot be combined", "give one of them")


def _clean(typed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(bindable, typed))


def is_one_edit_away(word: str, other: str) -> bool:
    """Tell whether one letter added, left out, replaced or swapped with its neighbour makes them equal."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    shorter, longer = sorted((word, other), key=len)
    at = 0
    while at < len(shorter) and shorter[at] == longer[at]:
        at += 1
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    swapped = shorter[at : at + 2] == longer[at + 1 : at + 2] + longer[at : at + 1]
    return shorter[at + 1 :] == longer[at + 1 :] or (swapped and shorter[at + 2 :] == longer[at + 2 :])
