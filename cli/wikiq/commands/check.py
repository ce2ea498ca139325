"""`wikiq check`: what is wrong with the wiki, grouped, with line and remedy; exit status 1 when broken."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import click

from indexerd.contract.record import Record
from wikiq.answers.check import BROKEN_KINDS, TITLES, CheckResult, Problem, check, only_kinds
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOT_FRESH, UsageError
from wikiq.model.results import IndexAge
from wikiq.output.context import Surroundings
from wikiq.output.hits import records_json, result_json, row_json, shown_path
from wikiq.output.terminal import BOLD, FAINT, PLACE, Span
from wikiq.shell.all_wikis import each_wiki
from wikiq.shell.options import ALL, COMMANDS, INDEX
from wikiq.shell.session import Session, opened

PROBLEMS_FOUND = 1
MOST_SHOWN = 20  # problems of one kind on a terminal; `--full` shows the rest


class _Checked(Record):
    """What a check found, with what is told of the wiki after its session."""

    found: CheckResult
    root: str
    age: IndexAge


@click.pass_obj
def _check(
    surroundings: Surroundings,
    /,
    *,
    repo: str | None,
    kind: tuple[str, ...],
    strict: bool,
    full: bool,
    all: bool,  # noqa: A002 - the name of the option
    json: bool,
    ndjson: bool,
    **values: Any,
) -> int:
    if json and ndjson:
        raise UsageError("--json --ndjson", "cannot be combined", "give one of them")

    def ask(session: Session) -> _Checked:
        found = only_kinds(check(session.snapshot, repository=repo, strict=strict), kind)
        return _Checked(found=found, root=session.root, age=session.age)

    if all:
        asked, beside = each_wiki(ask, split_source(values), surroundings)
        checked, is_fresh = [one for _, one in asked], not beside.not_fresh
        document = records_json("wikis", [one.found for one in checked])
    else:
        with opened(split_source(values), surroundings) as session:
            checked = [ask(session)]
        session.tell_staleness(surroundings)
        is_fresh = session.is_fresh
        document = result_json(checked[0].found, checked[0].age)
    if json:
        surroundings.out.text(document + "\n")
    for one in checked if not json else ():
        _print(one, surroundings, ndjson=ndjson, is_one=not all, most=None if full else MOST_SHOWN)
    counted = sum(len(one.found.problems) if strict else one.found.broken for one in checked)
    return NOT_FRESH if not is_fresh else PROBLEMS_FOUND if counted else FOUND


def _print(
    checked: _Checked, surroundings: Surroundings, *, ndjson: bool, is_one: bool, most: int | None
) -> None:
    """Print the problems of a wiki, which is told where more than one is asked."""
    out, found, root = surroundings.out, checked.found, checked.root

    def place(problem: Problem) -> str:
        path = shown_path(root, problem.path, surroundings.folder)
        return path if problem.line is None else f"{path}:{problem.line}"

    if ndjson:
        for problem in found.problems:
            out.text((row_json(problem) if is_one else row_json(problem, wiki=found.wiki, root=root)) + "\n")
    elif out.is_terminal:
        if not is_one:
            out.wrapped(Span(text=found.wiki, style=BOLD), "  ", Span(text=root, style=FAINT))
        _show(found, place, surroundings, most=most)
        if not is_one:
            out.line()
    else:
        for problem in found.problems:
            out.fields(problem.kind, place(problem), problem.message, problem.remedy)


def _show(
    found: CheckResult, place: Callable[[Problem], str], surroundings: Surroundings, *, most: int | None
) -> None:
    out = surroundings.out
    for kind, group in groupby(found.problems, lambda problem: problem.kind):
        problems = list(group)
        title = TITLES.get(kind, kind.replace("_", " ").capitalize())
        out.wrapped(Span(text=title, style=BOLD), Span(text=f"  {kind}, {len(problems)}", style=FAINT))
        for remedy, same in groupby(problems[:most], lambda problem: problem.remedy):
            for problem in same:
                out.wrapped("  ", Span(text=place(problem), style=PLACE), f"  {problem.message}")
            if remedy:
                out.wrapped("    ", Span(text=f"→ {remedy}", style=FAINT))
        if len(problems) > len(problems[:most]):
            out.line(f"  and {len(problems) - len(problems[:most])} more; see them with --full")
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
        click.Option(["--full"], is_flag=True, help=f"Show all problems, not {MOST_SHOWN} of each kind."),
        click.Option(["--json"], is_flag=True, help="Print one JSON document."),
        click.Option(
            ["--ndjson"], is_flag=True, help="Print NDJSON: one JSON document a line, one line a problem."
        ),
        *parameters(ALL | INDEX),
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
