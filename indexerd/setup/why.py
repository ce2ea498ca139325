"""Why a path is a page of the index or is not: the rule that leaves it out, or its row (spec 3.8).

The scanner itself decides, so that the explanation is what happens. Reads the index, writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from indexerd.contract.which_index import find_around
from indexerd.core.model import Diagnostic
from indexerd.core.sync.model import IndexedPage
from indexerd.errors import RootError, UsageError
from indexerd.setup.compose import Wiki, find_wiki
from indexerd.setup.registry import list_indexes
from indexerd.store import Snapshot
from indexerd.tree.scanner import LeftOut
from indexerd.tree.tree import Tree


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of `path`, relative to the root of `wiki`.

    `exists`: something is there. `is_page`, `pages`: the rules take it for a page, or for a folder with so
    many. `left_out`: the rule that leaves it out, or a folder above it. `row`: of the index, None without.
    """

    wiki: Wiki
    path: str
    exists: bool
    is_page: bool
    pages: int
    left_out: LeftOut | None
    row: IndexedPage | None
    diagnostics: tuple[Diagnostic, ...]


def explain_path(argument: str, root: str | None, environ: Mapping[str, str]) -> Explanation:
    """Explain the path `argument`; without `root`, in the deepest indexed wiki around it.

    Raises UsageError where no wiki holds it, RootError and what `find_wiki` raises.
    """
    # The name itself may be a link, which is what is asked about; the folders above it are not.
    folder, name = os.path.split(os.path.abspath(argument))
    place = os.path.join(os.path.realpath(folder), name)
    if root is None:
        around = find_around((index for index in list_indexes(environ) if index.root), place)
        if around is None:
            raise UsageError(place, "lies in no indexed wiki", "name the wiki's folder with --root")
        root = around.root
    wiki = find_wiki(root, {}, environ)
    path = os.path.relpath(place, os.path.realpath(wiki.root))
    if path.startswith(os.pardir):
        raise RootError(place, f"does not lie below {wiki.root}", "name a path in the wiki")
    path = "" if path == os.curdir else path
    scan, left_out = Tree(wiki.root, wiki.tree_settings).explain(path)
    row, said = _known_of(wiki, path)
    return Explanation(
        wiki=wiki,
        path=path,
        exists=os.path.lexists(place),
        is_page=path in scan.stamps,
        pages=len(scan.stamps),
        left_out=None if scan.stamps else left_out,
        row=row,
        diagnostics=tuple(dict.fromkeys((*scan.diagnostics.get(path, ()), *said))),
    )


def _known_of(wiki: Wiki, path: str) -> tuple[IndexedPage | None, tuple[Diagnostic, ...]]:
    """The row of a path, and what the index says of it."""
    if not wiki.index.exists():
        return None, ()
    with Snapshot.open(wiki.index) as snapshot:
        said = tuple(
            Diagnostic(str(kind), str(message), line if isinstance(line, int) else None)
            for told, _, kind, line, message in snapshot.public_rows("v1_diagnostics")
            if told == path
        )
        return snapshot.fetch_indexed([path]).get(path), said
