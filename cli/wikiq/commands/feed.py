"""`wikiq feed URL`: keeps a PostgreSQL database equal to the index, once or as the index changes."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import Any

import click

from wikiq.commands.group import parameters, split_source
from wikiq.errors import UsageError
from wikiq.feed.feeder import UP_TO_DATE, Fed, Feeder
from wikiq.feed.follow import LOAD_DEADLINE_S, follow_index
from wikiq.index.postgres import SCHEMES, is_address
from wikiq.output.context import Surroundings
from wikiq.output.terminal import counted
from wikiq.shell.options import COMMANDS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _feed(
    surroundings: Surroundings,
    /,
    *,
    url: str,
    follow: bool,
    schema: str | None,
    init: bool,
    anew: bool,
    **values: Any,
) -> int:
    from wikiq.index.postgres.connect import parse_address

    if not is_address(url):
        raise UsageError(url, "is no address of a database", f"write it like {SCHEMES[0]}user@host/name")
    source = split_source(values)
    if is_address(source.db):
        raise UsageError("--db", "is a database that was fed", "feed from the index file")
    address = parse_address(url, schema)
    with ExitStack() as feeding:
        with opened(source, surroundings, deadline_s=LOAD_DEADLINE_S) as session:
            feeder = feeding.enter_context(closing(Feeder(address, session.snapshot.wiki)))
            if init:
                feeder.make_tables()
            fed = feeder.feed(session.snapshot, anew=anew)
        surroundings.out.line(_told(fed))
        if follow:
            for fed in follow_index(
                feeder,
                lambda: opened(source.replace(fresh=False), surroundings).database,
                pause=surroundings.out.pause,
                note=surroundings.note,
            ):
                surroundings.out.line(_told(fed))
    return session.exit_status(0)


def _told(fed: Fed) -> str:
    """Say in one line what was fed."""
    done = fed.how
    if fed.how != UP_TO_DATE:
        done += f", {counted(fed.pages, 'page')} written"
        done += f", {counted(fed.gone, 'page')} deleted" if fed.gone else ""
    return f"{fed.wiki}: {done}, generation {fed.generation}"


command = click.Command(
    "feed",
    callback=_feed,
    params=[
        click.Argument(["url"], metavar="postgresql://USER@HOST/NAME"),
        click.Option(["--follow"], is_flag=True, help="Go on as the index changes, until interrupted."),
        click.Option(
            ["--schema"], metavar="NAME", help="The schema that holds the tables (wikiq); also ?schema=NAME."
        ),
        click.Option(["--init"], is_flag=True, help="Make schema and tables where they are not there."),
        click.Option(["--anew"], is_flag=True, help="Write all rows anew, whatever is there."),
        *parameters(INDEX),
    ],
    help=f"""{COMMANDS["feed"]}

    Each look is one transaction that moves rows and cursor together, so it may be ended at any moment.
    Ask what was fed with `--db` and the same address. Needs the extra: pip install 'indexerd[postgres]'.""",
)
