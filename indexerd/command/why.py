"""`indexerd why`: which rule leaves a path out, or what the index has of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from indexerd.command.options import DIFFERENT, OUTPUT_FORMAT, counted, tell

if TYPE_CHECKING:
    from indexerd.setup.why import Explanation
    from indexerd.tree.scanner import LeftOut

RULES: Final = {
    "hidden": "names that begin with a dot are hidden",
    "node_modules": "folders of this name are passed over",
    "extension": "its name ends in no extension of pages; see `wiki.extensions`",
    "own_file": "it is the index itself",
    "worktree": "it is a git worktree of a repository that is here already",
    "link": "it is a symbolic link that is not followed; see `wiki.follow_symlinks`",
}


@click.command()
@click.argument("path", type=click.Path())
@click.option("--root", type=click.Path(), help="The wiki's folder; needed where no index contains PATH.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def why(path: str, root: str | None, *, as_json: bool) -> int:
    """Show the rule that leaves PATH out of the index, or its row.

    Exits 1 when nothing is there and the index knows of nothing.
    """
    from indexerd.setup.why import explain_path

    found = explain_path(path, root, os.environ)
    if as_json:
        click.echo(json.dumps(_fields(found)))
    else:
        for line in _lines(found):
            tell(line)
    return 0 if found.exists or found.row is not None else DIFFERENT


def _lines(found: Explanation) -> Iterator[str]:
    name, root = found.path or os.curdir, found.wiki.root
    if found.left_out is not None:
        yield f"{name}: left out: {_because(found.left_out, name)}"
    elif not found.exists:
        yield f"{name}: is not there"
    elif found.is_page:
        yield f"{name}: is a page"
    elif found.pages:
        yield f"{name}: is a folder with {counted(found.pages)}"
    else:
        yield f"{name}: holds no page"
        if not found.path:
            from indexerd.setup.no_pages import explain_no_pages

            hint = explain_no_pages(found.wiki)
            if hint is not None:
                yield f"{root}: {hint}"
    if found.row is not None:
        state = "" if found.is_page else ", until the next scan"
        yield f"{name}: is in the index as {found.row.slug}{state}"
    elif found.is_page:
        yield f"{name}: is not in the index yet; indexerd build {root}"
    for said in found.diagnostics:
        place = name if said.line is None else f"{name}:{said.line}"
        yield f"{place}: {said.kind}: {said.message}"


def _because(left_out: LeftOut, asked: str) -> str:
    about = "" if left_out.path == asked else f"{left_out.path}: "
    decision = left_out.decision
    if decision is None:
        return f"{about}{RULES[left_out.rule]}"
    return f"{about}{decision.source}:{decision.line}: {decision.pattern}"


def _fields(found: Explanation) -> dict[str, Any]:
    left_out, row = found.left_out, found.row
    decision = None if left_out is None else left_out.decision
    return {
        "format": OUTPUT_FORMAT,
        "root": found.wiki.root,
        "index": str(found.wiki.index),
        "path": found.path,
        "exists": found.exists,
        "pages": found.pages,
        "left_out": None
        if left_out is None
        else {
            "path": left_out.path,
            "rule": left_out.rule,
            "because": _because(left_out, found.path),
            "source": None if decision is None else decision.source,
            "line": None if decision is None else decision.line,
            "pattern": None if decision is None else decision.pattern,
        },
        "row": None if row is None else {"slug": row.slug, "content_hash": row.content_hash},
        "diagnostics": [
            {"kind": said.kind, "line": said.line, "message": said.message} for said in found.diagnostics
        ],
    }
