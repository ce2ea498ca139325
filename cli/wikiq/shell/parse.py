"""Reads the arguments of a search without click, and puts every other command line in order.

What is not fully understood here is left to click (spec 5.6); a test proves that the two agree. Loaded at
every start, so it imports nothing slow.
"""

from __future__ import annotations

from indexerd.contract.suggestions import edit_distance, nearest
from wikiq.model.request import (
    DEFAULT_LIMIT,
    LARGEST_LIMIT,
    LONGEST_TIMEOUT_S,
    Filters,
    SearchRequest,
    Source,
    bindable,
)
from wikiq.shell.options import AGE, COMMANDS, COUNT, FLAG, MANY, SEARCH, SECONDS, SearchArguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from wikiq.shell.options import Option

LONGEST_COMMAND = 2  # words of one that is no search: its name and a page, a topic or a statement
# Words that a command takes after its name; the others are counted by nobody.
MOST_WORDS = {
    **dict.fromkeys(("changes", "check", "chunks", "pages", "serve", "status", "sync"), 0),
    **dict.fromkeys(("backlinks", "expand", "links", "open", "outline", "show", "topics"), 1),
    "sql": 1,
}
_OTHERS = ("--help", "--version")


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
    elif option.kind in (SECONDS, AGE):
        is_plain = value.isascii() and value.replace(".", "", 1).isdecimal()
        if not is_plain or (option.kind == SECONDS and float(value) > LONGEST_TIMEOUT_S):
            return False
        values[option.field] = float(value)
    else:
        values[option.field] = value
    return True


def plain_source(arguments: Sequence[str]) -> Source | None:
    """Read the arguments of a command that takes only an index, None where click has to look at them."""
    values: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, sign, value = argument.partition("=")
        value = value if sign else next(rest, "")
        if name not in ("--db", "--wiki") or name[2:] in values or not value or value.startswith("-"):
            return None
        values[name[2:]] = value
    return Source(db=values.get("db"), wiki=values.get("wiki"))


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


def is_rather_a_search(words: Sequence[str]) -> bool:
    """Tell whether a command line is a question that begins like a command: it has a word too many for it.

    Options that a search does not have are the command's, whatever else stands there.
    """
    most = MOST_WORDS.get(words[0]) if words else None
    if most is None:
        return False
    parsed = parse_plainly(words[1:])
    if parsed is None or any(word.startswith("-") for word in parsed.words):
        return False
    if words[0] == "sql":
        return bool(parsed.words) and parsed.words[0].isalnum()  # one word is no statement
    return len(parsed.words) > most


def meant_commands(arguments: Sequence[str]) -> list[str]:
    """Give the commands that the first word of a search without `search` misses by one edit.

    None but `search` takes more than one word after it, so `how to …` did not mean `show`.
    """
    place = first_word(arguments)
    if place is None or arguments[place] in COMMANDS:
        return []
    near = [command for command in COMMANDS if edit_distance(arguments[place], command, 1) == 1]
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
        from wikiq.query.dates import parse_since, parse_until

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
        limit=max(arguments.limit or DEFAULT_LIMIT, arguments.open or 1),
        sections=arguments.sections,
        exact=arguments.exact,
        prefix=arguments.prefix,
        explain=arguments.explain,
        copies=arguments.copies,
        without=arguments.without,
    )


def _clean(typed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(bindable, typed))


def option_hints(arguments: Sequence[str]) -> list[str]:
    """Say of each word of a search that nearly is an option which one; the search takes it as a word."""
    return [
        f"{typed}: taken as a word to search for; the option is {' or '.join(near)}"
        for typed in dict.fromkeys(unknown_options(arguments))
        if (near := nearest(typed, SEARCH))
    ]
