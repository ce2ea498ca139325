"""Opens a page in the user's editor at a line; every editor is told the line in its own way."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping

from indexerd.contract.places import is_below
from wikiq.errors import FOUND, NOTHING_FOUND, UsageError
from wikiq.model.results import CHANGED, GONE, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.output.context import Surroundings

DEFAULT_EDITOR = "vi"
REMEDY = "set VISUAL or EDITOR to your editor"

# Editors that take `file:line` and, where needed, the option that makes them read it so.
_WITH_COLON = {
    "code": ("--goto",),
    "code-insiders": ("--goto",),
    "codium": ("--goto",),
    "cursor": ("--goto",),
    "windsurf": ("--goto",),
    "helix": (),
    "hx": (),
    "micro": (),
    "subl": (),
    "zed": (),
}
# Editors that take `--line N file`; all others take `+N file`, as vi, nano and emacs do.
_WITH_OPTION = frozenset({"idea", "pycharm", "kate", "gedit", "mate"})


def editor_words(environ: Mapping[str, str], path: str, line: int) -> list[str]:
    """The command that opens `path`, absolute, at `line` in the user's editor (VISUAL, EDITOR, vi).

    Raises UsageError for what a shell could not read either.
    """
    editor = environ.get("VISUAL") or environ.get("EDITOR") or DEFAULT_EDITOR
    try:
        words = shlex.split(editor)
    except ValueError as error:
        raise UsageError(editor, f"is no command line ({error})", REMEDY) from error
    name = os.path.basename(words[0]) if words else ""
    if not words:
        words, name = [DEFAULT_EDITOR], DEFAULT_EDITOR
    if name in _WITH_COLON:
        return [*words, *_WITH_COLON[name], f"{path}:{line}"]
    if name in _WITH_OPTION:
        return [*words, "--line", str(line), path]
    return [*words, f"+{line}", "--", path]


def open_page(root: str, path: str, status: str, line: int, surroundings: Surroundings) -> int:
    """Open the page at `path` below `root`; gives the exit status. Raises UsageError.

    `status`: what the disk says of the page (`ok`, `changed`, `gone` or `unknown`).
    """
    if status == GONE:
        surroundings.note(f"{path} is gone since it was indexed")
        return NOTHING_FOUND
    if status == UNKNOWN:
        surroundings.note(f"{root} is not on this machine; open {path} where it is")
        return NOTHING_FOUND
    if status == CHANGED:
        surroundings.note(f"{path} has changed since it was indexed; the line may be another one")
    _edit(editor_words(surroundings.environ, _real_file(root, path), line))
    return FOUND


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
