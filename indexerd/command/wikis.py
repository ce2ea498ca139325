"""The subcommands about indexes that are there: config, list, forget, move."""

from __future__ import annotations

import json
import os

import click

from indexerd.command.options import OUTPUT_FORMAT, chosen_wiki, counted, tell, wiki_options
from indexerd.errors import UsageError


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@wiki_options
def config(root: str | None, *, as_json: bool, **flags: str | bool | None) -> None:
    """Show the settings in force.

    For ROOT, by default the current folder, and where each comes from.
    """
    from indexerd.setup.config import setting_values

    wiki = chosen_wiki(os.curdir if root is None else root, flags)
    values = {setting.key: value for setting, value in setting_values(wiki.settings)}
    origins = wiki.configuration.origins
    if as_json:
        settings = {key: {"value": value, "from": origins[key]} for key, value in values.items()}
        shown = {"format": OUTPUT_FORMAT, "root": wiki.root, "index": str(wiki.index), "settings": settings}
        click.echo(json.dumps(shown))
        return
    rows = [("root", wiki.root, ""), ("index", str(wiki.index), "")]
    rows += [(key, json.dumps(value, ensure_ascii=False), origins[key]) for key, value in values.items()]
    for key, value, origin in rows:
        tell(f"{key} = {value}" + (f"    # {origin}" if origin else ""))


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_command(*, as_json: bool) -> None:
    """List the indexes there are, with their roots."""
    from indexerd.core.page.names import escape_name
    from indexerd.setup.registry import list_indexes

    known = list_indexes(os.environ)
    if as_json:
        fields = [
            {
                "name": index.wiki,
                "root": index.root,
                "index": index.path,
                "pages": index.pages,
                "problem": index.problem,
            }
            for index in known
        ]
        click.echo(json.dumps({"format": OUTPUT_FORMAT, "indexes": fields}))
        return
    for index in known:
        columns = [index.wiki, index.root or index.path, counted(index.pages), index.problem or "ok"]
        click.echo("\t".join(map(escape_name, columns)))


@click.command()
@click.argument("index", metavar="ROOT|NAME")
@click.option("--purge", is_flag=True, help="Remove the index's files as well; they can be built again.")
def forget(index: str, *, purge: bool) -> None:
    """Take an index out of use.

    The wiki itself is not touched, and the next build brings the index back; with --purge it is gone.
    """
    from indexerd.setup.registry import find_index, forget_index

    found = find_index(index, os.environ, forgotten=purge)
    forget_index(found, purge=purge)
    tell(f"{'removed' if purge else 'forgotten'}: {found.wiki} ({found.root})")


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW", type=click.Path())
def move(old: str, new: str) -> None:
    """Record that a wiki has moved.

    What was at OLD (a root or a name) is at NEW now; its index goes along.
    """
    from indexerd.setup.registry import find_index, move_index, resolve_root

    root = resolve_root(new, os.environ)
    found = find_index(old, os.environ)
    if found.problem is not None and not found.root:
        raise UsageError(found.path, "cannot be read", f"{found.problem}")
    place = move_index(found, root, os.environ)
    tell(f"moved: {found.root} to {root}: {place}")
