"""What `[check]` of a wiki's own `.wikiq.toml` has passed over: kinds of problems, and paths.

`ignore` is a list of `{ kind = "orphan", path = "journal/*" }`, where either may be left out. Only reads.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import Any

from indexerd.contract.record import Record
from indexerd.contract.toml import WIKI_SETTINGS_BYTES, parse_toml
from wikiq.errors import UsageError

SETTINGS_FILE = ".wikiq.toml"
EVERYTHING = "*"
_FORM = 'write ignore = [{ kind = "orphan", path = "journal/*" }] below [check]'


class Ignored(Record):
    """Pairs of a kind and a pattern of paths; `*` stands for any, of folders too."""

    pairs: tuple[tuple[str, str], ...]

    def holds(self, kind: str, path: str) -> bool:
        """Tell whether a problem of this kind in this file is to be passed over."""
        return any(
            asked in {kind, EVERYTHING} and fnmatchcase(path, pattern) for asked, pattern in self.pairs
        )


def read_ignored(root: str) -> Ignored:
    """Read what the wiki at `root` passes over; nothing without a file. Raises UsageError."""
    path = os.path.join(root, SETTINGS_FILE)
    try:
        with open(path, "rb") as file:
            data = file.read(WIKI_SETTINGS_BYTES + 1)
        if len(data) > WIKI_SETTINGS_BYTES:
            raise UsageError(path, f"is over {WIKI_SETTINGS_BYTES} bytes", "make it shorter")
        table = parse_toml(data.decode("utf-8-sig")).get("check", {})
    except OSError:
        return Ignored(pairs=())
    except ValueError as error:
        raise UsageError(path, f"is not valid TOML: {error}", "correct that line") from error
    if not isinstance(table, dict) or table.keys() - {"ignore"}:
        raise UsageError(path, "[check] holds something else than ignore", _FORM)
    said = table.get("ignore", [])
    if not isinstance(said, list):
        raise UsageError(path, "check.ignore is no list", _FORM)
    return Ignored(pairs=tuple(_pair(item, path) for item in said))


def _pair(item: Any, path: str) -> tuple[str, str]:
    is_table = isinstance(item, dict) and bool(item) and not item.keys() - {"kind", "path"}
    if not is_table or not all(isinstance(value, str) for value in item.values()):
        raise UsageError(path, f"check.ignore holds {item!r}", _FORM)
    pattern = item.get("path", EVERYTHING)
    return item.get("kind", EVERYTHING), f"{pattern}*" if pattern.endswith("/") else pattern
