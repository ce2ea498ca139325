"""`wikiq serve`: the wiki in a browser, for whoever sits at this machine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from wikiq.commands.group import parameters
from wikiq.errors import UsageError
from wikiq.model.request import Source
from wikiq.output.context import Surroundings
from wikiq.shell.options import COMMANDS, INDEX

# What the extra brings, by the names that are imported.
_NEEDED = ("jinja2", "latex2mathml", "mdit_py_plugins", "nh3", "pygments", "starlette", "uvicorn")


@click.pass_obj
def _serve(
    surroundings: Surroundings,
    /,
    *,
    port: int,
    host: str,
    allow_host: tuple[str, ...],
    no_open: bool,
    editor: bool,
    **values: Any,
) -> int:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        problem = f"needs what is not installed ({', '.join(missing)})"
        raise UsageError("wikiq serve", problem, "pip install 'indexerd[web]'")
    from wikiq.web.serve import Serving, serve

    serving = Serving(host=host, port=port, names=allow_host, opens_browser=not no_open, opens_editor=editor)
    return serve(Source(**values), serving, surroundings)


command = click.Command(
    "serve",
    callback=_serve,
    params=[
        click.Option(
            ["--port"],
            type=click.IntRange(0, 65535),
            default=0,
            metavar="PORT",
            help="The port; 0 is any that is free.",
        ),
        click.Option(
            ["--host"], default="127.0.0.1", metavar="ADDRESS", help="The address to listen on (127.0.0.1)."
        ),
        click.Option(
            ["--allow-host"],
            multiple=True,
            metavar="NAME",
            help="A name by which this server may be asked besides localhost; needed for another --host.",
        ),
        click.Option(["--no-open"], is_flag=True, help="Do not open the browser."),
        click.Option(
            ["--editor"], is_flag=True, help="Let the key e in the browser open your editor (VISUAL, EDITOR)."
        ),
        *parameters({name: INDEX[name] for name in ("--db", "--wiki", "--copy", "--max-age")}),
    ],
    help=f"""{COMMANDS["serve"]}

    Prints the address, with a token that lets your browser in, and opens it where it runs on a terminal. It
    reads only, and ends with Ctrl-C. It needs the extra: pip install 'indexerd[web]'.""",
)
