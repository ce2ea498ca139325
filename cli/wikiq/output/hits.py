"""Answers as lines for people, fields for pipes, and JSON; pure, from records to spans and text.

What could steer a terminal is still in these spans: `screen` takes it out when it writes.
"""

from __future__ import annotations

import json
import os

from indexerd.contract.places import is_below
from wikiq.model.request import LARGEST_LIMIT
from wikiq.model.results import DIFFERENT, FORMAT, document, json_form, place
from wikiq.output.terminal import BOLD, FAINT, MATCH, PLACE, WARNING, Span, counted, joined
from wikiq.output.wrapping import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indexerd.contract.record import Record
    from wikiq.model.results import ExplainedResult, Hit, IndexAge, MergedResult, SearchResult

INDENT = "    "  # as wide as the number of a hit
CRUMB_SIGN = " > "
FOOTER_SIGN = " \N{MIDDLE DOT} "
MOST_COPIES = 6  # named below a hit
MOST_NAMED, LONGEST_NAMED = 8, 40  # words in a note, and characters of one: together a few lines at most


def hit_block(
    hit: Hit, number: int, *, root: str, folder: str, columns: int
) -> Iterator[tuple[Span | str, ...]]:
    """Show one hit to people: number, title and breadcrumb, place, excerpt; then a blank line."""
    crumbs = breadcrumb(hit)
    heading = f"{hit.title}{CRUMB_SIGN}{crumbs}" if crumbs else hit.title
    styles = ((0, len(hit.title), BOLD), (len(hit.title), len(heading), FAINT))
    indent: Span | str = Span(text=f"{number:2}  ", style=FAINT)
    for spans in styled_lines(heading, styles, columns - len(INDENT)):
        yield (indent, *spans)
        indent = INDENT
    place = Span(text=place_of(hit, root, folder), style=PLACE, target=os.path.join(root, hit.path))
    yield (INDENT, place, *_status_mark(hit))
    matches = hit.evidence.matches if hit.evidence is not None else ()
    marked = ((start, end, MATCH) for start, end in matches)
    yield from ((INDENT, *spans) for spans in styled_lines(shown_text(hit), marked, columns - len(INDENT)))
    if hit.copies:
        copies = copies_line(hit)
        faint = ((0, len(copies), FAINT),)
        yield from ((INDENT, *spans) for spans in styled_lines(copies, faint, columns - len(INDENT)))
    yield ()


def copies_line(hit: Hit) -> str:
    """Say where the hit stands besides: a version or language by its folder, else the path."""
    names = [_difference(hit.path, path) for path in hit.copies[:MOST_COPIES]]
    more = len(hit.copies) - len(names)
    return f"also in {', '.join(names)}{f' and {more} more' if more else ''}"


def _difference(path: str, other: str) -> str:
    """Give the one folder in which a path differs from another one, else all of the path."""
    folders, others = path.split("/"), other.split("/")
    differing = [one for one, its in zip(others, folders, strict=False) if one != its]
    return differing[0] if len(folders) == len(others) and len(differing) == 1 else other


def listed_line(hit: Hit, number: int, *, root: str, folder: str) -> tuple[Span | str, ...]:
    """Show one page of a listing to people: number, date, title, place."""
    path = shown_path(root, hit.path, folder)
    return (
        Span(text=f"{number:2}  {hit.updated_at[:10]}  ", style=FAINT),
        Span(text=hit.title, style=BOLD),
        "  ",
        Span(text=path, style=PLACE, target=os.path.join(root, hit.path)),
        *_status_mark(hit),
    )


def footer(result: SearchResult | MergedResult, shown: int, noun: str, age: str) -> tuple[Span, ...]:
    """Say below the hits how many there are, how fresh they are, and how to see more of them."""
    count = f"{shown} of " if shown < result.total else ""
    pages = counted(result.total, noun) if result.total_exact else f"at most {counted(result.total, noun)}"
    more = (f"--limit {min(result.total, LARGEST_LIMIT)}",) if LARGEST_LIMIT > shown < result.total else ()
    return (Span(text=FOOTER_SIGN.join((count + pages, age, *more)), style=FAINT),)


def hit_fields(hit: Hit, *, root: str, folder: str) -> tuple[str, str, str, str]:
    """Show one hit to other programs: path and line, title, breadcrumb, excerpt."""
    return place_of(hit, root, folder), hit.title, breadcrumb(hit), shown_text(hit)


def vimgrep_line(hit: Hit, *, root: str, folder: str) -> str:
    """Show one hit to editors, in the form of `grep` with a column."""
    column = hit.evidence.match_column if hit.evidence is not None else 1
    crumbs = breadcrumb(hit)
    name = f"{hit.title}{CRUMB_SIGN}{crumbs}" if crumbs else hit.title
    text = shown_text(hit)
    return f"{place_of(hit, root, folder)}:{column}: {name}" + (f": {text}" if text else "")


def shown_text(hit: Hit) -> str:
    """Give what is shown of a hit: its excerpt, else how its section begins, else the page's summary."""
    evidence = hit.evidence
    return (evidence and (evidence.excerpt or evidence.lead)) or hit.summary or ""


def _status_mark(hit: Hit) -> tuple[Span | str, ...]:
    return (" ", Span(text=f"[{hit.status}]", style=WARNING)) if hit.status in DIFFERENT else ()


def place_of(hit: Hit, root: str, folder: str) -> str:
    """Give path and line of a hit as an editor takes them."""
    path, line = place(hit)
    return f"{shown_path(root, path, folder)}:{line}"


def shown_path(root: str, path: str, folder: str) -> str:
    """Give the path of a page as it is reached from `folder` (a real path): absolute outside the wiki."""
    if folder == root:
        return path
    full = os.path.join(root, path)
    return os.path.relpath(full, folder) if is_below(folder, root) else full


def breadcrumb(hit: Hit) -> str:
    """Give the headings down to the section in one line."""
    return joined(headings_of(hit))


def headings_of(hit: Hit) -> tuple[str, ...]:
    """Give the headings down to the section, without one that only repeats the title."""
    path = hit.evidence.heading_path if hit.evidence is not None else ()
    return path[1:] if path[:1] == (hit.title,) else path


def styled_lines(
    text: str, styled: Iterable[tuple[int, int, str]], columns: int
) -> Iterator[tuple[Span | str, ...]]:
    """Break a text into lines. `styled`: half-open ranges in order, each with its style."""
    ranges = tuple(styled)
    for start, end in wrap(text, columns):
        spans: list[Span | str] = []
        at = start
        for first, last, style in ranges:
            first, last = max(first, at), min(last, end)
            if first < last:
                spans += [text[at:first], Span(text=text[first:last], style=style)]
                at = last
        yield (*spans, text[at:end])


def result_json(result: Record, index: IndexAge | None = None) -> str:
    """Write an answer as one JSON document, ASCII only, so that no terminal is steered by it."""
    return _ascii(document(result, index))


def rows_json(name: str, rows: Sequence[Record], index: IndexAge, **more: object) -> str:
    """Write a listing as one JSON document with the rows under `name`."""
    rows_form = [json_form(row) for row in rows]
    return _ascii({"format": FORMAT, "index": json_form(index), **more, name: rows_form})


def records_json(name: str, records: Sequence[Record]) -> str:
    """Write records that each tell their own index as one JSON document."""
    return _ascii({"format": FORMAT, name: [json_form(record) for record in records]})


def rows_of_all_json(
    name: str, wikis: Sequence[tuple[str, Sequence[Record], IndexAge, Mapping[str, object]]], **more: object
) -> str:
    """Write listings of several wikis as one document: of each its root, rows, index and what is beside."""
    forms = [
        {"root": root, "index": json_form(index), **beside, name: [json_form(row) for row in rows]}
        for root, rows, index, beside in wikis
    ]
    return _ascii({"format": FORMAT, "wikis": forms, **more})


def row_json(row: Record, **more: object) -> str:
    """Write one row as a line of NDJSON."""
    return _ascii({**json_form(row), **more})


def nothing_found(result: SearchResult | MergedResult) -> str:
    """Say that there is no hit, and what the question would find with one condition less."""
    told = [
        f"without the {one.dropped} there {'is' if one.total == 1 else 'are'} {counted(one.total, 'hit')}"
        for one in getattr(result, "advice", ())
    ]
    return "; ".join(("nothing found", *told))


def notes(result: SearchResult | MergedResult) -> Iterator[str]:
    """Say in a line each what was done with the words that is not seen in the hits."""
    for typed, used in result.corrected.items():
        yield f"no page has {typed!r}; looked for {used!r}"
    if result.excluded:
        yield f"left out sections with {', '.join(map(repr, result.excluded))}"
    stale = [hit.path for hit in result.hits if hit.status in DIFFERENT]
    if stale:
        yield f"changed or gone since they were indexed: {', '.join(stale)}"
    if result.ignored_terms:
        yield f"too many words; not looked for: {_some(result.ignored_terms)}"


def explanation_lines(result: ExplainedResult) -> Iterator[str]:
    """Say how each word was taken, then what the score of each hit is made of."""
    for term in result.explanation.terms:
        used = f" as {term.used!r}" if term.kind in ("corrected", "pieces") else ""
        count = f", in {counted(term.sections, 'section')}" if term.sections else ""
        forms = f", also {', '.join(map(repr, term.forms))}" if term.forms else ""
        yield f"{term.typed!r}: {term.kind}{used}{count}{forms}"
    for hit, parts in zip(result.hits, result.explanation.scores, strict=True):
        told = [f"{name} {value:.3f}" for name, value in json_form(parts).items() if value]
        yield f"{hit.score:.3f} {hit.slug}: {', '.join(told) or 'name alone'}"


def _some(words: Sequence[str]) -> str:
    """Name words in a note, which is one line however much was pasted into the question."""
    named = [
        word if len(word) <= LONGEST_NAMED else word[:LONGEST_NAMED] + "…" for word in words[:MOST_NAMED]
    ]
    more = [f"and {len(words) - MOST_NAMED} more"] if len(words) > MOST_NAMED else []
    return " ".join(named + more)


def _ascii(form: object) -> str:
    return json.dumps(form).replace("\x7f", "\\u007f")  # the one control that json leaves as it is
