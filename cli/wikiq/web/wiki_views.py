"""What the viewer shows of a wiki as a whole: topics, problems, changes, state, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from indexerd.contract.record import Record
from wikiq.answers.changes import changes
from wikiq.answers.check import TITLES, Problem, check
from wikiq.answers.pages import topics
from wikiq.answers.status import status
from wikiq.errors import WikiqError
from wikiq.index.database import DEADLINE_S, Snapshot
from wikiq.model.results import ChangeRow, TopicRow
from wikiq.shell.status_text import sentence, status_lines
from wikiq.web import addresses
from wikiq.web.frame import Frame, Shown, frame_of
from wikiq.web.hit_lists import Answer

COMMITS = 100  # of which the changes are shown
MOST_CHANGES = 500  # shown in all
MOST_PROBLEMS = 200  # shown of one kind
DEEPEST = 20  # levels of topics that are shown as such: browsers nest lists no deeper than some hundred


class PlacedTopic(Record):
    """A topic in the tree: how deep it stands, from 0."""

    row: TopicRow
    depth: int


class ProblemGroup(Record):
    """The problems of one kind: those that are shown, each with its address, and how many there are."""

    title: str
    kind: str
    count: int
    problems: tuple[tuple[str | None, Problem], ...]


def show_topics(snapshot: Snapshot) -> Answer:
    """All topics as a tree."""
    rows = topics(snapshot)
    frame = frame_of(snapshot)
    values = {"tree": tree_of(rows)}
    return lambda: Shown(template="topics.html", values=values, frame=frame, title=f"Topics - {frame.wiki}")


def tree_of(rows: Iterable[TopicRow]) -> list[PlacedTopic]:
    """Put topics below their parents; on top, where none is known.

    A topic with several parents stands below each, with those below it at its first place only: a graph of
    32 levels with two parents each would be four thousand million lines.
    """
    by_name = {row.topic: row for row in rows}
    below: dict[str, list[TopicRow]] = {}
    for row in by_name.values():
        for parent in row.parents:
            if parent != row.topic:
                below.setdefault(parent, []).append(row)
    tops = [row for row in by_name.values() if not any(parent in by_name for parent in row.parents)]
    tree: list[PlacedTopic] = []
    seen: set[str] = set()
    for top in (*tops, *by_name.values()):  # of a circle none is on top: it begins with its first topic
        waiting = [] if top.topic in seen else [(top, 0)]
        while waiting:
            row, depth = waiting.pop()
            tree.append(PlacedTopic(row=row, depth=depth))
            if row.topic not in seen:
                seen.add(row.topic)
                deeper = min(depth + 1, DEEPEST)
                waiting += ((child, deeper) for child in reversed(below.get(row.topic, ())))
    return tree


def show_check(snapshot: Snapshot) -> Answer:
    """What is wrong with the wiki, by kind."""
    found = check(snapshot, deadline_s=DEADLINE_S)
    frame = frame_of(snapshot)
    groups = []
    for kind, group in groupby(found.problems, key=lambda problem: problem.kind):
        problems = list(group)
        shown = tuple((_address_of(problem), problem) for problem in problems[:MOST_PROBLEMS])
        title = TITLES.get(kind, kind.replace("_", " ").capitalize())
        groups.append(ProblemGroup(title=title, kind=kind, count=len(problems), problems=shown))
    values = {"groups": groups, "broken": found.broken, "ignored": found.ignored}
    return lambda: Shown(template="check.html", values=values, frame=frame, title=f"Check - {frame.wiki}")


def _address_of(problem: Problem) -> str | None:
    if problem.slug is None:
        return None
    return addresses.page(problem.slug if problem.line is None else f"{problem.path}:{problem.line}")


def show_changes(snapshot: Snapshot) -> Answer:
    """What changed last, newest first, by commit."""
    found = changes(snapshot, max(0, snapshot.generation - COMMITS))
    frame = frame_of(snapshot)
    commits: list[tuple[int, str, list[ChangeRow]]] = []
    left = MOST_CHANGES
    for _, group in groupby(reversed(found.rows), key=lambda row: row.generation):
        rows = list(group)[::-1]
        commits.append((len(rows), rows[0].committed_at, rows[:left]))
        left -= len(rows[:left])
        if not left:
            break
    values = {"commits": commits}
    return lambda: Shown(template="changes.html", values=values, frame=frame, title=f"Changes - {frame.wiki}")


def show_status(snapshot: Snapshot) -> Answer:
    """What `wikiq status --verbose` tells."""
    found = status(snapshot)
    frame = frame_of(snapshot)
    values = {"sentence": sentence(found), "lines": list(status_lines(found, verbose=True))}
    return lambda: Shown(template="status.html", values=values, frame=frame, title=f"Status - {frame.wiki}")


def show_error(error: WikiqError, frame: Frame, status_code: int, query: str = "") -> Shown:
    """What is wrong, and what to do about it."""
    return Shown(
        template="error.html",
        values={"error": error},
        frame=frame,
        title=f"{error.problem} - {frame.wiki}",
        query=query,
        status=status_code,
    )
