"""The tools' answers: one open index, one snapshot a call, records turned into text within the budget.

The index is opened with the first call, so that a missing one is an answer with its remedy and one that
appears later works; a file that was replaced is opened anew. Errors a user can mend are answers too.
"""

from __future__ import annotations

from datetime import datetime

from indexerd.contract.record import Record
from wikiq.answers.search import search
from wikiq.errors import DamagedIndexError, UnreadableIndexError, WikiqError
from wikiq.index.freshness import COPY, freshness_of, last_commit, staleness
from wikiq.index.locate import open_index
from wikiq.mcp import texts
from wikiq.mcp.budget import LEAST_SHARE, clip, count_tokens
from wikiq.mcp.tools import BadArgumentsError, check_arguments
from wikiq.model.request import Filters, SearchRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from wikiq.answers.outline import OutlineRow
    from wikiq.answers.passages import Passage
    from wikiq.index.database import Database, Snapshot
    from wikiq.mcp.tools import Tool
    from wikiq.model.request import Source

FRESH_TIMEOUT_S = 5.0


class ToolAnswer(Record):
    """The text of an answer; `is_error`: it says what is wrong and how to mend it."""

    text: str
    is_error: bool = False


class Calls:
    """Answers tool calls about one wiki, in one thread; `cancel` may be called from another."""

    def __init__(self, source: Source, environ: Mapping[str, str], folder: str) -> None:
        self._source = source
        self._environ = environ
        self._folder = folder
        self._database: Database | None = None

    def cancel(self) -> None:
        """Interrupt the statement that runs, if one does."""
        if self._database is not None:
            self._database.cancel()

    def call(self, tool: Tool, given: object) -> ToolAnswer:
        """Answer one call."""
        try:
            arguments = check_arguments(tool, given)
            database, note = self._opened_for(arguments)
            with database.snapshot() as snapshot:
                text = _ANSWERS[tool.name](snapshot, arguments, note)
        except BadArgumentsError as error:
            return ToolAnswer(text=str(error), is_error=True)
        except WikiqError as error:
            if isinstance(error, DamagedIndexError | UnreadableIndexError):
                self.close()  # a copy that is being written over is opened anew by the next call
            return ToolAnswer(text=clip(str(error)), is_error=True)
        return ToolAnswer(text=text)

    def close(self) -> None:
        """Close the index."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _opened_for(self, arguments: Mapping[str, Any]) -> tuple[Database, str | None]:
        """Open the index, wait for it where that was asked for; gives why it is not fresh then."""
        if self._database is not None and self._database.is_replaced():
            self.close()
        if self._database is None:
            source = self._source
            self._database = open_index(
                db=source.db, wiki=source.wiki, environ=self._environ, folder=self._folder
            )
            self._database.is_copy, self._database.max_age_s = source.copy, source.max_age
        if not arguments.get("fresh"):
            self._database.made_fresh = False
            return self._database, None
        from wikiq.index.barrier_client import make_fresh

        self._database, barrier = make_fresh(self._database, FRESH_TIMEOUT_S)
        return self._database, None if barrier.fresh else barrier.problem


def _currency(snapshot: Snapshot, note: str | None) -> str:
    """Generation, and whether the index may be behind the tree."""
    freshness = freshness_of(snapshot)
    why = note or staleness(freshness, snapshot.root)
    fine = f"a copy, {last_commit(freshness.age_s)}" if freshness.mode == COPY else "current"
    return f"generation {snapshot.generation}, {f'not fresh: {why}' if why else fine}"


def _filters(arguments: Mapping[str, Any]) -> Filters:
    since = arguments.get("since")
    if since is not None:
        from wikiq.query.dates import parse_since

        since = parse_since(since, datetime.now().astimezone())
    return Filters(
        paths=(arguments["path"],) if arguments.get("path") else (),
        topics=(arguments["topic"],) if arguments.get("topic") else (),
        since=since,
    )


def _search(snapshot: Snapshot, arguments: Mapping[str, Any], note: str | None) -> str:
    request = SearchRequest(
        query=arguments["query"],
        filters=_filters(arguments),
        limit=arguments["limit"],
        sections=arguments["sections"],
    )
    result = search(snapshot, request)
    return texts.search_text(result, _currency(snapshot, note), arguments["max_tokens"])


def _read(snapshot: Snapshot, arguments: Mapping[str, Any], _note: str | None) -> str:
    from wikiq.answers.passages import passage

    names = [name.strip() for name in arguments["page"].splitlines() if name.strip()]
    left, parts = arguments["max_tokens"], []
    for number, name in enumerate(names):
        share = max(LEAST_SHARE, left // (len(names) - number))
        if share > left:
            parts.append(f"({len(names) - number} more pages did not fit; raise max_tokens)")
            break
        found = passage(snapshot, name)
        text = texts.passage_text(found, share, _answering(snapshot, found, arguments.get("query")))
        parts.append(text)
        left -= count_tokens(text) + 1
    return "\n\n".join(parts)


def _answering(snapshot: Snapshot, found: Passage, query: str | None) -> OutlineRow | None:
    """The section of a passage that answers `query` best; None without one."""
    if not query or not query.strip():
        return None
    request = SearchRequest(query=query, filters=Filters(paths=(found.path,)), limit=10, sections=True)
    for hit in search(snapshot, request).hits:
        if hit.path == found.path and hit.evidence is not None:
            for row in found.sections:
                if row.section_id == hit.evidence.section_id:
                    return row
    return None


def _outline(snapshot: Snapshot, arguments: Mapping[str, Any], note: str | None) -> str:
    from wikiq.answers.links import backlinks, links
    from wikiq.answers.outline import outline
    from wikiq.answers.passages import passage

    found = outline(snapshot, arguments["page"])
    lines = passage(snapshot, found.path).lines
    sizes = [count_tokens("\n".join(lines[row.start_line - 1 : row.end_line])) for row in found.sections]
    rows = texts.outline_lines(found, sizes, links(snapshot, found.path), backlinks(snapshot, found.path))
    head = f"{found.path} · {found.title} · {texts.counted(len(found.sections), 'section')}"
    return texts.list_text(head, rows, _currency(snapshot, note), arguments["max_tokens"])


def _list(snapshot: Snapshot, arguments: Mapping[str, Any], note: str | None) -> str:
    head, rows = _LISTINGS[arguments["kind"]](snapshot, arguments)
    shown = rows[: arguments["limit"]]
    counted = f"{len(shown)} of {head}" if len(shown) < len(rows) else head
    return texts.list_text(counted, shown, _currency(snapshot, note), arguments["max_tokens"])


def _list_pages(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[str, list[str]]:
    from wikiq.answers.pages import list_pages

    result = list_pages(snapshot, _filters(arguments), limit=arguments["limit"])
    return f"{result.total} pages, newest first", [texts.page_line(hit) for hit in result.hits]


def _list_topics(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[str, list[str]]:
    from wikiq.answers.pages import topics

    rows = topics(snapshot, arguments.get("topic"))
    return f"{len(rows)} topics", [texts.topic_line(row) for row in rows]


def _list_changes(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[str, list[str]]:
    from wikiq.answers.changes import changes

    found = changes(snapshot, arguments["generation"])
    lost = f" (those up to {found.floor} are no longer kept)" if arguments["generation"] < found.floor else ""
    return f"{len(found.rows)} changes{lost}", [texts.change_line(row) for row in found.rows]


def _list_problems(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[str, list[str]]:
    from fnmatch import fnmatchcase

    from wikiq.answers.check import check

    wanted = arguments.get("path") or "*"
    rows = [problem for problem in check(snapshot).problems if fnmatchcase(problem.path, wanted)]
    return f"{len(rows)} problems", [texts.problem_line(problem) for problem in rows]


def _status(snapshot: Snapshot, _arguments: Mapping[str, Any], note: str | None) -> str:
    from wikiq.answers.status import status

    return texts.status_text(status(snapshot), _currency(snapshot, note))


_ANSWERS: Mapping[str, Callable[[Snapshot, Mapping[str, Any], str | None], str]] = {
    "search": _search,
    "read": _read,
    "outline": _outline,
    "list": _list,
    "status": _status,
}
_LISTINGS: Mapping[str, Callable[[Snapshot, Mapping[str, Any]], tuple[str, list[str]]]] = {
    "pages": _list_pages,
    "topics": _list_topics,
    "changes": _list_changes,
    "problems": _list_problems,
}
