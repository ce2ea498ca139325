"""The subcommands that index: build, run, verify."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from indexerd.command.options import DIFFERENT, chosen_wiki, counted, tell, wiki_options
from indexerd.errors import DamagedIndexError

if TYPE_CHECKING:
    from indexerd.setup.compose import Wiki

MERGE_PAGES: Final = 1000  # of the full text at once: no reader waits for a build's last step


@click.command()
@wiki_options
def build(root: str | None, **flags: str | bool | None) -> None:
    """Bring an index up to date once.

    ROOT is the folder of the pages, by default the current one.
    """
    from indexerd.command.logs import configure_logs

    wiki = chosen_wiki(root, flags)
    configure_logs(quiet=True)
    try:
        _build(wiki, anew=False)
    except DamagedIndexError:  # of a kind that no check at opening sees
        _build(wiki, anew=True)


def _build(wiki: Wiki, *, anew: bool) -> None:
    from indexerd.command.logs import get_logger
    from indexerd.command.progress import Progress
    from indexerd.core.page.names import escape_name
    from indexerd.pipeline.whole_build import build_whole
    from indexerd.setup.compose import opened_indexer

    start = time.monotonic()
    progress = Progress(sys.stderr, start=start)
    with opened_indexer(wiki, get_logger(), anew=anew) as (indexer, store):
        if store.moved_aside is not None:
            moved = escape_name(str(store.moved_aside))
            click.echo(f"indexerd: the index was damaged; it was moved to {moved}", err=True)
        try:
            scanned, update = build_whole(indexer, progress=progress.show)
        finally:
            progress.close()
        while update.commits and store.merge(MERGE_PAGES):
            pass
        store.checkpoint(truncate=True)
    tell(
        f"{counted(len(scanned.scan.stamps))}, {update.changed} changed, generation {update.generation}, "
        f"{time.monotonic() - start:.1f} s: {wiki.index}"
    )
    if not scanned.scan.stamps:
        from indexerd.setup.no_pages import explain_no_pages

        tell(f"indexerd: {wiki.root}: {explain_no_pages(wiki) or 'no page'}", err=True)


@click.command()
@click.option("--quiet", is_flag=True, help="Log warnings and errors only.")
@wiki_options
def run(root: str | None, *, quiet: bool, **flags: str | bool | None) -> None:
    """Follow a wiki until stopped.

    Its index is always up to date. ROOT is the folder of the pages, by default the current one, or the
    name of a wiki.
    """
    from indexerd.command.logs import configure_logs, get_logger
    from indexerd.daemon.start import run_daemon
    from indexerd.setup.compose import find_wiki
    from indexerd.setup.registry import root_of_name

    configure_logs(quiet=quiet)
    given = {field: value for field, value in flags.items() if value is not None}
    named = root_of_name(root, os.environ)
    run_daemon(lambda: find_wiki(named, given, os.environ, must_exist=False), os.environ, get_logger())


@click.command()
@wiki_options
def verify(root: str | None, **flags: str | bool | None) -> int:
    """Compare an index with its tree.

    The index of ROOT, by default of the current folder, with a fresh projection. Prints every difference,
    nothing when there is none, and exits 1 when they differ.
    """
    from indexerd.command.logs import configure_logs, get_logger
    from indexerd.command.progress import Progress
    from indexerd.pipeline.verify import check_integrity, find_differences
    from indexerd.setup.compose import scratch_indexer

    wiki = chosen_wiki(root, flags)
    configure_logs(quiet=True)
    progress = Progress(sys.stderr, start=time.monotonic())
    with tempfile.TemporaryDirectory(prefix="indexerd-") as folder:
        problems = check_integrity(wiki.index, Path(folder) / "copy.db")
        with scratch_indexer(wiki, Path(folder) / "fresh", get_logger()) as (indexer, fresh):
            try:
                problems += find_differences(wiki.index, fresh, indexer, progress=progress.show)
            finally:
                progress.close()
    for problem in problems:
        tell(problem)
    return DIFFERENT if problems else 0
