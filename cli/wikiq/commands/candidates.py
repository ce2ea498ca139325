"""Completion of arguments by click: candidates from the index that the command line names.

Nothing is printed or raised: a shell that completes a line shows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from wikiq.errors import WikiqError
from wikiq.output.context import Surroundings

if TYPE_CHECKING:
    from wikiq.answers.completion import Candidate
    from wikiq.index.database import Snapshot

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def pages(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a page."""
    from wikiq.answers.completion import complete_pages

    return _asked(ctx, complete_pages, incomplete)


def sections(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a page, or after a `#` its section."""
    from wikiq.answers.completion import complete_sections

    return _asked(ctx, complete_sections, incomplete)


def topics(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a topic."""
    from wikiq.answers.completion import complete_topics

    return _asked(ctx, complete_topics, incomplete)


def wikis(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a wiki, or its folder where several share the name."""
    from wikiq.answers.completion import complete_wikis
    from wikiq.index.locate import list_indexes

    surroundings: Any = ctx.obj
    if not isinstance(surroundings, Surroundings):
        return []
    return _items(complete_wikis(list_indexes(surroundings.environ), incomplete))


def kinds(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a kind of problem."""
    from wikiq.answers.check import TITLES

    return [CompletionItem(kind, help=title) for kind, title in TITLES.items() if kind.startswith(incomplete)]


# Options by the field they fill.
OF_FIELD: dict[str, Completer] = {
    "topic": topics,
    "under": topics,
    "not_topic": topics,
    "links_to": pages,
    "linked_by": pages,
    "wiki": wikis,
}


def _asked(
    ctx: click.Context, service: Callable[[Snapshot, str], tuple[Candidate, ...]], incomplete: str
) -> list[CompletionItem]:
    from wikiq.model.request import Source
    from wikiq.shell.session import opened

    surroundings: Any = ctx.obj
    if not isinstance(surroundings, Surroundings):
        return []
    source = Source(db=ctx.params.get("db"), wiki=ctx.params.get("wiki"))
    try:
        with opened(source, surroundings) as session:
            found = service(session.snapshot, incomplete)
    except WikiqError:
        return []
    return _items(found)


def _items(found: Sequence[Candidate]) -> list[CompletionItem]:
    return [CompletionItem(candidate.text, help=candidate.meaning) for candidate in found]
