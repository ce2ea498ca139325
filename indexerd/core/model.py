"""The records that travel between the core, the shell and the store: frozen, without behaviour.

Paths are relative to the root, with `/`, as the file system spells them. Lines are 1-based; a
line inside a section counts from the section's own first line. Offsets and lengths are in
characters (code points) of the section's body, 0-based. What a page has many of is a tuple: frozen
dataclasses set each field by a call, which took a twelfth of a build.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class TitleOrigin(StrEnum):
    """Where a page's title was found (spec 1.4)."""

    FRONT_MATTER = "front_matter"
    HEADING = "heading"
    PATH = "path"


class LinkKind(StrEnum):
    """How a link is written (spec 1.6)."""

    INLINE = "inline"
    REFERENCE = "reference"
    AUTOLINK = "autolink"
    HTML = "html"
    IMAGE = "image"
    WIKILINK = "wikilink"
    EMBED = "embed"


class ChunkKind(StrEnum):
    """What a chunk holds (spec 1.7)."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"


class Stamp(NamedTuple):
    """What tells, without reading, that a file is unchanged (spec 3.3). Sizes in bytes, times in ns."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something skipped, replaced or guessed. `line` is 1-based in the file, None for the whole of it."""

    kind: str
    message: str
    line: int | None = None


class Link(NamedTuple):
    """One link of a section.

    `line` counts from the section's first line (1). `target` is as written. `path` is what is
    looked up: for a Markdown link the path from the root it means, for a wikilink its name; None
    where there is nothing to look up (an external link, a path out of the root). `fragment` is
    what follows `#`, percent-decoded for Markdown links; None without one. `written`: the decoded path
    of a Markdown link, of a wikilink only what is a path by its spelling. `whole`: a name with its `#`.
    """

    line: int
    kind: LinkKind
    target: str
    path: str | None
    fragment: str | None
    label: str
    external: bool = False
    written: str = ""
    whole: str | None = None


class Chunk(NamedTuple):
    """A piece of a section for embedding, kept as spans of the section's body (spec 1.7).

    Its content is lead-in + header + body[start:start + length] + tail; lead-in, header and tail are
    spans too (length 0: none). `line` counts from the section's first line (1), `lines` is how many.
    `text` holds the content only where the section is too long for spans (spec 2.3), or holds a
    `data:` URI: spans are then of its text with placeholders.
    """

    part: int
    parts: int
    kind: ChunkKind
    start: int
    length: int
    lead_start: int
    lead_length: int
    header_start: int
    header_length: int
    tail_start: int
    tail_length: int
    line: int
    lines: int
    tokens: int
    key: str
    text: str | None = None


class Section(NamedTuple):
    """A heading with what follows it up to the next heading (spec 1.5).

    `ancestors` is the text of the headings above it, one equal to the page title left off, for the
    full text. `guarded` says that the first element of `heading_path` names the page instead of
    structuring it (spec 1.7). `cover_key` is the folded heading of a depth-1 section that is not
    the page's own title or alias: what another page's title is compared with at reading time.
    """

    level: int
    heading: str
    heading_path: tuple[str, ...]
    ancestors: str
    anchor: str
    start_line: int
    end_line: int
    heading_source: str
    body: str
    guarded: bool = False
    cover_key: str | None = None
    links: tuple[Link, ...] = ()
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicUse:
    """A topic that a page carries. `origin`: the field of the front matter, or `text` (a `#tag`)."""

    topic: str
    origin: str


class Mention(NamedTuple):
    """A file outside the wiki that a page speaks of (spec 1.6).

    `path` is cleaned and folded, relative to the repository, without a trailing slash; `is_dir`
    says it was written as a folder. `origin`: `source`, `link` or `code`. `ordinal` is the
    section's, None where the front matter says it.
    """

    path: str
    original_path: str
    is_dir: bool
    origin: str
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of the front matter's `sources`. `target` is its path, address or other aim."""

    source_id: str
    type: str
    target: str
    title: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """All that one file says: a pure function of its bytes, its path and the projection options.

    `front_matter` is a JSON object. `updated` is the date that the front matter gives, ISO 8601
    UTC with milliseconds, None without one. `content_hash` is the lower-case hex sha256 of the raw
    bytes, None where the file was too large to be read. The slug is not here: it depends on the
    neighbours (spec 1.3) and is assigned in reconcile.
    """

    path: str
    title: str
    title_origin: TitleOrigin
    summary: str | None
    updated: str | None
    size: int
    content_hash: str | None
    front_matter: str
    raw_front_matter: str | None
    lead: str
    sections: tuple[Section, ...]
    aliases: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    topics: tuple[TopicUse, ...] = ()
    mentions: tuple[Mention, ...] = ()
    sources: tuple[Source, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectionOptions:
    """All that a projection knows besides bytes and path.

    `identity_names`: names that are never structure (spec 1.7). `repository_prefix`: the root's
    place in its repository, `""` or `docs/wiki/`; mentions are stored relative to the repository.
    `extensions`: lower-case, without the dot.
    """

    identity_names: tuple[str, ...] = ()
    repository_prefix: str = ""
    extensions: tuple[str, ...] = ("md", "markdown")


@dataclass(frozen=True, slots=True)
class TopicDeclaration:
    """One topic of `topics.yaml`. Slugs are normalised as in spec 1.6."""

    slug: str
    title: str | None
    description: str | None
    parents: tuple[str, ...]
