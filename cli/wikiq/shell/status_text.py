"""The state of an index in words: one sentence, and lines of a name and a value. Pure."""

from __future__ import annotations

from indexerd.contract.which_index import shell_word
from wikiq.index.freshness import COPY, RUNNING, STOPPED, last_commit, render_age
from wikiq.output.terminal import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wikiq.model.results import Status


def sentence(found: Status) -> str:
    """Say in one line how the wiki is."""
    if not found.stale:
        state = "up to date"
    elif found.pending:
        state = f"{counted(found.pending, 'change')} pending"
    else:
        state = "may be behind the disk"
    if not found.pages:
        state = f"`indexerd why {shell_word(found.root)}` says what is left out"
    followed = "followed" if found.daemon == RUNNING else "not followed"
    return f"{counted(found.pages, 'page')}, {state}, {followed}"


def status_lines(found: Status, *, verbose: bool) -> Iterator[tuple[str, str]]:
    """Give what people want to know first, a name and a value a line; ids and counters when `verbose`."""
    yield "wiki", found.wiki
    yield "root", found.root
    yield "index", found.db
    if verbose:
        yield "generation", f"{found.generation} (commits that changed something) of index {found.index_id}"
    yield "pages", f"{found.pages} with {counted(found.sections, 'section')}"
    yield "daemon", found.daemon if found.daemon == found.mode else f"{found.daemon}, {found.mode}"
    if found.reason and found.mode != STOPPED:
        yield "reason", found.reason
    if found.remedy:
        yield "remedy", found.remedy
    age = (
        last_commit(found.age_s)
        if found.mode == COPY
        else "no scan yet"
        if found.age_s is None
        else f"last scan or commit {render_age(found.age_s)} ago"
    )
    yield "freshness", f"{age}, {counted(found.pending, 'change')} pending" if found.pending else age
    if found.building:
        yield "building", "the first build is not complete"
    if not found.projection_current:
        yield "projection", "of another version; the daemon renews it page by page"
    if verbose and found.last_scan is not None:
        scan = found.last_scan
        counts = f"{scan.pages_seen} seen, {scan.pages_changed} changed, {scan.missed_by_events} missed"
        yield "last scan", f"{scan.finished_at} ({scan.reason}): {counts} by events"
    if verbose and found.counters:
        yield "counters", ", ".join(f"{name} {count}" for name, count in sorted(found.counters.items()))
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.problem_kinds.items())
    problems = f"{found.problems} ({kinds})" if kinds else str(found.problems)
    yield "problems", f"{problems} noted by the indexer; `wikiq check` also looks at links and mentions"
