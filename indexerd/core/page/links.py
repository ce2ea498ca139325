"""Where a link points: target as written -> path from the root, fragment, external or not.

Nothing is looked up: which page a path or a name means is decided when it is read, so that adding
a page never means projecting another one again (spec 1.6).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from indexerd.core.markdown.document import FoundLink
from indexerd.core.model import Link, LinkKind

NAME_KINDS: Final = frozenset({LinkKind.WIKILINK, LinkKind.EMBED})

# A scheme has two letters or more here: `C:` is a drive (RFC 3986, 3.1 allows one).
_EXTERNAL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:|//")
_RELATIVE_NAME: Final = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")


def is_external(target: str) -> bool:
    """Whether a target leaves the wiki: a URL with a scheme, or `//host`."""
    return _EXTERNAL.match(target) is not None


def resolve_path(folder: str, path: str) -> str | None:
    """What `path` means in `folder`, both relative to one root; None where it leaves that root.

    A leading slash means the root, an empty path or `.` the folder itself; no slash at the end.
    """
    if not path.startswith("/") and folder:
        path = f"{folder}/{path}"
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                return None
            segments.pop()
        elif segment and segment != ".":
            segments.append(segment)
    return "/".join(segments)


def split_target(target: str) -> tuple[str, str | None]:
    """The path of a Markdown target, without its query, and its fragment; both percent-decoded."""
    path, _, fragment = target.partition("#")
    path = path.partition("?")[0]
    return _percent_decoded(path), _percent_decoded(fragment) or None


def resolve_link(found: FoundLink, page_path: str, first_line: int) -> Link:
    """The record of a link found in the section that starts at line `first_line` of the text."""
    line = found.line - first_line + 1
    if found.kind in NAME_KINDS:
        name, fragment = _split_name(found.target, page_path)
        return Link(line, found.kind, found.target, name, fragment, found.label)
    if is_external(found.target):
        fragment = found.target.partition("#")[2] or None
        return Link(line, found.kind, found.target, None, fragment, found.label, external=True)
    path, fragment = split_target(found.target)
    folder = page_path.rpartition("/")[0]
    resolved = resolve_path(folder, path) if path else page_path
    return Link(line, found.kind, found.target, resolved, fragment, found.label)


def _split_name(target: str, page_path: str) -> tuple[str | None, str | None]:
    """Name and fragment of a wikilink. What follows the first `#` stays as it stands: `#A#B`, `#^block`."""
    name, _, fragment = target.partition("#")
    name = name.strip()
    if not name:
        return page_path, fragment or None
    if _RELATIVE_NAME.search(name):
        folder = page_path.rpartition("/")[0] if name.startswith(".") else ""
        return resolve_path(folder, name), fragment or None
    return name, fragment or None


def _percent_decoded(text: str) -> str:
    return unquote(text, errors="replace").replace("\0", "\ufffd") if "%" in text else text
