"""Where an index, its lock and its state file lie (spec 3.8). Opens no file; makes private folders."""

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


def is_below(path: str, above: str) -> bool:
    """Tell whether `path` is `above` or lies below it: both real and absolute, or both from the root ("")."""
    above = above.rstrip("/")
    return not above or path == above or path.startswith(f"{above}/")


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


class NoHomeError(LookupError):
    """Neither HOME nor the system's list of users has a home; a made-up folder might lie in the wiki."""


def home_folder(environ: Mapping[str, str]) -> str:
    """Give the user's home, by HOME or the system's list of users. Raises NoHomeError."""
    for home in (environ.get("HOME", ""), os.path.expanduser("~")):
        if os.path.isabs(home):
            return home
    raise NoHomeError("neither HOME nor the system's list of users names a home folder")


def state_home(environ: Mapping[str, str]) -> str:
    """Give the folder that holds one folder for every index without a place of its own (spec 3.8).

    Raises NoHomeError.
    """
    return os.path.join(_base_folder(environ, "XDG_STATE_HOME", ".local", "state"), "indexerd")


def reader_home(environ: Mapping[str, str]) -> str:
    """Give the one folder that the reader writes in (spec 5). Raises NoHomeError."""
    return os.path.join(_base_folder(environ, "XDG_STATE_HOME", ".local", "state"), "wikiq")


def config_home(environ: Mapping[str, str]) -> str:
    """Give the folder that holds the settings of every program of the user. Raises NoHomeError."""
    return _base_folder(environ, "XDG_CONFIG_HOME", ".config")


def _base_folder(environ: Mapping[str, str], variable: str, *default: str) -> str:
    """Give a folder of the XDG base directory specification, which takes a relative one for none."""
    base = environ.get(variable, "")
    return base if os.path.isabs(base) else os.path.join(home_folder(environ), *default)


def make_private_folders(folder: str) -> None:
    """Make a folder, and what is missing above it, for this user alone under any umask.

    `os.makedirs` gives its mode to the last one only, and leaves those above to the umask.
    """
    above = os.path.dirname(folder)
    if above not in ("", folder) and not os.path.isdir(above):
        make_private_folders(above)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
