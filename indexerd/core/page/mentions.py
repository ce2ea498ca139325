"""Mentions: the files outside the wiki that a page speaks of, relative to the repository.

Three origins: the front matter's `sources`, links to files that are no pages, code spans that look
like a path (spec 1.6). Whether such a file exists is not asked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from indexerd.contract.terms import fold_path
from indexerd.core.model import Diagnostic, Link, LinkKind, Mention, ProjectionOptions, Source
from indexerd.core.page.links import NAME_KINDS, is_external, resolve_path, split_target
from indexerd.core.page.yaml_subset import Node, Scalar, text_of

FILE_SOURCE: Final = "file"
_TARGET_FIELDS: Final = ("path", "target", "url")

# An extension begins with a letter (`1.2` is a version) and is short (`api/system.datetime` is none).
_EXTENSION: Final = re.compile(r"[^/.]\.([A-Za-z][A-Za-z0-9_]{0,5})$")
# A path in code: names and slashes only, so no blank, URL, glob, option, variable or drive; not
# absolute, which would mean the reader's machine. A file below a folder, or a folder (`src/`).
_PICTURE: Final = re.compile(r"\.(?:avif|bmp|gif|ico|jpe?g|png|svg|webp)$", re.IGNORECASE)
_NAME: Final = r"[\w.@+\-]+"
_CODE_PATH: Final = re.compile(
    rf"(?:(?:\.[/\\]|{_NAME}[/\\])(?:{_NAME}[/\\])*{_NAME}\.[A-Za-z][A-Za-z0-9_]{{0,5}}|(?:{_NAME}[/\\])*{_NAME}/)"
)
_LINE_SUFFIX: Final = re.compile(r"(?::\d+(?:[:\-]\d+)?|#L\d+(?:-L?\d+)?)$")  # `a.py:12`, `a.py#L3-L9`


def clean_path(path: str) -> str | None:
    """A path relative to the repository, cleaned; None where it leaves it or names nothing."""
    path = path.strip().replace("\\", "/")
    if is_external(path) or path[1:2] == ":":
        return None
    return resolve_path("", path) or None


def parse_sources(node: Node | None) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """The front matter's `sources`: mappings of id, type, path or target, title, note."""
    if node is None or (isinstance(node, Scalar) and node.value is None):
        return (), ()
    if not isinstance(node, list):
        return (), (_source_invalid("'sources' is no list"),)
    sources, diagnostics = [], []
    for number, entry in enumerate(node, start=1):
        if isinstance(entry, dict):
            sources.append(_source(entry, number))
        elif target := text_of(entry):
            sources.append(Source(str(number), "web" if is_external(target) else FILE_SOURCE, target))
        else:
            diagnostics.append(_source_invalid(f"source {number} is neither a mapping nor a path"))
    return tuple(sources), tuple(diagnostics)


def source_mentions(sources: tuple[Source, ...]) -> Iterator[Mention | Diagnostic]:
    """A mention for each source that is a file, a diagnostic for one outside the repository."""
    for source in sources:
        if source.type != FILE_SOURCE or not source.target:
            continue
        cleaned = clean_path(source.target)
        if cleaned is None:
            yield _source_invalid(f"the path {source.target!r} leaves the repository")
        else:
            yield _mention(cleaned, source.target, "source", None)


def link_mention(link: Link, ordinal: int, page_path: str, options: ProjectionOptions) -> Mention | None:
    """The file that a link points to, where it is no page. Images belong to the wiki, not to its subject."""
    if link.external or link.kind in (LinkKind.IMAGE, LinkKind.EMBED, LinkKind.AUTOLINK):
        return None
    if link.kind is LinkKind.HTML and _PICTURE.search(link.path or ""):
        return None
    prefix = options.repository_prefix.rstrip("/")
    if link.kind in NAME_KINDS:
        # `[[src/app/main.py]]` and `[[src/app/]]` name a path of the repository.
        name = link.target.partition("#")[0].strip()
        is_path = "/" in name and (name.endswith("/") or _is_other_file(name, options))
        cleaned = clean_path(name) if is_path else None
        return _mention(cleaned, name, "link", ordinal) if cleaned else None
    path, _ = split_target(link.target)
    # Below the root only an extension tells a file from a page; out of it nothing is a page.
    if not path or (link.path is not None and not _is_other_file(path, options)):
        return None
    folder = page_path.rpartition("/")[0]
    if path.startswith("/"):
        path, folder = path.lstrip("/"), ""
    cleaned = resolve_path("/".join(filter(None, (prefix, folder))), path)
    return _mention(cleaned, path, "link", ordinal) if cleaned else None


def code_mention(code: str, ordinal: int) -> Mention | None:
    """The path that a code span is, where it looks like one."""
    path = _LINE_SUFFIX.sub("", code.strip())
    if not _CODE_PATH.fullmatch(path):
        return None
    cleaned = clean_path(path)
    return _mention(cleaned, path, "code", ordinal) if cleaned else None


def _source(entry: Mapping[str, Node], number: int) -> Source:
    target = next(filter(None, (text_of(entry.get(field)) for field in _TARGET_FIELDS)), "")
    default_type = FILE_SOURCE if "path" in entry else "web" if is_external(target) else FILE_SOURCE
    return Source(
        source_id=text_of(entry.get("id")) or str(number),
        type=(text_of(entry.get("type")) or default_type).strip().lower(),
        target=target,
        title=text_of(entry.get("title")),
        note=text_of(entry.get("note")),
    )


def _is_other_file(path: str, options: ProjectionOptions) -> bool:
    extension = _EXTENSION.search(path)
    return extension is not None and extension[1].lower() not in options.extensions


def _mention(cleaned: str, original: str, origin: str, ordinal: int | None) -> Mention:
    is_dir = original.rstrip().endswith(("/", "\\"))
    return Mention(fold_path(cleaned), original, is_dir, origin, ordinal)


def _source_invalid(problem: str) -> Diagnostic:
    message = f"{problem}; a source is a mapping of id, type and a path within the repository"
    return Diagnostic("source_invalid", message)
