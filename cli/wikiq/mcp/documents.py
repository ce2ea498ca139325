"""The same answers as compact JSON, for programs: `wikiq mcp --structured`. Pure.

The records are those of `--json`. Rows are sent as long as the budget lasts; `left_out` counts the rest.
"""

from __future__ import annotations

from wikiq.mcp.budget import BYTES_PER_TOKEN, LEAST_SHARE, clip, compact, printable_text, shorten
from wikiq.mcp.texts import Reading, reading_of, search_notes
from wikiq.model.results import json_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wikiq.answers.outline import OutlineRow
    from wikiq.answers.passages import Passage
    from wikiq.mcp.texts import Currency, LinkedOutline, Listing
    from wikiq.model.results import SearchResult, Status

LONGEST_REASON = 120  # bytes of JSON, so that the head fits into the least budget
LONGEST_COUNT = 20  # digits of `left_out`


def search(result: SearchResult, currency: Currency, max_tokens: int) -> dict[str, Any]:
    """Hits as `search --json` gives them."""
    head = {**_head(currency), "total": result.total}
    return _fitted(head, {"notes": search_notes(result), "hits": result.hits}, max_tokens)


def read(
    found: Iterable[tuple[Passage | str, OutlineRow | None]], count: int, max_tokens: int
) -> dict[str, Any]:
    """Passages that share the budget, and why others are none; `go_on` is the address of what was cut off."""
    room = max_tokens * BYTES_PER_TOKEN - _size({"passages": [], "problems": [], "left_out": count})
    passages: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, (passage, first) in enumerate(found):
        share = max(LEAST_SHARE * BYTES_PER_TOKEN, room // (count - number)) - 1  # the comma
        if isinstance(passage, str):
            problem = _within(passage, share)
            if share > room:
                break
            problems.append(problem)
            room -= _size(problem) + 1
            continue
        row = _passage(reading_of(passage, share // BYTES_PER_TOKEN, first), share)
        if row is None or share > room:
            break
        passages.append(row)
        room -= _size(row) + 1
    return {"passages": passages, "problems": problems, "left_out": count - len(passages) - len(problems)}


def _passage(reading: Reading, room: int) -> dict[str, Any] | None:
    """A passage within `room` bytes; None where its head alone is larger."""
    passage = reading.passage
    whole = len(reading.lines)
    head: dict[str, Any] = _clean(
        {
            "path": passage.path,
            "title": shorten(passage.title, room // BYTES_PER_TOKEN),
            "heading_path": list(passage.heading_path),
            "start_line": reading.start_line,
            "end_line": passage.end_line,
            "total_lines": passage.total_lines,
            "status": passage.status,
            "go_on": reading.rest(whole),
            "text": "",
        }
    )
    room -= _size(head)
    if room < 0:
        return None
    taken, used = 0, 0
    for line in reading.lines:
        used += _size(_clean(line)) - (0 if taken else 2)  # without quotes; with the \\n before it
        if used > room:
            break
        taken += 1
    if taken < whole:
        taken = reading.whole_lines(taken)
    lines = reading.lines[:taken] if taken else (_beginning(reading.lines, room),)
    sent = max(1, taken)
    head["end_line"] = min(passage.end_line, reading.start_line + sent - 1)
    head["go_on"] = _clean(reading.rest(sent)) if sent < whole else None
    head["text"] = _clean("\n".join(lines))
    return head


def _beginning(lines: Sequence[str], room: int) -> str:
    """As much of the first line as its JSON has room for."""
    line = _clean(lines[0][:room]) if lines else ""
    while _size(line) - 2 > room:
        line = line[: len(line) * 3 // 4]
    return str(line)


def outline(found: LinkedOutline, currency: Currency, max_tokens: int) -> dict[str, Any]:
    """Sections with their sizes in tokens, links and backlinks as `--json` gives them."""
    rows = zip(found.outline.sections, found.sizes, strict=True)
    sections = [{**json_form(row), "tokens": size} for row, size in rows]
    lists = {"sections": sections, "links": found.links, "backlinks": found.backlinks}
    path = shorten(_clean(found.outline.path), max_tokens)
    return _fitted({**_head(currency), "path": path}, lists, max_tokens)


def listing(found: Listing, currency: Currency, max_tokens: int) -> dict[str, Any]:
    """Rows as `pages`, `topics`, `changes` and `check --json` give them."""
    head = {**_head(currency), "kind": found.kind, "total": found.total}
    return _fitted(head, {"rows": found.rows}, max_tokens)


def status(status: Status, currency: Currency) -> dict[str, Any]:
    """What `status --json` tells."""
    return {**_head(currency), "status": _clean(json_form(status))}


def _head(currency: Currency) -> dict[str, Any]:
    why = currency.why and clip(_within(currency.why, LONGEST_REASON))
    return {"generation": currency.generation, "current": currency.why is None, "why": why}


def _within(text: str, room: int) -> str:
    """The beginning of a text whose JSON has at most `room` bytes."""
    while text and _size(text) > room:
        text = text[: len(text) * 3 // 4]
    return text


def _fitted(head: dict[str, Any], lists: Mapping[str, Sequence[Any]], max_tokens: int) -> dict[str, Any]:
    """A document with as many rows, from the first list on, as there is room for."""
    document = {**head, **{name: [] for name in lists}, "left_out": 0}
    room = max_tokens * BYTES_PER_TOKEN - _size(document) - LONGEST_COUNT
    for name, rows in lists.items():
        for row in rows:
            form = _clean(json_form(row))
            room -= _size(form) + 1  # the comma
            if room < 0:
                document["left_out"] += 1
            else:
                document[name].append(form)
    return document


def _size(value: Any) -> int:
    return len(compact(value).encode("utf-8", "replace"))


def _clean(value: Any) -> Any:
    """The same without what must not reach a model."""
    if isinstance(value, str):
        return printable_text(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {printable_text(key): _clean(one) for key, one in value.items()}
    return value


def _schema(**fields: str) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(fields)}


def _dated(**fields: str) -> dict[str, Any]:
    schema = _schema(generation="integer", current="boolean", **fields)
    schema["properties"]["why"] = {"type": ["string", "null"]}
    return schema


OUTPUT_SCHEMAS: Mapping[str, Any] = {
    "search": _dated(total="integer", notes="array", hits="array", left_out="integer"),
    "read": _schema(passages="array", problems="array", left_out="integer"),
    "outline": _dated(path="string", sections="array", links="array", backlinks="array", left_out="integer"),
    "list": _dated(kind="string", total="integer", rows="array", left_out="integer"),
    "status": _dated(status="object"),
}
