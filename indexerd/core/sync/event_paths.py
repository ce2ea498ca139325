"""Which path to scan for a reported one. Names only: neither the disk nor the ignore files are read."""

from __future__ import annotations

from indexerd.core.page.names import CONFIG_FILE, IGNORE_FILES, is_passed_over
from indexerd.core.sync.paths import ROOT


def cover_of(path: str) -> str | None:
    """The path to scan, with all below it; None where a change cannot matter.

    An ignore file governs its folder. A name that is no page's may be a folder's, so it counts.
    """
    folder, _, name = path.rpartition("/")
    if any(is_passed_over(part) for part in folder.split("/") if part):
        return None
    if name in IGNORE_FILES:
        return folder or ROOT
    if is_configuration(path):
        return ROOT
    return None if name and is_passed_over(name) else path


def is_configuration(path: str) -> bool:
    """Whether this is the wiki's own settings file."""
    return path == CONFIG_FILE
