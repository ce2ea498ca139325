"""The documents of `--json`, byte for byte, for the addresses below /api."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime

from wikiq.answers.changes import known_changes
from wikiq.answers.check import check, only_kinds
from wikiq.answers.line_range import read_lines, split_range
from wikiq.answers.links import LinkRow, backlinks, links
from wikiq.answers.outline import outline
from wikiq.answers.pages import page, topics
from wikiq.answers.search import search
from wikiq.answers.status import status
from wikiq.errors import WikiqError
from wikiq.index.database import DEADLINE_S, Snapshot
from wikiq.index.freshness import age_of
from wikiq.model.request import LARGEST_INTEGER
from wikiq.output.hits import result_json, rows_json
from wikiq.query.names import find_page
from wikiq.web.parameters import Pairs, read_request, whole_number

Maker = Callable[[Snapshot, str, Pairs], str]

# What differs from one reading of the same state to the next.
_PASSING = re.compile(r'"(?:took_ms|age_s)": [^,}]+')


def etag_of(document: str) -> str:
    """Name a document by all of it that does not change by itself: identity, generation, stale, states."""
    return f'"{hashlib.sha256(_PASSING.sub("", document).encode()).hexdigest()[:32]}"'


def error_document(error: WikiqError) -> str:
    """What is wrong, as a document."""
    told = {"subject": error.subject, "problem": error.problem, "remedy": error.remedy}
    return json.dumps({"error": told}) + "\n"


def _search(snapshot: Snapshot, _name: str, pairs: Pairs) -> str:
    request = read_request(pairs, datetime.now().astimezone(), strict=True)
    return result_json(search(snapshot, request))


def _page(snapshot: Snapshot, name: str, _pairs: Pairs) -> str:
    if split_range(name) is not None and find_page(snapshot, name) is None:
        return result_json(read_lines(snapshot, name), age_of(snapshot))
    return result_json(page(snapshot, name), age_of(snapshot))


def _outline(snapshot: Snapshot, name: str, _pairs: Pairs) -> str:
    found = outline(snapshot, name)
    beside = {field: getattr(found, field) for field in ("slug", "title", "path", "generation")}
    return rows_json("sections", found.sections, age_of(snapshot), **beside)


def _link_maker(service: Callable[[Snapshot, str], tuple[LinkRow, ...]]) -> Maker:
    return lambda snapshot, name, _: rows_json("links", service(snapshot, name), age_of(snapshot))


def _topics(snapshot: Snapshot, name: str, _pairs: Pairs) -> str:
    return rows_json("topics", topics(snapshot, name or None), age_of(snapshot))


def _changes(snapshot: Snapshot, _name: str, pairs: Pairs) -> str:
    since = dict(pairs).get("since", "0")
    found = known_changes(snapshot, whole_number("since", since, least=0, most=LARGEST_INTEGER))
    beside = {"index_id": found.index_id, "generation": found.generation, "floor": found.floor}
    return rows_json("changes", found.rows, age_of(snapshot), **beside)


def _check(snapshot: Snapshot, _name: str, pairs: Pairs) -> str:
    kinds = [value for field, value in pairs if field == "kind"]
    is_strict = any(field == "strict" for field, _ in pairs)
    found = check(snapshot, strict=is_strict, deadline_s=DEADLINE_S)
    return result_json(only_kinds(found, kinds), age_of(snapshot))


def _status(snapshot: Snapshot, _name: str, _pairs: Pairs) -> str:
    return result_json(status(snapshot))


# What follows /api/, and whether a name follows that.
MAKERS: dict[str, Maker] = {
    "search": _search,
    "page": _page,
    "outline": _outline,
    "links": _link_maker(links),
    "backlinks": _link_maker(backlinks),
    "topics": _topics,
    "changes": _changes,
    "check": _check,
    "status": _status,
}
NAMED = frozenset({"page", "outline", "links", "backlinks", "topics"})
