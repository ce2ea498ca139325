"""The command line that opens a file at a line, for the editors that are known. Pure."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from wikiq.errors import UsageError

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
