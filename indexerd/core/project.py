"""One file -> one page: puts the parts of the projection together (spec 1).

A pure function of bytes, path and options: no clock, no disk, no neighbours. The slug, which does
depend on neighbours, is `slugs`' and reconcile's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from indexerd.contract.file import PROJECTION_VERSION
from indexerd.core.chunks.chunks import cut_chunks
from indexerd.core.markdown.document import Document
from indexerd.core.markdown.parser import MAX_NESTING
from indexerd.core.markdown.read import read_document
from indexerd.core.model import (
    Diagnostic,
    Mention,
    Page,
    ProjectionOptions,
    Section,
    TitleOrigin,
)
from indexerd.core.page.anchors import Anchors
from indexerd.core.page.contents import Contents, sort_contents
from indexerd.core.page.dates import updated_by
from indexerd.core.page.decode import count_lines, decode_page
from indexerd.core.page.fields import first_text, page_aliases, unused_values
from indexerd.core.page.front_matter import parse_front_matter
from indexerd.core.page.mentions import parse_sources, source_mentions
from indexerd.core.page.names import is_conflict_copy
from indexerd.core.page.page_names import parse_addresses
from indexerd.core.page.sections import Identity, Place, Slice, cut_sections, outline
from indexerd.core.page.slugs import path_stem
from indexerd.core.page.topics import page_topics
from indexerd.core.page.yaml_subset import Node


class ProjectionError(Exception):
    """A page that cannot be projected. Carries what its row of diagnostics says."""

    def __init__(self, path: str, diagnostic: Diagnostic) -> None:
        super().__init__(path, diagnostic.message)
        self.path = path
        self.diagnostic = diagnostic


def projection_fingerprint(options: ProjectionOptions) -> str:
    """What a page's rows depend on besides its bytes and path; another one: project it anew."""
    known = [list(options.identity_names), options.repository_prefix, list(options.extensions)]
    digest = hashlib.sha256(json.dumps(known, ensure_ascii=True).encode()).hexdigest()
    return f"{PROJECTION_VERSION}-{digest[:16]}"


def oversized_page(path: str, size: int) -> Page:
    """The page of a file too large to be read: title and path, no body. `size` in bytes (spec 1.1)."""
    message = f"the file has {size} bytes and is not indexed; split it, or raise max_page_bytes"
    return Page(
        path=path,
        title=path_stem(path),
        title_origin=TitleOrigin.PATH,
        summary=None,
        updated=None,
        size=size,
        content_hash=None,
        front_matter="{}",
        raw_front_matter=None,
        lead="",
        sections=(),
        diagnostics=(Diagnostic("too_large", message),),
    )


def project_page(
    data: bytes,
    path: str,
    options: ProjectionOptions,
    on_fallback: Callable[[str], None] | None = None,
) -> Page:
    """Everything that the file at `path` says. Raises ProjectionError where no parser can read it.

    `on_fallback`: as of `read_document`.
    """
    decoded = decode_page(data)
    text = decoded.text
    front_matter = parse_front_matter(text)
    try:
        document = read_document(text[front_matter.end :], on_fallback)
    except RecursionError as error:
        raise ProjectionError(path, _unparsable()) from error
    fields = front_matter.fields()
    title, title_origin = _title(fields, document, path)
    aliases = page_aliases(fields)
    identity = Identity(title, aliases, options.identity_names)
    first_line = _lines_before(text, front_matter.end)
    slices = cut_sections(text, front_matter.end, first_line, document.headings)
    found = sort_contents(document, slices, first_line, path, options)
    sources, source_problems = parse_sources(fields.get("sources"))
    said = tuple(source_mentions(sources))
    return Page(
        path=path,
        title=title,
        title_origin=title_origin,
        summary=first_text(fields, "summary", "description"),
        updated=updated_by(fields),
        size=len(data),
        content_hash=hashlib.sha256(data).hexdigest(),
        front_matter=front_matter.as_json(),
        raw_front_matter=front_matter.raw,
        lead=text[: slices[0].start],
        sections=tuple(_sections(text, title, slices, identity, found)),
        aliases=aliases,
        addresses=parse_addresses(fields, aliases, path.rpartition("/")[0]),
        topics=page_topics(fields, document.tags),
        mentions=_distinct([*(each for each in said if isinstance(each, Mention)), *found.mentions]),
        sources=sources,
        diagnostics=(
            *_name_diagnostics(path),
            *decoded.diagnostics,
            *front_matter.diagnostics,
            *unused_values(fields),
            *source_problems,
            *(each for each in said if isinstance(each, Diagnostic)),
            *_document_diagnostics(document, first_line, identity),
        ),
    )


def _lines_before(text: str, start: int) -> int:
    """How many lines front matter takes; the last may have no line end, at the end of the file only."""
    return count_lines(text[:start]) + (start > 0 and text[start - 1] not in "\r\n")


def _title(fields: Mapping[str, Node], document: Document, path: str) -> tuple[str, TitleOrigin]:
    if title := first_text(fields, "title"):
        return title, TitleOrigin.FRONT_MATTER
    for heading in document.headings:
        if heading.level == 1 and heading.text:
            return heading.text, TitleOrigin.HEADING
    if document.html_title:
        return document.html_title, TitleOrigin.HEADING
    return path_stem(path), TitleOrigin.PATH


def _sections(
    text: str, title: str, slices: Sequence[Slice], identity: Identity, found: Contents
) -> Iterator[Section]:
    anchors = Anchors()
    places = outline(part.heading for part in slices if part.heading)
    for part, blocks, links in zip(slices, found.blocks, found.links, strict=True):
        heading = part.heading
        place = next(places) if heading else Place((title,), (), 0)
        anchor = "" if heading is None else heading.anchor or anchors.add(heading.text)
        guarded = identity.is_guarded(place)
        body = text[part.body_start : part.end]
        yield Section(
            level=heading.level if heading else 0,
            heading=heading.text if heading else title,
            heading_path=place.heading_path,
            ancestors=identity.ancestors(place.above),
            anchor=anchor,
            start_line=part.start_line,
            end_line=part.end_line,
            heading_source=text[part.start : part.body_start],
            body=body,
            guarded=guarded,
            cover_key=identity.cover_key(heading) if heading else None,
            links=tuple(links),
            chunks=cut_chunks(
                body,
                blocks,
                first_line=heading.end if heading else 0,
                heading_lines=heading.end - heading.start if heading else 0,
                title=title,
                section_path=place.heading_path[1:] if guarded else place.heading_path,
            ),
        )


def _distinct(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Each file once a section and origin, spelled as where it is mentioned first."""
    distinct: dict[tuple[str, bool, str, int | None], Mention] = {}
    for mention in mentions:
        distinct.setdefault((mention.path, mention.is_dir, mention.origin, mention.ordinal), mention)
    return tuple(distinct.values())


def _name_diagnostics(path: str) -> Iterator[Diagnostic]:
    if is_conflict_copy(path):
        message = "a sync tool left this copy because two versions conflicted; merge it and delete the copy"
        yield Diagnostic("conflict_copy", message)


def _document_diagnostics(document: Document, first_line: int, identity: Identity) -> Iterator[Diagnostic]:
    if document.too_deep is not None:
        message = f"nested deeper than {MAX_NESTING} levels; what lies deeper is text only, flatten it"
        yield Diagnostic("too_deep", message, first_line + document.too_deep + 1)
    if not document.headings and document.blocks:
        message = "the page has no heading, so its parts are cited by lines; add headings"
        yield Diagnostic("no_headings", message)
    for heading in document.headings:
        if identity.is_cover_sheet(heading):
            message = f"{heading.text!r} is a listed name and no structure; make it the title or an alias"
            yield Diagnostic("suspicious_heading", message, first_line + heading.start + 1)


def _unparsable() -> Diagnostic:
    message = "the markup is nested too deeply to be parsed; the page is not indexed until it is simplified"
    return Diagnostic("parser_failed", message)
