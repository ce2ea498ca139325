"""Why a file that was asked for is no page: the rule that leaves it out, as `indexerd why` tells it.

The rules are the indexer's, which this program does not load; it asks the other one, on a miss alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from indexerd.contract.places import is_below
from indexerd.contract.which_index import shell_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.errors import UnknownPageError

PATIENCE_S = 10.0  # starting Python and looking at one path takes .3 s


def explain_absence(error: UnknownPageError, root: str, folder: str) -> None:
    """Say in the error that the page is on the disk, and why it is not in the index, where that is so."""
    place = _file_named(error.subject, root, folder)
    if place is None:
        return
    error.problem = "is on the disk but not in the index"
    error.remedy = _reason(place, root) or f"`indexerd why {shell_word(place)}` says why"
    error.args = (error.subject, error.problem, error.remedy)


def _file_named(name: str, root: str, folder: str) -> str | None:
    """Find the file below `root` that a name may mean, as a path from `folder` or from the root."""
    for start in (folder, root):
        for ending in ("", ".md"):
            try:
                place = os.path.normpath(os.path.join(start, name + ending))
                if is_below(place, root) and os.path.isfile(place):
                    return place
            except ValueError:  # a NUL
                return None
    return None


def _reason(place: str, root: str) -> str | None:
    """Ask `indexerd why`; None where it cannot tell. Nothing is imported from the current folder (-P)."""
    words = [sys.executable, "-P", "-m", "indexerd.main", "why", f"--root={root}", "--json", "--", place]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PATIENCE_S, check=False)
        answer = json.loads(done.stdout)
        if answer["left_out"] is not None:
            return f"left out: {answer['left_out']['because']}"
        return f"`indexerd build {shell_word(root)}` takes it in" if answer["pages"] else None
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError):
        return None  # another version of the program may print another document
