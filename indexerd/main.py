"""The command `indexerd`: words to settings, settings to parts, results to lines and exit statuses.

Every subcommand imports what it needs when it runs. What a user can cause ends in one line on
stderr; a bug keeps its traceback. Never writes in a wiki.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from indexerd.errors import DamagedIndexError, IndexerdError, NotPermittedError, StorageError, UsageError

if TYPE_CHECKING:
    from indexerd.compose import Wiki

USAGE: Final = 64
DIFFERENT: Final = 1
INTERRUPTED: Final = 130
MERGE_PAGES: Final = 1000  # of the full text at once: no reader waits for a build's last step
OUTPUT_FORMAT: Final = 1  # of what --json prints

F = TypeVar("F", bound=Callable[..., Any])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit status (spec 3.8)."""
    _hold_standard_streams()
    if os.name == "nt":
        print("indexerd: Windows is not supported; run it inside WSL", file=sys.stderr)
        return USAGE
    try:
        status = cli.main(arguments, prog_name="indexerd", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return USAGE
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "indexerd"
        print(f"indexerd: {error.format_message().rstrip('.?')}; see `{command} --help`", file=sys.stderr)
        return USAGE
    except IndexerdError as error:
        return _fail(error)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - lives until the process ends
        return 0
    except OSError as error:
        kind = NotPermittedError if isinstance(error, PermissionError) else StorageError
        nameless = "the current folder" if isinstance(error, FileNotFoundError) else ""
        what = str(error.filename or nameless)
        return _fail(kind(what, error.strerror or str(error), "check the path, the disk and its permissions"))


def _hold_standard_streams() -> None:
    """A closed one becomes /dev/null: else the next file that is opened gets its number, and its output."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _tell(line: str) -> None:
    """Print a line in which a name may have any characters."""
    from indexerd.core.names import escape_name

    click.echo(escape_name(line))


def _fail(error: IndexerdError) -> int:
    from indexerd.core.names import escape_name

    print(f"indexerd: {escape_name(str(error))}", file=sys.stderr)
    return error.exit_status


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="indexerd", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep a tree of Markdown pages in one SQLite file. Searching it is wikiq's business."""


def wiki_options(command: F) -> F:
    """ROOT and a flag for every setting; the command gets the wiki that they mean."""
    from indexerd.config import SETTINGS, Settings

    defaults = Settings()
    for setting in reversed(SETTINGS):
        if isinstance(getattr(defaults, setting.field), bool):
            names = f"{setting.flag}/--no-{setting.flag.removeprefix('--')}"
            option = click.option(names, setting.field, default=None, help=setting.help)
        else:
            option = click.option(setting.flag, setting.field, metavar="VALUE", help=setting.help)
        command = option(command)
    return click.argument("root", required=False, type=click.Path())(command)


def _find_wiki(root: str | None, flags: dict[str, str | bool | None]) -> Wiki:
    from indexerd.compose import find_wiki

    given = {field: value for field, value in flags.items() if value is not None}
    return find_wiki(root, given, os.environ)


@cli.command()
@wiki_options
def build(root: str | None, **flags: str | bool | None) -> None:
    """Bring an index up to date once.

    ROOT is the folder of the pages, by default the current one.
    """
    from indexerd.logs import configure_logs

    wiki = _find_wiki(root, flags)
    configure_logs(quiet=True)
    try:
        _build(wiki, anew=False)
    except DamagedIndexError:  # of a kind that no check at opening sees
        _build(wiki, anew=True)


def _build(wiki: Wiki, *, anew: bool) -> None:
    from indexerd.build import build_whole
    from indexerd.compose import opened_indexer
    from indexerd.core.names import escape_name
    from indexerd.logs import get_logger
    from indexerd.progress import Progress

    start = time.monotonic()
    progress = Progress(sys.stderr, start=start)
    with opened_indexer(wiki, get_logger(), anew=anew) as (indexer, store):
        if store.moved_aside is not None:
            moved = escape_name(str(store.moved_aside))
            click.echo(f"indexerd: the index was damaged; it was moved to {moved}", err=True)
        try:
            survey, update = build_whole(indexer, progress=progress.show)
        finally:
            progress.close()
        while update.commits and store.merge(MERGE_PAGES):
            pass
        store.checkpoint(truncate=True)
    _tell(
        f"{_counted(len(survey.scan.stamps))}, {update.changed} changed, generation {update.generation}, "
        f"{time.monotonic() - start:.1f} s: {wiki.index}"
    )


def _counted(pages: int) -> str:
    return f"{pages} page" if pages == 1 else f"{pages} pages"


@cli.command()
@wiki_options
def run(root: str | None, **flags: str | bool | None) -> None:
    """Follow a wiki until stopped.

    Its index is always up to date. ROOT is the folder of the pages, by default the current one, or the
    name of a wiki.
    """
    from indexerd.compose import find_wiki
    from indexerd.daemon.start import run_daemon
    from indexerd.logs import configure_logs, get_logger
    from indexerd.registry import root_of_name

    configure_logs()
    given = {field: value for field, value in flags.items() if value is not None}
    named = root_of_name(root, os.environ)
    run_daemon(lambda: find_wiki(named, given, os.environ, must_exist=False), os.environ, get_logger())


@cli.group()
def service() -> None:
    """Have systemd or launchd run the daemon."""


@service.command("install")
@click.argument("root", required=False, type=click.Path())
def service_install(root: str | None) -> None:
    """Write the unit, enable it for ROOT and start it."""
    _manage("install", root)


@service.command("uninstall")
@click.argument("root", required=False, type=click.Path())
def service_uninstall(root: str | None) -> None:
    """Stop the service of ROOT and disable it; the index stays."""
    _manage("uninstall", root)


@service.command("status")
@click.argument("root", required=False, type=click.Path())
def service_status(root: str | None) -> int:
    """Show what the service manager says.

    Exits 1 when the service of ROOT does not run as it should.
    """
    return _manage("status", root)


def _manage(verb: str, root: str | None) -> int:
    from indexerd.contract import state_home
    from indexerd.registry import resolve_root, root_of_name
    from indexerd.units import LaunchAgents, SystemdUser

    place = resolve_root(root_of_name(root, os.environ), os.environ, must_exist=verb == "install")
    manager: SystemdUser | LaunchAgents
    if sys.platform == "darwin":
        manager = LaunchAgents(os.path.expanduser("~"))
    else:
        manager = SystemdUser(os.environ, state_home(os.environ))
    report = getattr(manager, verb)(place)
    for line in report.lines:
        _tell(line)
    return 0 if report.healthy else DIFFERENT


@cli.command()
@wiki_options
def verify(root: str | None, **flags: str | bool | None) -> int:
    """Compare an index with its tree.

    The index of ROOT, by default of the current folder, with a fresh projection. Prints every difference,
    nothing when there is none, and exits 1 when they differ.
    """
    from indexerd.compose import scratch_indexer
    from indexerd.logs import configure_logs, get_logger
    from indexerd.progress import Progress
    from indexerd.verify import check_integrity, find_differences

    wiki = _find_wiki(root, flags)
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
        _tell(problem)
    return DIFFERENT if problems else 0


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@wiki_options
def config(root: str | None, *, as_json: bool, **flags: str | bool | None) -> None:
    """Show the settings in force.

    For ROOT, by default the current folder, and where each comes from.
    """
    from indexerd.config import setting_values

    wiki = _find_wiki(os.curdir if root is None else root, flags)
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
        _tell(f"{key} = {value}" + (f"    # {origin}" if origin else ""))


@cli.command("list")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_command(*, as_json: bool) -> None:
    """List the indexes there are, with their roots."""
    from indexerd.core.names import escape_name
    from indexerd.registry import list_indexes

    known = list_indexes(os.environ)
    if as_json:
        fields = [
            {
                "name": index.name,
                "root": index.root,
                "index": str(index.path),
                "pages": index.pages,
                "problem": index.problem,
            }
            for index in known
        ]
        click.echo(json.dumps({"format": OUTPUT_FORMAT, "indexes": fields}))
        return
    for index in known:
        columns = [index.name, index.root or str(index.path), _counted(index.pages), index.problem or "ok"]
        click.echo("\t".join(map(escape_name, columns)))


@cli.command()
@click.argument("index", metavar="ROOT|NAME")
@click.option("--purge", is_flag=True, help="Remove the index's files as well; they can be built again.")
def forget(index: str, *, purge: bool) -> None:
    """Take an index out of use.

    The wiki itself is not touched, and the next build brings the index back; with --purge it is gone.
    """
    from indexerd.registry import find_index, forget_index

    found = find_index(index, os.environ, forgotten=purge)
    forget_index(found, purge=purge)
    _tell(f"{'removed' if purge else 'forgotten'}: {found.name} ({found.root})")


@cli.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW", type=click.Path())
def move(old: str, new: str) -> None:
    """Tell that a wiki has moved.

    What was at OLD (a root or a name) is at NEW now; its index goes along.
    """
    from indexerd.registry import find_index, move_index, resolve_root

    root = resolve_root(new, os.environ)
    found = find_index(old, os.environ)
    if found.problem is not None and not found.root:
        raise UsageError(str(found.path), "cannot be read", f"{found.problem}")
    place = move_index(found, root, os.environ)
    _tell(f"moved: {found.root} to {root}: {place}")


if __name__ == "__main__":
    sys.exit(main())
