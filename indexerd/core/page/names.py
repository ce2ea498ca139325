"""What a file's name alone tells: page or not, passed over, a conflict copy, how it is shown.

Every rule looks at names below the root, never at the root's own path: a wiki may live under
`~/.notes/node_modules/wiki`. Nothing here looks at a disk or reads ignore files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from indexerd.contract.controls import CONTROLS

IGNORE_FILES: Final = (".gitignore", ".wikiignore")  # of one folder, the later one overrules
TOPICS_FILE: Final = "topics.yaml"
CONFIG_FILE: Final = ".wikiq.toml"

PASSED_OVER: Final = "node_modules"

# Syncthing: `x.sync-conflict-20240102-030405-ABCDEFG.md`. Dropbox, Nextcloud, ownCloud:
# `x (Ann's conflicted copy 2024-01-02).md`, `x (conflicted copy 2024-01-02 030405).md`.
_CONFLICT_COPY = re.compile(r"\.sync-conflict-\d{8}-\d{6}|\([^()]*conflicted copy[^()]*\)", re.IGNORECASE)

_UNPRINTABLE = re.compile(f"[{''.join(map(chr, CONTROLS))}\ud800-\udfff]")  # surrogates: undecodable bytes


def page_suffixes(extensions: Iterable[str]) -> tuple[str, ...]:
    """What the lower-cased name of a page ends in, for `str.endswith`."""
    return tuple(f".{extension.lower()}" for extension in extensions)


def is_passed_over(name: str) -> bool:
    """Whether a file or folder of this name is left out with all below it: hidden, `node_modules`."""
    return name.startswith(".") or name == PASSED_OVER


def is_page_name(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a regular file of this name is a page (spec 1.1).

    Editor litter needs no rule of its own: `.x.md.swp` and `.#x.md` are hidden, `x.md~`, `#x.md#`
    and `4913` do not end like a page.
    """
    return name.lower().endswith(suffixes) and not is_passed_over(name)


def is_conflict_copy(path: str) -> bool:
    """Whether a sync tool gave the file this name because it could not merge two versions."""
    return _CONFLICT_COPY.search(path.rpartition("/")[2]) is not None


def is_text(name: str) -> bool:
    """Whether the name was valid UTF-8 on disk; Python smuggles other bytes in as surrogates."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def escape_name(name: str) -> str:
    """The name as it may be stored and shown: undecodable bytes and controls as escapes."""
    return _UNPRINTABLE.sub(lambda match: _escaped(ord(match.group())), name)


def _escaped(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # PEP 383: the byte is in the low half
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
