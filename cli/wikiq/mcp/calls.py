"""The tools' answers: one open index, one snapshot a call, records turned into text within the budget.

The index is opened with the first call, so that a missing one is an answer with its remedy and one that
appears later works; a file that was replaced is opened anew. Errors a user can mend are answers too.
What a call needs is imported by the call: the answer to a client's first request waits for none of it.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from wikiq.errors import (
    DamagedIndexError,
    UnknownPageError,
    UnknownSectionError,
    UnreadableIndexError,
    UsageError,
    WikiqError,
)
from wikiq.mcp import texts
from wikiq.mcp.budget import clip, compact, count_tokens
from wikiq.mcp.tools import BadArgumentsError, check_arguments
from wikiq.model.request import Filters, SearchRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from wikiq.answers.outline import OutlineRow
    from wikiq.answers.passages import Passage
    from wikiq.index.database import Database, Snapshot
    from wikiq.mcp.tools import Tool
    from wikiq.model.request import Source
    from wikiq.model.results import SearchResult, Status

    class Form(Protocol):
        """How records are sent: as lines (texts) or as JSON for programs (documents)."""

        def search(self, result: SearchResult, currency: texts.Currency, max_tokens: int, /) -> Any:
            """Hits."""

        def read(
            self, found: Iterable[tuple[Passage | str, OutlineRow | None]], count: int, max_tokens: int, /
        ) -> Any:
            """Passages, each with the section that answers best; text tells why there is none."""

        def outline(self, found: texts.LinkedOutline, currency: texts.Currency, max_tokens: int, /) -> Any:
            """Headings and links."""

        def listing(self, found: texts.Listing, currency: texts.Currency, max_tokens: int, /) -> Any:
            """Rows of one kind."""

        def status(self, status: Status, currency: texts.Currency, /) -> Any:
            """What the index is, and how current."""


FRESH_TIMEOUT_S = 5.0


class ToolAnswer(Record):
    """The text of an answer; `is_error`: it says what is wrong and how to mend it.

    `document` is what the text is the JSON of, where a program asked for that.
    """

    text: str
    is_error: bool = False
    document: Mapping[str, Any] | None = None


class Calls:
    """Answers tool calls about one wiki, in one thread; `cancel` may be called from another."""

    def __init__(self, source: Source, environ: Mapping[str, str], folder: str, form: Form = texts) -> None:
        self._form = form
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
                answer = _ANSWERS[tool.name](snapshot, arguments, note, self._form)
        except BadArgumentsError as error:
            return ToolAnswer(text=str(error), is_error=True)
        except WikiqError as error:
            if isinstance(error, DamagedIndexError | UnreadableIndexError):
                self.close()  # a copy that is being written over is opened anew by the next call
            return ToolAnswer(text=clip(str(error)), is_error=True)
        if isinstance(answer, str):
            return ToolAnswer(text=answer)
        return ToolAnswer(text=compact(answer), document=answer)

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
            from wikiq.index.locate import open_index

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


def _currency(snapshot: Snapshot, note: str | None) -> texts.Currency:
    """Generation, and whether the index may be behind the tree."""
    from wikiq.index.freshness import COPY, freshness_of, last_commit, staleness

    freshness = freshness_of(snapshot)
    why = note or staleness(freshness, snapshot.root)
    age = f"a copy, {last_commit(freshness.age_s)}" if freshness.mode == COPY else None
    return texts.Currency(generation=snapshot.generation, why=why, age=age)


def _filters(arguments: Mapping[str, Any]) -> Filters:
    since = arguments.get("since")
    if since is not None:
        from datetime import datetime

        from wikiq.query.dates import parse_since

        since = parse_since(since, datetime.now().astimezone())
    return Filters(
        paths=(arguments["path"],) if arguments.get("path") else (),
        topics=(arguments["topic"],) if arguments.get("topic") else (),
        since=since,
    )


def _search(snapshot: Snapshot, arguments: Mapping[str, Any], note: str | None, form: Form) -> Any:
    from wikiq.answers.search import search

    request = SearchRequest(
        query=arguments["query"],
        filters=_filters(arguments),
        limit=arguments["limit"],
        sections=arguments["sections"],
    )
    result = search(snapshot, request)
    return form.search(result, _currency(snapshot, note), arguments["max_tokens"])


def _read(snapshot: Snapshot, arguments: Mapping[str, Any], _note: str | None, form: Form) -> Any:
    names = [name.strip() for name in arguments["page"].splitlines() if name.strip()]
    found = _passages(snapshot, names, arguments.get("query"))
    return form.read(found, len(names), arguments["max_tokens"])


def _passages(
    snapshot: Snapshot, names: Sequence[str], query: str | None
) -> Iterator[tuple[Passage | str, OutlineRow | None]]:
    """Passages in the order of their names; of a name that means nothing, why. One has to mean something."""
    from wikiq.answers.passages import passage

    problems: list[str] = []
    for name in names:
        try:
            found = passage(snapshot, name)
        except (UnknownPageError, UnknownSectionError, UsageError) as error:
            problems.append(clip(str(error)))
            if len(problems) == len(names):
                raise BadArgumentsError(clip("; ".join(problems))) from error
            yield problems[-1], None
        else:
            yield found, _answering(snapshot, found, query)


def _answering(snapshot: Snapshot, found: Passage, query: str | None) -> OutlineRow | None:
    """The section of a passage that answers `query` best; None without one."""
    if not query or not query.strip():
        return None
    from wikiq.answers.search import search

    request = SearchRequest(query=query, filters=Filters(paths=(found.path,)), limit=10, sections=True)
    for hit in search(snapshot, request).hits:
        if hit.path == found.path and hit.evidence is not None:
            for row in found.sections:
                if row.section_id == hit.evidence.section_id:
                    return row
    return None


def _outline(snapshot: Snapshot, arguments: Mapping[str, Any], note: str | None, form: Form) -> Any:
    from wikiq.answers.links import backlinks, links
    from wikiq.answers.outline import outline
    from wikiq.answers.passages import passage

    found = outline(snapshot, arguments["page"])
    lines = passage(snapshot, found.path).lines
    sizes = [count_tokens("\n".join(lines[row.start_line - 1 : row.end_line])) for row in found.sections]
    linked = texts.LinkedOutline(
        outline=found,
        sizes=sizes,
        links=links(snapshot, found.path),
        backlinks=backlinks(snapshot, found.path),
    )
    return form.outline(linked, _currency(snapshot, note), arguments["max_tokens"])


def _list(snapshot: Snapshot, arguments: Mapping[str, Any], note: str | None, form: Form) -> Any:
    rows, total, told = _LISTINGS[arguments["kind"]](snapshot, arguments)
    found = texts.Listing(kind=arguments["kind"], rows=rows[: arguments["limit"]], total=total, note=told)
    return form.listing(found, _currency(snapshot, note), arguments["max_tokens"])


def _list_pages(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[Sequence[Any], int, str]:
    from wikiq.answers.pages import list_pages

    result = list_pages(snapshot, _filters(arguments), limit=arguments["limit"])
    return result.hits, result.total, ", newest first"


def _list_topics(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[Sequence[Any], int, str]:
    from wikiq.answers.pages import topics

    rows = topics(snapshot, arguments.get("topic"))
    return rows, len(rows), ""


def _list_changes(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[Sequence[Any], int, str]:
    from wikiq.answers.changes import changes

    found = changes(snapshot, arguments["generation"])
    lost = f" (those up to {found.floor} are no longer kept)" if arguments["generation"] < found.floor else ""
    return found.rows, len(found.rows), lost


def _list_problems(snapshot: Snapshot, arguments: Mapping[str, Any]) -> tuple[Sequence[Any], int, str]:
    from fnmatch import fnmatchcase

    from wikiq.answers.check import check

    wanted = arguments.get("path") or "*"
    rows = [problem for problem in check(snapshot).problems if fnmatchcase(problem.path, wanted)]
    return rows, len(rows), ""


def _status(snapshot: Snapshot, _arguments: Mapping[str, Any], note: str | None, form: Form) -> Any:
    from wikiq.answers.status import status

    return form.status(status(snapshot), _currency(snapshot, note))


_ANSWERS: Mapping[str, Callable[[Snapshot, Mapping[str, Any], str | None, Form], Any]] = {
    "search": _search,
    "read": _read,
    "outline": _outline,
    "list": _list,
    "status": _status,
}
_LISTINGS: Mapping[str, Callable[[Snapshot, Mapping[str, Any]], tuple[Sequence[Any], int, str]]] = {
    "pages": _list_pages,
    "topics": _list_topics,
    "changes": _list_changes,
    "problems": _list_problems,
}
