"""Records as lines for a model: an address to cite, then the content. Pure.

The first line of an answer is ours and tells how current the index is; whatever a page holds stands below
it. What does not fit is named in the last line, with where to go on.
"""

from __future__ import annotations

from wikiq.mcp.budget import Answer, count_tokens
from wikiq.model.results import DIFFERENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wikiq.answers.check import Problem
    from wikiq.answers.links import LinkRow
    from wikiq.answers.outline import Outline, OutlineRow
    from wikiq.answers.passages import Passage
    from wikiq.model.results import ChangeRow, Hit, SearchResult, Status, TopicRow

PATH_SIGN = " > "
MOST_NAMED = 12  # headings that were cut, at the end of a reading


def search_text(result: SearchResult, currency: str, max_tokens: int) -> str:
    """Hits with their sections: address, breadcrumb, excerpt."""
    found = f"{len(result.hits)} of {counted(result.total, 'page')}" if result.hits else "nothing found"
    notes = [f"{typed} taken as {used}" for typed, used in result.corrected.items()]
    notes += [f"without {word}" for word in result.excluded]
    answer = Answer(" · ".join([found, *notes, currency]), max_tokens)
    for number, hit in enumerate(result.hits, 1):
        rest = f"({len(result.hits) - number} more hits did not fit; raise max_tokens)"
        if not answer.add(_hit_block(number, hit), reserved=rest):
            answer.add(f"({len(result.hits) - number + 1} more hits did not fit; raise max_tokens)")
            break
    return answer.text()


def _hit_block(number: int, hit: Hit) -> str:
    evidence = hit.evidence
    marked = f" [{hit.status} since indexed]" if hit.status in DIFFERENT else ""
    if evidence is None:
        return f"{number} {hit.path} {hit.title}{marked}"
    place = f"{hit.path}:{evidence.start_line}-{evidence.end_line}"
    copies = f" (also in {counted(len(hit.copies), 'other page')})" if hit.copies else ""
    lines = [f"{number} {place} {_breadcrumb(hit.title, evidence.heading_path)}{copies}{marked}"]
    if evidence.excerpt:
        lines.append(f"   {' '.join(evidence.excerpt.split())}")
    return "\n".join(lines)


def _breadcrumb(title: str, heading_path: Sequence[str]) -> str:
    below = heading_path[1:] if heading_path[:1] == (title,) else heading_path
    return PATH_SIGN.join((title, *below))


def passage_text(passage: Passage, max_tokens: int, first: OutlineRow | None = None) -> str:
    """A passage as it stands in the file, cut at the border of a section where it is too long.

    `first` is the section that answers best: where the passage does not fit, reading begins there.
    """
    lines, start = list(passage.lines), passage.start_line
    if first is not None and count_tokens("\n".join(lines)) > max_tokens:
        lines, start = lines[first.start_line - start :], first.start_line
    end = passage.end_line
    marked = f" [{passage.status} since indexed]" if passage.status in DIFFERENT else ""
    whole = "\n".join(lines)
    reserve = f"(cut; go on with read {passage.path}:{end}-{end})"
    place = f"{passage.path}:{start}-{end} of {counted(passage.total_lines, 'line')}"
    head = f"{place} · {_breadcrumb(passage.title, passage.heading_path)}{marked}"
    answer = Answer(head, max_tokens)
    if answer.add(whole):
        return answer.text()
    taken = _lines_that_fit(answer, passage, lines, start, reserve)
    last = start + taken - 1
    head = head.replace(place, f"{passage.path}:{start}-{last} of {counted(passage.total_lines, 'line')}", 1)
    answer = Answer(head, max_tokens)
    cut = f"(cut; go on with read {passage.path}:{last + 1}-{end})"
    answer.add_beginning(lines[:taken], reserved=cut)
    answer.add(cut)
    left_out = [row for row in passage.sections if row.start_line > last][:MOST_NAMED]
    if left_out:
        named = "; ".join(f"{row.start_line} {row.heading}" for row in left_out)
        answer.add(f"(left out: {named})")
    return answer.text()


def _lines_that_fit(answer: Answer, passage: Passage, lines: Sequence[str], start: int, reserve: str) -> int:
    """How many of the first lines are sent: up to the last border of a section in the second half, if any."""
    fitting = answer.count_beginning(lines, reserved=reserve)
    borders = [row.start_line - start for row in passage.sections]
    good = [border for border in borders if fitting // 2 < border <= fitting]
    return max(good, default=fitting)


def outline_lines(
    outline: Outline, sizes: Sequence[int], links: Iterable[LinkRow], backlinks: Iterable[LinkRow]
) -> list[str]:
    """Headings with lines and sizes in tokens, then links out and in."""
    rows = [
        f"{row.start_line}-{row.end_line} {'#' * row.level}{' ' if row.level else ''}{row.heading} ({size})"
        for row, size in zip(outline.sections, sizes, strict=True)
    ]
    rows += dict.fromkeys(f"-> {row.target_slug or row.target}" for row in links)
    rows += [f"<- {row.path}:{row.line} {row.context}" for row in backlinks]
    return rows


def list_text(head: str, rows: Sequence[str], currency: str, max_tokens: int) -> str:
    """One line per row."""
    return _with_lines(Answer(f"{head} · {currency}", max_tokens), rows)


def _with_lines(answer: Answer, rows: Sequence[str]) -> str:
    reserve = f"({len(rows)} more did not fit; raise max_tokens)"
    taken = answer.add_beginning([" ".join(row.split()) for row in rows], reserved=reserve)
    if taken < len(rows):
        answer.add(f"({len(rows) - taken} more did not fit; raise max_tokens)")
    return answer.text()


def page_line(hit: Hit) -> str:
    """A page in a list."""
    return f"{hit.path} {hit.title} ({hit.updated_at[:10]})"


def topic_line(row: TopicRow) -> str:
    """A topic in a list."""
    return f"{row.topic} ({counted(row.pages_under, 'page')})"


def change_line(row: ChangeRow) -> str:
    """A change in a list."""
    return f"{row.generation} {row.op} {row.path}"


def problem_line(problem: Problem) -> str:
    """A problem in a list."""
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return f"{problem.kind} {place} {problem.message}; {problem.remedy}"


def status_text(status: Status, currency: str) -> str:
    """One paragraph."""
    sizes = f"{counted(status.pages, 'page')} in {counted(status.sections, 'section')}"
    problems = f" {counted(status.problems, 'problem')} noted; see list problems." if status.problems else ""
    why = f" {status.reason}; {status.remedy}." if status.reason and status.remedy else ""
    return f"Wiki {status.wiki} in {status.root}: {sizes}, {currency}.{why}{problems}"


def counted(number: int, noun: str) -> str:
    """A number of things, for people."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
