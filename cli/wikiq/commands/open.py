"""`wikiq open PAGE[#section]`: the file in the user's editor, at the line of the section."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import click

from indexerd.contract.places import is_below
from wikiq.answers.pages import page, split_line
from wikiq.commands import candidates
from wikiq.commands.group import parameters, split_source
from wikiq.errors import FOUND, NOTHING_FOUND, UsageError
from wikiq.model.results import CHANGED, GONE
from wikiq.output.context import Surroundings
from wikiq.shell.editor import REMEDY, editor_words
from wikiq.shell.options import COMMANDS, INDEX
from wikiq.shell.session import opened


@click.pass_obj
def _open(surroundings: Surroundings, /, name: str, **values: Any) -> int:
    with opened(split_source(values), surroundings) as session:
        view = page(session.snapshot, name, folder=surroundings.folder)
    if view.status == GONE:
        surroundings.note(f"{view.path} is gone since it was indexed")
        return NOTHING_FOUND
    if view.status == CHANGED:
        surroundings.note(f"{view.path} has changed since it was indexed; the line may be another one")
    start = view.section.start_line if view.section is not None else 1
    line = split_line(name)[1] if "#" not in name and view.section is not None else None
    _edit(editor_words(surroundings.environ, _real_file(session.root, view.path), line or start))
    return session.exit_status(FOUND)


def _real_file(root: str, path: str) -> str:
    """Give the file of a page without links; UsageError where the index names one that is not in its root.

    An index may come from anybody. A root that is not absolute would be read as an option of the editor.
    """
    real_root, real = os.path.realpath(root), os.path.realpath(os.path.join(root, path))
    if not os.path.isabs(root) or not is_below(real, real_root):
        raise UsageError(path, f"does not lie in {root}, the root of this index", "rebuild the index")
    return real


def _edit(words: list[str]) -> None:
    try:
        status = subprocess.run(words, check=False).returncode
    except OSError as error:
        problem = f"cannot be run ({error.strerror})"
        raise UsageError(words[0], problem, REMEDY) from error
    if status:
        raise UsageError(words[0], f"ended with status {status}", "see its message above")


command = click.Command(
    "open",
    callback=_open,
    params=[
        click.Argument(["name"], metavar="PAGE[#SECTION]|PATH:LINE", shell_complete=candidates.sections),
        *parameters(INDEX),
    ],
    help=f"{COMMANDS['open']} The editor is VISUAL, else EDITOR, else vi.",
)
