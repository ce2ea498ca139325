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
_RELATIVE: Final = re.compile(r"\.{1,2}(?:/|$)")
_DOTS_WITHIN: Final = re.compile(r"/\.{0,2}(?:/|$)")
# What is kept of how a path is spelled that counts from its own folder: whether it ends in a slash.
_RELATIVE_SPELLING: Final = ("./.", "./")
# Hugo's `{{< ref "b.md" >}}` and Jekyll's `{% link b.md %}` name a page, whatever is written around them.
_PAGE_TAG: Final = re.compile(
    r"""(?:\{\{[<%]\s*(?:rel)?ref\s+(?:path\s*=\s*)?|\{%-?\s*link\s+)["'`]?(?P<page>[^\s"'`]+?)["'`]?
        \s*(?:lang\s*=\s*\S+\s*)?(?:[>%]\}\}|-?%\})""",
    re.VERBOSE,
)
_TEMPLATE: Final = re.compile(r"\{\{|\{%|<%|\$\{|%[A-Z]+_[A-Z_]+%")  # what a program fills in
_DENDRON: Final = re.compile(r"dendron://[^/]+/", re.IGNORECASE)


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
    path = path.partition("?")[0].replace("\\", "/")
    return _percent_decoded(path), _percent_decoded(fragment) or None


def resolve_link(found: FoundLink, page_path: str, first_line: int) -> Link:
    """The record of a link found in the section that starts at line `first_line` of the text."""
    line = found.line - first_line + 1
    kind, target, label = found.kind, found.target, found.label
    folder = page_path.rpartition("/")[0]
    if kind in NAME_KINDS:
        return _named_link(line, found, page_path)
    page_tag = _PAGE_TAG.search(target) if "{" in target else None
    meant = page_tag["page"] + target[page_tag.end() :] if page_tag else target
    if is_external(meant) or _TEMPLATE.search(meant):
        fragment = target.partition("#")[2] or None
        return Link(line, kind, target, None, fragment, label, external=True)
    path, fragment = split_target(meant)
    if not path:
        return Link(line, kind, target, page_path, fragment, label)
    written = _RELATIVE_SPELLING[path.endswith("/")] if _RELATIVE.match(path) else path
    return Link(line, kind, target, resolve_path(folder, path), fragment, label, written=written)


def _named_link(line: int, found: FoundLink, page_path: str) -> Link:
    """The record of a wikilink. What follows the first `#` stays as it stands: `#A#B`, `#^block`."""
    kind, target, label = found.kind, found.target, found.label
    # `[[label|dendron://vault/name]]` says which part is the page, whatever page the label names.
    spelled = _DENDRON.sub("", label if _DENDRON.match(label) else target)
    name, mark, fragment = spelled.partition("#")
    name = name.strip()
    if name.startswith("^") and not mark:
        name, fragment = "", name
    if not name:
        return Link(line, kind, target, page_path, fragment or None, label, written="#")
    if name.startswith("/") or _RELATIVE.match(name):
        folder = "" if name.startswith("/") else page_path.rpartition("/")[0]
        return Link(line, kind, target, resolve_path(folder, name), fragment or None, label, written=name)
    if _DOTS_WITHIN.search(name):
        return Link(line, kind, target, resolve_path("", name), fragment or None, label)
    whole = spelled if mark else None
    return Link(line, kind, target, name, fragment or None, label, whole=whole)


def _percent_decoded(text: str) -> str:
    return unquote(text, errors="replace").replace("\0", "\ufffd") if "%" in text else text
