"""The command: decides whether the words are a search, runs it, turns errors into one line.

A search is read and run here without click, which alone takes longer to import than a search may
take to start (docs/decisions/). Every other command, and every doubt, goes to `wikiq.commands.group`.
"""

from __future__ import annotations

import errno
import io
import os
import sys

from wikiq.errors import FOUND, INTERRUPTED, REFUSED, WikiqError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TextIO

    from wikiq.output.context import Surroundings

_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def main() -> NoReturn:
    """Run the command of this process's arguments, and end the process.

    It ends at once: Python would take a quarter of a search to take down what the process gives back
    anyway. Nothing here is left to be done at exit; an exception still goes the long way.
    """
    status = run_process()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(status)


def run_process() -> int:
    """Run the command of this process's arguments; gives the exit status.

    All that takes time is imported within, where Ctrl-C ends it as it ends the command.
    """
    try:
        return _run_and_flush()
    except KeyboardInterrupt:
        _drop_output()
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\n")  # the prompt begins a line, not the one with the terminal's ^C
        return INTERRUPTED


def _run_and_flush() -> int:
    from wikiq.output.context import Surroundings
    from wikiq.output.terminal import open_screen

    surroundings = Surroundings(
        environ=os.environ,
        folder=os.path.realpath(_current_folder()),
        out=open_screen(_writable(sys.stdout), os.environ),
        err=open_screen(_writable(sys.stderr), os.environ),
    )
    try:
        status = run(sys.argv[1:], surroundings)
        try:
            surroundings.out.stream.flush()
        except BrokenPipeError:
            _drop_output()  # whoever read has seen enough, and what to answer was known before
        return status
    except BrokenPipeError:
        _drop_output()
        return FOUND
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        _drop_output()
        surroundings.note(f"the answer cannot be written; {error.strerror}")
        return REFUSED


def run(arguments: Sequence[str], surroundings: Surroundings) -> int:
    """Run one command line; gives the exit status, prints errors that a user can mend."""
    from wikiq.output.context import COMPLETION_VARIABLE
    from wikiq.shell.parse import (
        as_command,
        is_rather_a_search,
        meant_commands,
        parse_plainly,
        plain_source,
        unknown_options,
    )

    try:
        if COMPLETION_VARIABLE in surroundings.environ:
            from wikiq.commands.completion import answer

            return answer(surroundings)
        words = as_command(arguments)
        for command in meant_commands(arguments):
            surroundings.note(f"taken as words to search for; the command is `wikiq {command}`")
        if is_rather_a_search(words):
            surroundings.note(f"taken as words to search for; the command is `wikiq {words[0]} --help`")
            words = ["search", *arguments]
        if words[:1] == ["search"]:
            if unknown_options(words[1:]):
                from wikiq.shell.parse import option_hints

                for hint in option_hints(words[1:]):
                    surroundings.note(hint)
            parsed = parse_plainly(words[1:])
            if parsed is not None:
                from wikiq.shell.search_command import search_and_print

                return search_and_print(parsed, surroundings)
        if words[:1] == ["mcp"]:
            source = plain_source(words[1:])
            if source is not None:
                from wikiq.mcp.start import serve

                return serve(source, surroundings.environ, surroundings.folder)
        from wikiq.commands.group import run_command

        return run_command(words, surroundings)
    except WikiqError as error:
        surroundings.note(str(error))
        return error.exit_status


def _writable(stream: TextIO | None) -> TextIO:
    """Make a stream take any text; Python has none (None) where the caller closed it."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


def _drop_output() -> None:
    """Keep Python from flushing once more at exit, and from complaining that it cannot."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"  # the current folder has been removed: no wiki contains it


if __name__ == "__main__":
    main()
