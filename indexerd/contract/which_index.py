"""Which index a name or a folder means: one rule for both programs (spec 3.8, 5.1).

A word without a slash is the name of a wiki, and a folder as it is reached from the current one; with
a slash it is a folder alone. Where it means two indexes, it is refused. Nothing here opens an index.
"""

from __future__ import annotations

import os

from indexerd.contract.places import index_folder, is_below
from indexerd.contract.record import Record

# The name is what type checkers go by: importing typing costs a search as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final, TypeVar

    Known = TypeVar("Known", bound="KnownIndex")

MOST_LISTED: Final = 10  # indexes named in an error
SEVERAL: Final = "more than one wiki is meant"
NONE: Final = "no wiki has this name or folder"


class KnownIndex(Record):
    """An index of the state folder, with the root and the name that it records.

    Of one that cannot be read, `root` is empty and `wiki` its `label`.
    """

    path: str
    root: str
    wiki: str

    @property
    def label(self) -> str:
        """The name of the folder that holds the index, which no two share; a dot marks one out of use."""
        return os.path.basename(os.path.dirname(self.path)).removeprefix(".")


class AmbiguousNameError(LookupError):
    """The name fits several indexes; the message says what to write instead."""


def is_folder(wanted: str) -> bool:
    """Tell whether `wanted` can only be a folder: it has a slash, or is `.` or `..`."""
    return os.sep in wanted or wanted in (os.curdir, os.pardir)


def find_meant(known: Iterable[Known], wanted: str, folder: str) -> Known | None:
    """Find the one index that `wanted` means where `folder` is the current one; None: there is none.

    Raises AmbiguousNameError.
    """
    root = os.path.realpath(os.path.join(folder, wanted))
    by_name = not is_folder(wanted)
    found = [
        index for index in known if _is_at(index, root) or (by_name and wanted in (index.wiki, index.label))
    ]
    if len(found) > 1:
        raise AmbiguousNameError(tell_apart(found))
    return found[0] if found else None


def _is_at(index: KnownIndex, root: str) -> bool:
    """Tell whether an index is of this root; one that cannot be read is known by its place."""
    return index.root == root if index.root else index.label == index_folder(root)


def tell_apart(found: Sequence[KnownIndex]) -> str:
    """Say what names each of several indexes without doubt."""
    # A root has one index in the state folder, unless someone has moved things by hand.
    roots = [index.root for index in found]
    are_apart = len(set(roots)) == len(roots) and all(roots)
    return name_one(roots if are_apart else [index.label for index in found])


def name_one(words: Sequence[str]) -> str:
    """Write the remedy that asks for one of `words`."""
    return f"name one of them: {' or '.join(map(shell_word, words[:MOST_LISTED]))}"


def find_around(known: Iterable[Known], folder: str) -> Known | None:
    """Find the index of the deepest root that holds `folder`, a real path."""
    around = [index for index in known if index.root and is_below(folder, index.root)]
    return max(around, key=lambda index: len(index.root), default=None)


def shell_word(text: str) -> str:
    """Quote an argument for a shell, so that a remedy can be pasted; importing `shlex` costs too much."""
    plain = all(sign.isalnum() or sign in "@%+=:,./_#-" for sign in text)
    return text if text and plain and not text.startswith("#") else "'" + text.replace("'", "'\\''") + "'"
