"""`wikiq check`: what is wrong with the wiki, grouped, with line and remedy; exit status 1 when broken."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import click

from wikiq.answers.check import BROKEN_KINDS, TITLES, CheckResult, Problem, check, only_kinds
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, UsageError
from wikiq.output.context import Surroundings
from wikiq.output.hits import result_json, row_json, shown_path
from wikiq.output.terminal import BOLD, FAINT, PLACE, Span
from wikiq.shell.options import COMMANDS, INDEX
from wikiq.shell.session import opened

PROBLEMS_FOUND = 1
MOST_SHOWN = 20  # problems of one kind on a terminal; `--all` shows the rest


@click.pass_obj
def _check(
    surroundings: Surroundings,
    /,
    *,
    repo: str | None,
    kind: tuple[str, ...],
    strict: bool,
    all: bool,  # noqa: A002 - the name of the option
    json: bool,
    ndjson: bool,
    **values: Any,
) -> int:
    if json and ndjson:
        raise UsageError("--json --ndjson", "cannot be combined", "give one of them")
    with opened(split_source(values), surroundings) as session:
        found = only_kinds(check(session.snapshot, repository=repo, strict=strict), kind)
    session.tell_staleness(surroundings)

    def place(problem: Problem) -> str:
        path = shown_path(session.root, problem.path, surroundings.folder)
        return path if problem.line is None else f"{path}:{problem.line}"

    if json:
        surroundings.out.text(result_json(found, session.age) + "\n")
    elif ndjson:
        for problem in found.problems:
            surroundings.out.text(row_json(problem) + "\n")
    elif surroundings.out.is_terminal:
        _show(found, place, surroundings, most=None if all else MOST_SHOWN)
    else:
        for problem in found.problems:
            surroundings.out.fields(problem.kind, place(problem), problem.message, problem.remedy)
    counted = len(found.problems) if strict else found.broken
    return session.exit_status(PROBLEMS_FOUND if counted else FOUND)


def _show(
    found: CheckResult, place: Callable[[Problem], str], surroundings: Surroundings, *, most: int | None
) -> None:
    out = surroundings.out
    for kind, group in groupby(found.problems, lambda problem: problem.kind):
        problems = list(group)
        title = TITLES.get(kind, kind.replace("_", " ").capitalize())
        out.line(Span(text=title, style=BOLD), Span(text=f"  {kind}, {len(problems)}", style=FAINT))
        for remedy, same in groupby(problems[:most], lambda problem: problem.remedy):
            for problem in same:
                out.line("  ", Span(text=place(problem), style=PLACE), f"  {problem.message}")
            if remedy:
                out.line("    ", Span(text=f"→ {remedy}", style=FAINT))
        if len(problems) > len(problems[:most]):
            out.line(f"  and {len(problems) - len(problems[:most])} more; see them with --all")
        out.line()
    if not found.problems:
        out.line("nothing is wrong")
    elif not found.broken:
        out.line("nothing is broken; these are notes")


def _kinds(*, broken: bool) -> str:
    told = ((kind, title) for kind, title in TITLES.items() if (kind in BROKEN_KINDS) is broken)
    return "\n    ".join(f"{kind:<21} {title}" for kind, title in told)


command = click.Command(
    "check",
    callback=_check,
    params=[
        click.Option(
            ["--repo"],
            type=click.Path(file_okay=False),
            metavar="PATH",
            help="Folder that mentioned paths start from; default: the nearest one above the wiki with .git.",
        ),
        click.Option(
            ["--kind"],
            multiple=True,
            metavar="KIND",
            help="Only problems of this kind; repeat it for more kinds.",
            shell_complete=candidates.kinds,
        ),
        click.Option(["--strict"], is_flag=True, help="Count notes and ambiguous links as broken too."),
        click.Option(["--all"], is_flag=True, help=f"Show all problems, not {MOST_SHOWN} of each kind."),
        click.Option(["--json"], is_flag=True, help="Print one JSON document."),
        click.Option(
            ["--ndjson"], is_flag=True, help="Print NDJSON: one JSON document a line, one line a problem."
        ),
        *parameters(INDEX),
    ],
    help=f"""{COMMANDS["check"]} Exit status 1 when something is broken: what a reader meets.
    The others are notes; with --strict they count too. The wiki's `.wikiq.toml` may pass over kinds and
    paths: ignore = [{{ kind = "orphan", path = "journal/*" }}] below [check].

    Broken:

    \b
    {_kinds(broken=True)}

    Notes:

    \b
    {_kinds(broken=False)}""",
)
