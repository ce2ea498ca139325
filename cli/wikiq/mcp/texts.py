"""Records as lines for a model: an address to cite, then the content. Pure.

The first line of an answer is ours and tells how current the index is; whatever a page holds stands below
it. What does not fit is named in the last line, with where to go on.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.mcp.budget import BYTES_PER_TOKEN, LEAST_SHARE, Answer, count_tokens, shorten
from wikiq.model.results import DIFFERENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wikiq.answers.check import Problem
    from wikiq.answers.links import LinkRow
    from wikiq.answers.outline import Outline, OutlineRow
    from wikiq.answers.passages import Passage
    from wikiq.model.results import ChangeRow, Hit, SearchResult, Status, TopicRow

PATH_SIGN = " > "
MOST_NAMED = 12  # headings that were cut, at the end of a reading


class Currency(Record):
    """How current an answer is. `why`: what makes it older than the tree, None where nothing does.

    `age` is told instead of "current" for a copy of an index.
    """

    generation: int
    why: str | None
    age: str | None

    def text(self) -> str:
        """What the first line of an answer ends with."""
        state = f"not fresh: {self.why}" if self.why else self.age or "current"
        return f"generation {self.generation}, {state}"


def search(result: SearchResult, currency: Currency, max_tokens: int) -> str:
    """Hits with their sections: address, breadcrumb, excerpt."""
    found = f"{len(result.hits)} of {counted(result.total, 'page')}" if result.hits else "nothing found"
    notes, freshness = search_notes(result), currency.text()
    while notes and len(" · ".join([found, *notes, freshness]).encode()) > max_tokens * BYTES_PER_TOKEN:
        notes.pop()  # how current the answer is comes first
    answer = Answer(" · ".join([found, *notes, freshness]), max_tokens)
    for number, hit in enumerate(result.hits, 1):
        rest = f"({len(result.hits) - number} more hits did not fit; raise max_tokens)"
        if not answer.add(_hit_block(number, hit, max_tokens), reserved=rest):
            answer.add(f"({len(result.hits) - number + 1} more hits did not fit; raise max_tokens)")
            break
    return answer.text()


def search_notes(result: SearchResult) -> list[str]:
    """What was asked otherwise than it was typed."""
    corrected = [f"{typed} taken as {used}" for typed, used in result.corrected.items()]
    return corrected + [f"without {word}" for word in result.excluded]


def _hit_block(number: int, hit: Hit, max_tokens: int) -> str:
    evidence = hit.evidence
    marked = f" [{hit.status} since indexed]" if hit.status in DIFFERENT else ""
    if evidence is None:
        return f"{number} {hit.path} {shorten(hit.title, max_tokens)}{marked}"
    place = f"{hit.path}:{evidence.start_line}-{evidence.end_line}"
    copies = f" (also in {counted(len(hit.copies), 'other page')})" if hit.copies else ""
    breadcrumb = shorten(_breadcrumb(hit.title, evidence.heading_path), max_tokens)
    lines = [f"{number} {place} {breadcrumb}{copies}{marked}"]
    if evidence.excerpt:
        lines.append(f"   {' '.join(evidence.excerpt.split())}")
    return "\n".join(lines)


def _breadcrumb(title: str, heading_path: Sequence[str]) -> str:
    below = heading_path[1:] if heading_path[:1] == (title,) else heading_path
    return PATH_SIGN.join((title, *below))


class Reading(Record):
    """A passage to be sent from line `start_line` on; `lines` are those up to its end."""

    passage: Passage
    start_line: int
    lines: tuple[str, ...]

    def whole_lines(self, fitting: int) -> int:
        """Where to cut if `fitting` lines fit: at the last border of a section in the second half, if any."""
        borders = [row.start_line - self.start_line for row in self.passage.sections]
        return max((border for border in borders if fitting // 2 < border <= fitting), default=fitting)

    def place(self, lines: int) -> str:
        """The address of the first `lines` lines."""
        return f"{self.passage.path}:{self.start_line}-{self.start_line + lines - 1}"

    def rest(self, lines: int) -> str:
        """The address of what follows them."""
        return f"{self.passage.path}:{self.start_line + lines}-{self.passage.end_line}"


def reading_of(passage: Passage, max_tokens: int, first: OutlineRow | None) -> Reading:
    """Where reading begins: at `first`, the section that answers best, where the passage does not fit."""
    lines, start = passage.lines, passage.start_line
    if first is not None and count_tokens("\n".join(lines)) > max_tokens:
        lines, start = lines[first.start_line - start :], first.start_line
    return Reading(passage=passage, start_line=start, lines=lines)


def read(found: Iterable[tuple[Passage | str, OutlineRow | None]], count: int, max_tokens: int) -> str:
    """Passages that share the budget, each with the section of it that answers best, if one was asked for.

    Where there is none, why.
    """
    notice = f"({count} more pages did not fit; raise max_tokens)"
    left, parts = max_tokens - (count_tokens(notice) + 1 if count > 1 else 0), []
    for number, (passage, first) in enumerate(found):
        share = max(LEAST_SHARE, left // (count - number))
        if share > left:
            parts.append(f"({count - number} more pages did not fit; raise max_tokens)")
            break
        if isinstance(passage, str):
            text = Answer(f"({passage})", share).text()
        else:
            text = passage_text(passage, share, first)
        parts.append(text)
        left -= count_tokens(text) + 1
    return "\n\n".join(parts)


def passage_text(passage: Passage, max_tokens: int, first: OutlineRow | None = None) -> str:
    """A passage as it stands in the file, cut at the border of a section where it is too long."""
    reading = reading_of(passage, max_tokens, first)
    answer = Answer(_reading_head(reading, len(reading.lines), max_tokens), max_tokens)
    if answer.add("\n".join(reading.lines)):
        return answer.text()
    # No first line of what is left has more digits than its last.
    end = passage.end_line
    reserved = f"(line {end} is cut; go on with read {passage.path}:{end}-{end})"
    taken = reading.whole_lines(answer.count_beginning(reading.lines, reserved=reserved))
    sent = max(1, taken)
    answer = Answer(_reading_head(reading, sent, max_tokens), max_tokens)
    cut = f"(cut; go on with read {reading.rest(sent)})" if sent < len(reading.lines) else "(cut)"
    if taken:
        answer.add_beginning(reading.lines[:taken], reserved=cut)
    else:
        cut = f"(line {reading.start_line} is {cut[1:]}"
        answer.add_part(reading.lines[0], reserved=cut)
    answer.add(cut)
    left_out = [row for row in passage.sections if row.start_line >= reading.start_line + sent][:MOST_NAMED]
    if left_out:
        named = "; ".join(f"{row.start_line} {row.heading}" for row in left_out)
        answer.add(f"(left out: {named})")
    return answer.text()


def _reading_head(reading: Reading, lines: int, max_tokens: int) -> str:
    passage = reading.passage
    marked = f" [{passage.status} since indexed]" if passage.status in DIFFERENT else ""
    breadcrumb = shorten(_breadcrumb(passage.title, passage.heading_path), max_tokens)
    of = f"of {counted(passage.total_lines, 'line')}"
    return f"{reading.place(lines)} {of} · {breadcrumb}{marked}"


class LinkedOutline(Record):
    """An outline with the size of each section in tokens, and the links from and to the page."""

    outline: Outline
    sizes: Sequence[int]
    links: Sequence[LinkRow]
    backlinks: Sequence[LinkRow]


def outline(found: LinkedOutline, currency: Currency, max_tokens: int) -> str:
    """Headings with lines and sizes in tokens, then links out and in."""
    page = found.outline
    rows = [
        f"{row.start_line}-{row.end_line} {'#' * row.level}{' ' if row.level else ''}{row.heading} ({size})"
        for row, size in zip(page.sections, found.sizes, strict=True)
    ]
    rows += dict.fromkeys(f"-> {row.target_slug or row.target}" for row in found.links)
    rows += [f"<- {row.path}:{row.line} {row.context}" for row in found.backlinks]
    head = f"{page.path} · {shorten(page.title, max_tokens)} · {counted(len(page.sections), 'section')}"
    return _with_lines(f"{head} · {currency.text()}", rows, max_tokens)


class Listing(Record):
    """Rows of one kind, `total` where there are more; `note`: what else the first line tells."""

    kind: str
    rows: Sequence[Any]
    total: int
    note: str


def listing(found: Listing, currency: Currency, max_tokens: int) -> str:
    """One line per row."""
    noun = found.kind.removesuffix("s")
    some = f"{len(found.rows)} of " if len(found.rows) < found.total else ""
    head = f"{some}{counted(found.total, noun)}{found.note} · {currency.text()}"
    return _with_lines(head, [_LINES[found.kind](row) for row in found.rows], max_tokens)


def _with_lines(head: str, rows: Sequence[str], max_tokens: int) -> str:
    answer = Answer(head, max_tokens)
    reserve = f"({len(rows)} more did not fit; raise max_tokens)"
    taken = answer.add_beginning([" ".join(row.split()) for row in rows], reserved=reserve)
    if taken < len(rows):
        answer.add(f"({len(rows) - taken} more did not fit; raise max_tokens)")
    return answer.text()


def _page_line(hit: Hit) -> str:
    """A page in a list."""
    return f"{hit.path} {hit.title} ({hit.updated_at[:10]})"


def _topic_line(row: TopicRow) -> str:
    """A topic in a list."""
    return f"{row.topic} ({counted(row.pages_under, 'page')})"


def _change_line(row: ChangeRow) -> str:
    """A change in a list."""
    return f"{row.generation} {row.op} {row.path}"


def _problem_line(problem: Problem) -> str:
    """A problem in a list."""
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return f"{problem.kind} {place} {problem.message}; {problem.remedy}"


_LINES: Mapping[str, Callable[[Any], str]] = {
    "pages": _page_line,
    "topics": _topic_line,
    "changes": _change_line,
    "problems": _problem_line,
}


def status(status: Status, currency: Currency) -> str:
    """One paragraph."""
    sizes = f"{counted(status.pages, 'page')} in {counted(status.sections, 'section')}"
    problems = f" {counted(status.problems, 'problem')} noted; see list problems." if status.problems else ""
    why = f" {status.reason}; {status.remedy}." if status.reason and status.remedy else ""
    return f"Wiki {status.wiki} in {status.root}: {sizes}, {currency.text()}.{why}{problems}"


def counted(number: int, noun: str) -> str:
    """A number of things, for people."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
