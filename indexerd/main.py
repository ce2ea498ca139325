"""The command `indexerd`: words to settings, settings to parts, results to lines and exit statuses.

Every subcommand imports what it needs when it runs. What a user can cause ends in one line on
stderr; a bug keeps its traceback. Never writes in a wiki.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE, INTERRUPTED = 64, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit status (spec 3.8).

    What takes long to import is imported within, where Ctrl-C ends it as it ends the command.
    """
    try:
        _hold_standard_streams()
        if os.name == "nt":
            print("indexerd: Windows is not supported; run it inside WSL", file=sys.stderr)
            return USAGE
        return _run(arguments)
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # the prompt begins a line, not the one with the terminal's ^C
        return INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    import click

    from indexerd.command.group import cli
    from indexerd.command.options import fail
    from indexerd.errors import IndexerdError, NotPermittedError, StorageError, missing_program

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
        return fail(error)
    except click.Abort:  # Ctrl-C, after which click has begun a line
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - lives until the process ends
        return 0
    except (OSError, ImportError) as error:
        if (gone := missing_program()) is not None:
            return fail(gone)
        if isinstance(error, ImportError):
            raise
        kind = NotPermittedError if isinstance(error, PermissionError) else StorageError
        nameless = "the current folder" if isinstance(error, FileNotFoundError) else ""
        what = str(error.filename or nameless)
        return fail(kind(what, error.strerror or str(error), "check the path, the disk and its permissions"))


def _hold_standard_streams() -> None:
    """A closed one becomes /dev/null: else the next file that is opened gets its number, and its output."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


if __name__ == "__main__":
    sys.exit(main())
