"""Where an index, its lock and its state file lie (spec 3.8). Nothing here opens a file."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

INDEX_NAME: Final = "index.db"
LOCK_NAME: Final = "index.lock"
STATE_NAME: Final = "state.json"  # what the daemon says of itself, beside the index
_HASH_DIGITS: Final = 12  # 48 bits tell the wikis of one machine apart
_NAME_LENGTH: Final = 40  # characters of a folder's name; the hash behind it is what identifies it


def folder_stem(root: str) -> str:
    """Give what the name of the folder of the index of `root` begins with, before `-` and its hash.

    Without a regular expression and without the hash: a search is found through it (spec 5.6).
    """
    plain = "".join(sign if sign.isalnum() or sign in "_.-" else " " for sign in os.path.basename(root))
    return "_".join(plain.split()).strip("._")[:_NAME_LENGTH] or "root"


def index_folder(root: str) -> str:
    """Give the name of the folder of the index of `root`, an absolute path without links (spec 3.8)."""
    from hashlib import sha256  # noqa: PLC0415 - 2.5 ms that a search does not pay

    return f"{folder_stem(root)}-{sha256(os.fsencode(root)).hexdigest()[:_HASH_DIGITS]}"


def state_home(environ: Mapping[str, str]) -> str:
    """Give the folder that holds one folder for every index without a place of its own (spec 3.8).

    A relative XDG_STATE_HOME is not one, says the XDG base directory specification.
    """
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "indexerd")
