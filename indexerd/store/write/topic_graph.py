"""The graph of topics: those pages carry, those `topics.yaml` declares, and what is above them.

`a/b` is under `a` without being told (spec 1.6). Computed as a whole, which is small, and only when
a topic came or went; written as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import apsw

from indexerd.core.model import TopicDeclaration
from indexerd.core.page.topics import enclosing_topics
from indexerd.store.file.select import select_row, select_rows
from indexerd.store.write.row_changes import RowChanges

_TABLES: Final = {
    "topic": ("slug, title, description, declared", "slug"),
    "topic_parent": ("child, parent", "child, parent"),
    "topic_tree": ("under, topic", "under, topic"),
}


@dataclass(frozen=True, slots=True)
class TopicGraph:
    """Rows of `topic`, `topic_parent` and `topic_tree`."""

    topics: frozenset[tuple[str, str | None, str | None, int]]
    parents: frozenset[tuple[str, str]]
    tree: frozenset[tuple[str, str]]


def topic_graph(used: Iterable[str], declarations: Iterable[TopicDeclaration]) -> TopicGraph:
    """Every topic there is, its parents, and everything above it, itself included."""
    declared = {declaration.slug: declaration for declaration in declarations}
    edges = {(slug, parent) for slug, declaration in declared.items() for parent in declaration.parents}
    waiting = {*used, *declared, *(parent for _, parent in edges)}
    names: set[str] = set()
    while waiting:
        name = waiting.pop()
        names.add(name)
        for above in enclosing_topics(name)[:1]:
            edges.add((name, above))
            waiting |= {above} - names
    parents: dict[str, set[str]] = {}
    for child, parent in edges:
        parents.setdefault(child, set()).add(parent)
    topics = set()
    for name in names:
        declaration = declared.get(name)
        title, description = (declaration.title, declaration.description) if declaration else (None, None)
        topics.add((name, title, description, int(declaration is not None)))
    tree = {(above, name) for name in names for above in _ancestry(name, parents)}
    return TopicGraph(frozenset(topics), frozenset(edges), frozenset(tree))


def _ancestry(name: str, parents: dict[str, set[str]]) -> set[str]:
    """The topic and all above it; ends in a cycle too, should a declared and an implied edge make one."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        above = waiting.pop()
        if above not in found:
            found.add(above)
            waiting += parents.get(above, ())
    return found


def write_topics(
    connection: apsw.Connection, changes: RowChanges, declarations: Sequence[TopicDeclaration] | None
) -> bool:
    """Bring the graph to what pages and declarations say; whether it changed. After the rows."""
    if declarations is None and not _has_moved(connection, changes):
        return False
    if declarations is None:
        declarations = _fetch_declarations(connection)
    used = [slug for (slug,) in select_rows(connection, "SELECT DISTINCT topic FROM page_topic")]
    graph = topic_graph(used, declarations)
    changed = False
    for table, rows in (("topic", graph.topics), ("topic_parent", graph.parents), ("topic_tree", graph.tree)):
        changed |= _write_difference(connection, table, rows)
    return changed


def _has_moved(connection: apsw.Connection, changes: RowChanges) -> bool:
    """Whether a topic is carried for the first time, or by no page any more."""
    gained = {topic for _, topic, _ in changes.topics_inserted}
    return any(
        select_row(connection, "SELECT 1 FROM topic WHERE slug = ?", (topic,)) is None for topic in gained
    ) or any(
        select_row(connection, "SELECT 1 FROM page_topic WHERE topic = ? LIMIT 1", (topic,)) is None
        for topic in changes.topics_released - gained
    )


def _fetch_declarations(connection: apsw.Connection) -> list[TopicDeclaration]:
    parents: dict[str, list[str]] = {}
    for child, parent in select_rows(connection, "SELECT child, parent FROM topic_parent ORDER BY 1, 2"):
        parents.setdefault(child, []).append(parent)
    declared = select_rows(
        connection, "SELECT slug, title, description FROM topic WHERE declared ORDER BY slug"
    )
    return [
        TopicDeclaration(slug, title, description, tuple(parents.get(slug, ())))
        for slug, title, description in declared
    ]


def _write_difference(connection: apsw.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> bool:
    columns, key = _TABLES[table]
    old = set(select_rows(connection, f"SELECT {columns} FROM {table}"))
    new = set(rows)
    width = len(key.split(", "))
    condition = " AND ".join(f"{column} = ?" for column in key.split(", "))
    connection.executemany(f"DELETE FROM {table} WHERE {condition}", [row[:width] for row in old - new])
    marks = ", ".join("?" * len(columns.split(", ")))
    connection.executemany(f"INSERT INTO {table}({columns}) VALUES({marks})", list(new - old))
    return old != new
