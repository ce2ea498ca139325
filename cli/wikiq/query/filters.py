"""The filters of searches and listings as one SQL condition over pages, and the names in them.

One place for both, so that a filter means the same everywhere. Values are bound, never pasted.
"""

from __future__ import annotations

from indexerd.contract.terms import fold_path
from indexerd.contract.which_index import shell_word
from wikiq.errors import UnknownPageError, UsageError
from wikiq.index import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.index.database import Snapshot
    from wikiq.model.request import Filters

MOST_COMPARED = 5_000  # paths held against a miss: .1 s
_GLOB_SIGNS = frozenset("*?[")
_AFTER_SLASH = "0"  # the character after "/": what begins with "a/" lies between "a/" and "a0"


def checked_filters(snapshot: Snapshot, filters: Filters) -> Filters:
    """Turn pages into slugs and topics into their spelling; an unknown one is an error with near misses."""
    if filters.is_empty:
        return filters
    from wikiq.query.names import require_page, require_topic

    for path in filters.paths:
        _require_path(snapshot, path)
    return filters.replace(
        topics=tuple(require_topic(snapshot, topic) for topic in filters.topics),
        under=tuple(require_topic(snapshot, topic) for topic in filters.under),
        not_topics=tuple(require_topic(snapshot, topic) for topic in filters.not_topics),
        mentions=tuple(clean_mention(path) for path in filters.mentions),
        links_to=tuple(require_page(snapshot, page).slug for page in filters.links_to),
        linked_by=tuple(require_page(snapshot, page).slug for page in filters.linked_by),
    )


def _require_path(snapshot: Snapshot, path: str) -> None:
    """Refuse a path without a glob that is no page's and no folder's; UnknownPageError with near misses."""
    condition, values = _path_condition(path)
    if not _GLOB_SIGNS.isdisjoint(path) or snapshot.row(
        sql.SELECT_ANY_PAGE.format(condition=condition), values
    ):
        return
    from indexerd.contract.suggestions import did_you_mean, nearest

    paths = [row[1] for row in snapshot.rows(sql.SELECT_PATHS)[:MOST_COMPARED]]
    folders = [one[:cut] for one in paths for cut, sign in enumerate(one) if sign == "/"]
    near = nearest(path.strip("/"), dict.fromkeys((*folders, *paths)))
    problem = "no page has this path, and none lies in such a folder"
    raise UnknownPageError(path, problem, did_you_mean(map(shell_word, near), "see `wikiq pages`"))


def page_condition(filters: Filters) -> tuple[str, list[str]]:
    """Give the condition on `p`, a row of v1_pages, with its values; `TRUE` when every page passes.

    The filters are checked ones.
    """
    parts: list[str] = []
    values: list[str] = []

    def add(condition: str, *bound: str) -> None:
        parts.append(condition)
        values.extend(bound)

    for topic in filters.topics:
        add(sql.HAS_TOPIC, topic)
    for topic in filters.under:
        add(sql.IS_UNDER_TOPIC, topic)
    for topic in filters.not_topics:
        add(f"NOT {sql.HAS_TOPIC}", topic)
    for path in filters.mentions:
        add(*_mention_condition(path))
    if filters.paths:
        patterns = [_path_condition(path) for path in filters.paths]
        add(
            f"({' OR '.join(condition for condition, _ in patterns)})", *(v for _, vs in patterns for v in vs)
        )
    if filters.since is not None:
        add("p.updated_at >= ?", filters.since)
    if filters.until is not None:
        add("p.updated_at < ?", filters.until)
    for slug in filters.links_to:
        add(sql.LINKS_TO, slug)
    for slug in filters.linked_by:
        add(sql.LINKED_BY, slug)
    return " AND ".join(parts) or "TRUE", values


def clean_mention(path: str) -> str:
    """Clean a path as the index does (spec 1.6), keeping the slash that makes it a folder."""
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            if not parts:
                raise UsageError(path, "leads out of the repository", "give a path below its folder")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise UsageError(path, "names no file", "give a path below the repository's folder")
    is_folder = path.endswith(("/", "\\", "/.", "\\."))
    return fold_path("/".join(parts)) + ("/" if is_folder else "")


def _mention_condition(path: str) -> tuple[str, ...]:
    if path.endswith("/"):
        return sql.MENTIONS_FOLDER, path[:-1], path, path[:-1] + _AFTER_SLASH
    above = [path[:cut] for cut in range(len(path)) if path[cut] == "/"]
    marks = ", ".join("?" * len(above))
    return sql.MENTIONS_FILE.format(above=marks), path, *above


def _path_condition(path: str) -> tuple[str, tuple[str, ...]]:
    if _GLOB_SIGNS.isdisjoint(path):
        folder = path.rstrip("/")
        return "(p.path = ? OR p.path >= ? AND p.path < ?)", (folder, folder + "/", folder + _AFTER_SLASH)
    return "p.path GLOB ?", (path,)
