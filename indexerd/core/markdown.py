"""What Markdown means: text -> headings, blocks, links, code spans and tags, with their lines.

The only user of markdown-it (CommonMark with GFM tables, HTML on), and the judge of every other
reading of Markdown in this package. It knows nothing of sections, pages, paths or front matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType

from indexerd.core.model import LinkKind

# Levels of blocks within blocks. The preset's 20 silently drops every heading after a deeper list;
# at 200 the parser needs some 600 frames, below the interpreter's limit of 1,000.
MAX_NESTING: Final = 200


class BlockKind(StrEnum):
    """What a top-level block is."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"
    HTML = "html"
    RULE = "rule"
    DEFINITION = "definition"


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading: lines [start, end) counted from 0, plain text, the explicit id or None."""

    level: int
    start: int
    end: int
    text: str
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block that is no heading: lines [start, end) counted from 0.

    Blank lines at its end are left off. `header_end` is where the rows of a table begin, else 0.
    """

    kind: BlockKind
    start: int
    end: int
    header_end: int = 0


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link where it was found, at any depth. `target` and `label` without their markup."""

    kind: LinkKind
    line: int
    target: str
    label: str


@dataclass(frozen=True, slots=True)
class FoundText:
    """A code span or a `#tag` (without its `#`) and the line it stands on, counted from 0."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A whole text. `too_deep` is the line where nesting passed MAX_NESTING and was cut off."""

    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    links: tuple[FoundLink, ...]
    code_spans: tuple[FoundText, ...]
    tags: tuple[FoundText, ...]
    too_deep: int | None = None


_BLOCK_KINDS: Final = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
    "blockquote_open": BlockKind.QUOTE,
    "html_block": BlockKind.HTML,
    "hr": BlockKind.RULE,
    "definition": BlockKind.DEFINITION,
}
_TABLE_HEADER_LINES: Final = 2  # the header row and the row of dashes, in every GFM table

_EXPLICIT_ANCHOR: Final = re.compile(r"(?:^|\s*(?<!\\))\{#([^\s{}]+)(?:\s[^{}]*)?\}\s*$")
_WIKILINK: Final = re.compile(r"!?\[\[([^\[\]|\n]+?)(?:\\?\|([^\[\]\n]*))?\]\]")
# Where inline parsing can find something at all.
_INLINE_CANDIDATE: Final = re.compile(r"[\[<`#]")
# What a tag may hold, as Obsidian has it: no blank, no ASCII punctuation but `-_/`, no general or
# CJK punctuation; any script and emoji (with their joiner U+200D) may.
_TAG: Final = re.compile(
    r"""(?<!\S)\#([^\s\#!"$%&'()*+,.:;<=>?@\\^`{|}~\[\]\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f"""
    r"""\u3000-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0e\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65\ufffc]+)"""
)
_HOLE: Final = "\ufffc"  # stands in the text for what is no text, so no tag begins or goes on there


def parse_document(text: str) -> Document:
    """Read a whole text. Lines end at line feed, carriage return or both, and are counted from 0.

    Raises RecursionError where inline markup is nested deeper than the interpreter can follow.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    env: EnvType = {}
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, env, tokens)
    lines = text.split("\n")
    inline = _InlineFinds()
    headings = tuple(_headings(tokens, parser, env))
    for token in tokens:
        if token.type == "inline" and _INLINE_CANDIDATE.search(token.content):
            inline.add(_inline_tokens(token.content, parser, env), token.content, _first_line(token))
    return Document(
        headings=headings,
        blocks=tuple(_blocks(tokens, lines)),
        links=tuple(inline.links),
        code_spans=tuple(inline.code_spans),
        tags=tuple(inline.tags),
        too_deep=_too_deep_line(tokens),
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING, "inline_definitions": True})
    parser.enable("table")
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.inline.ruler.at("link", _placed_link)
    parser.inline.ruler.at("image", _placed_image)
    parser.normalizeLink = _keep_target  # type: ignore[method-assign]  # targets are kept as written
    return parser


def _keep_target(url: str) -> str:
    return url


def _placed_link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """The parser's own rule, noting where the link begins: tokens carry no column."""
    at, index = state.pos, len(state.tokens) + bool(state.pending)
    if not link(state, silent):
        return False
    if not silent:
        state.tokens[index].meta = {"at": at, "kind": _link_kind(state)}
    return True


def _placed_image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    at = state.pos
    if not image(state, silent):
        return False
    if not silent:
        state.tokens[-1].meta = {"at": at}
    return True


def _link_kind(state: StateInline) -> LinkKind:
    return LinkKind.INLINE if state.src[state.pos - 1] == ")" else LinkKind.REFERENCE


def _wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """`[[page#heading|label]]` and `![[embed]]`; `[[1]](address)` stays CommonMark's link."""
    src, at = state.src, state.pos
    if not src.startswith(("[[", "![["), at):
        return False
    match = _WIKILINK.match(src, at, state.posMax)
    if match is None or not match[1].strip():
        return False
    is_embed = src[at] == "!"
    if src.startswith("(", match.end()) and (_placed_image if is_embed else _placed_link)(state, silent):
        return True
    if not silent:
        token = state.push("wikilink", "", 0)
        target = match[1].strip()
        token.info = target
        token.content = (match[2] or "").strip() or target
        token.meta = {"at": at, "kind": LinkKind.EMBED if is_embed else LinkKind.WIKILINK}
    state.pos = match.end()
    return True


def _inline_tokens(content: str, parser: MarkdownIt, env: EnvType) -> list[Token]:
    tokens: list[Token] = []
    parser.inline.parse(content, parser, env, tokens)
    return tokens


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _headings(tokens: Sequence[Token], parser: MarkdownIt, env: EnvType) -> Iterator[Heading]:
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        content, anchor = tokens[index + 1].content, None
        if content.endswith("}") and (explicit := _EXPLICIT_ANCHOR.search(content)):
            content, anchor = content[: explicit.start()], explicit[1]
        text = _fold_blanks(_plain_text(_inline_tokens(content, parser, env)))
        yield Heading(int(token.tag[1]), token.map[0], token.map[1], text, anchor)


def _blocks(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Block]:
    for token in tokens:
        if token.level or token.map is None or (kind := _BLOCK_KINDS.get(token.type)) is None:
            continue
        start, end = token.map
        while end > start and not lines[end - 1].strip(" \t"):
            end -= 1
        header_end = start + _TABLE_HEADER_LINES if kind is BlockKind.TABLE else 0
        yield Block(kind, start, end, header_end)


def _too_deep_line(tokens: Sequence[Token]) -> int | None:
    """The first container whose content the parser skipped because it lies at MAX_NESTING."""
    for token in tokens:
        if token.level >= MAX_NESTING - 1 and token.type in ("blockquote_open", "list_item_open"):
            return _first_line(token)
    return None


def _plain_text(tokens: Sequence[Token]) -> str:
    """Text without markup: the text of links, the alternative text of images, no HTML."""
    parts: list[str] = []
    for token in tokens:
        if token.type in ("text", "text_special", "code_inline", "wikilink"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "image":
            parts.append(_plain_text(token.children or ()))
    return "".join(parts)


def _fold_blanks(text: str) -> str:
    return " ".join(text.split())


class _InlineFinds:
    """Gathers links, code spans and tags of one inline run after the other."""

    def __init__(self) -> None:
        self.links: list[FoundLink] = []
        self.code_spans: list[FoundText] = []
        self.tags: list[FoundText] = []

    def add(self, tokens: Sequence[Token], content: str, first_line: int) -> None:
        """`content` is what the tokens were made of; its line 0 is line `first_line` of the text."""
        for index, token in enumerate(tokens):
            if token.type == "code_inline":
                self.code_spans.append(FoundText(first_line, token.content))
            elif token.type in ("link_open", "image", "wikilink"):
                self.links.append(_found_link(tokens, index, content, first_line))
        if "#" in content:
            self._add_tags(tokens, first_line)

    def _add_tags(self, tokens: Sequence[Token], first_line: int) -> None:
        parts: list[str] = []
        depth = 0
        for token in tokens:
            if token.type in ("link_open", "link_close"):
                depth += token.nesting
                parts.append(_HOLE)
            elif token.type in ("softbreak", "hardbreak"):
                parts.append("\n")
            elif token.type == "text" and not depth:
                parts.append(token.content)
            elif token.nesting == 0:
                parts.append(_HOLE)
        text = "".join(parts)
        for match in _TAG.finditer(text):
            self.tags.append(FoundText(first_line + text.count("\n", 0, match.start()), match[1]))


def _found_link(tokens: Sequence[Token], index: int, content: str, first_line: int) -> FoundLink:
    token = tokens[index]
    at = token.meta.get("at", 0)
    line = first_line + content.count("\n", 0, at)
    if token.type == "wikilink":
        return FoundLink(token.meta["kind"], line, token.info, token.content)
    if token.type == "image":
        label = _fold_blanks(_plain_text(token.children or ()))
        return FoundLink(LinkKind.IMAGE, line, str(token.attrs.get("src", "")), label)
    end = index + 1
    while tokens[end].type != "link_close" or tokens[end].level != token.level:
        end += 1
    label = _fold_blanks(_plain_text(tokens[index + 1 : end]))
    kind = token.meta.get("kind", LinkKind.AUTOLINK)
    return FoundLink(kind, line, str(token.attrs.get("href", "")), label)
