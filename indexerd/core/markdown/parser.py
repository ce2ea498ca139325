"""What Markdown means: text -> headings, blocks, links, code spans and tags, with their lines.

CommonMark with GFM tables, HTML on, by markdown-it with the rules of `rules`; the judge of every other
reading of Markdown in this package. It knows nothing of sections, pages, paths or front matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim, normalizeReference
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from indexerd.core.markdown.attributes import neighbour_id, split_attributes
from indexerd.core.markdown.document import (
    TABLE_HEADER_LINES,
    Block,
    BlockKind,
    Blocks,
    Document,
    FoundLink,
    FoundText,
    Heading,
    LineCounter,
    References,
    fold_blanks,
    may_hold_finds,
)
from indexerd.core.markdown.html import RAW_HTML, html_link, html_links, html_title
from indexerd.core.markdown.opaque import hide_regions, show
from indexerd.core.markdown.rules import MAX_BRACKETS, use_block_rules, use_inline_rules
from indexerd.core.model import LinkKind

# Levels of blocks within blocks. The preset's 20 silently drops every heading after a deeper list;
# at 200 the parser needs some 400 frames, below the interpreter's limit of 1,000.
MAX_NESTING: Final = 200

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
_CONTAINERS: Final = ("blockquote_open", "list_item_open")
_LEAVES_OPEN: Final = ("fence", "html_block")

_CODE: Final = ("fence", "code_block")
_MAY_BE_PATH: Final = re.compile(r"\s*[^\s/\\]*[/\\]\S*\s*")
# What a tag may hold, as Obsidian has it: no blank, no ASCII punctuation but `-_/`, no general or
# CJK punctuation; any script and emoji (with their joiner U+200D) may.
_TAG: Final = re.compile(
    r"""(?<!\S)\#(?![\ufe0f\u20e3])([^\s\#!"$%&'()*+,.:;<=>?@\\^`{|}~\[\]\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f"""
    r"""\u3000-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0e\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65\ufffc\U0010ff00-\U0010ff7e]+)"""
)
_HOLE: Final = "\ufffc"  # stands in the text for what is no text, so no tag begins or goes on there


def parse_document(text: str) -> Document:
    """Read a whole text. Lines end at line feed, carriage return or both, and are counted from 0.

    Raises RecursionError where inline markup is nested deeper than the interpreter can follow.
    """
    found, finds = Blocks(), InlineFinds()
    text = unify_line_ends(text)
    hidden = hide_regions(text, code_lines)
    parse_blocks(hidden, 0, found)
    headings = read_headings(found, text, hidden, parse_heading)
    for line, source in found.runs:
        finds.parse(line, source, found.references)
    return finds.document(headings, found, has_regions=hidden is not text)


def read_headings(
    found: Blocks, text: str, hidden: str, plain_text: Callable[[str, References], str]
) -> tuple[Heading, ...]:
    """The headings of a text whose regions are hidden, with the ids that attribute blocks give them."""
    has_regions = hidden is not text
    lines, hidden_lines = (text.split("\n"), hidden.split("\n")) if has_regions else ((), ())
    headings = []
    for level, start, end, source in found.headings:
        source, anchor = split_attributes(source) if has_regions else (source, None)
        if anchor is None and has_regions:
            anchor = neighbour_id(lines, hidden_lines, start, end)
        plain = plain_text(source, found.references)
        headings.append(
            Heading(level, start, end, fold_blanks(show(plain)) if has_regions else plain, anchor)
        )
    return tuple(headings)


def code_lines(text: str) -> list[tuple[int, int]]:
    """The lines of code and of HTML that is no Markdown, at any depth; each half-open, in order."""
    tokens: list[Token] = []
    _parser().block.parse(text, _parser(), {}, tokens)
    return [
        (token.map[0], token.map[1])
        for token in tokens
        if token.map
        and (token.type in _CODE or (token.type == "html_block" and RAW_HTML.match(token.content)))
    ]


def unify_line_ends(text: str) -> str:
    """The text with a line feed for each line end; no line moves."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_blocks(text: str, first_line: int, found: Blocks) -> bool:
    """Add the blocks of a text that begins at line `first_line`, at the top level.

    True where the last one might go on in what follows: a fence or HTML that reaches the end.
    """
    tokens: list[Token] = []
    _parser().block.parse(text, _parser(), found.references, tokens)
    lines = text.split("\n")
    is_open = False
    for index, token in enumerate(tokens):
        start, end = token.map or (0, 0)
        if token.type == "inline":
            opening = tokens[index - 1]
            if opening.type == "heading_open" and not opening.level and opening.map:
                span = (opening.map[0] + first_line, opening.map[1] + first_line)
                found.headings.append((int(opening.tag[1]), *span, token.content))
            found.add_run(start + first_line, token.content)
            continue
        if token.type == "html_block" and may_hold_finds(token.content):
            found.html.append((start + first_line, token.content))
        if not token.level and (kind := _BLOCK_KINDS.get(token.type)):
            is_open = token.type in _LEAVES_OPEN and end >= len(lines) - (not lines[-1])
            while end > start and not lines[end - 1].strip(" \t"):
                end -= 1
            header_end = start + first_line + TABLE_HEADER_LINES if kind is BlockKind.TABLE else 0
            found.blocks.append(Block(kind, start + first_line, end + first_line, header_end))
            if kind is BlockKind.HTML and not found.html_title:
                found.html_title = html_title(token.content)
        elif token.level >= MAX_NESTING - 1 and token.type in _CONTAINERS and found.too_deep is None:
            found.too_deep = start + first_line
    return is_open


def parse_heading(source: str, references: References) -> str:
    """The plain text of a heading."""
    return fold_blanks(_plain_text(_inline_tokens(source, references)))


def add_definition(label: str, target: str, references: References) -> bool:
    """Add a link definition unless the label is defined already; False where it is none."""
    key = normalizeReference(label)
    if not key or not _parser().validateLink(target):
        return False
    references.setdefault("references", {}).setdefault(key, {"title": "", "href": target})
    return True


def find_definition(label: str, references: References) -> str | None:
    """The target that a label is defined with."""
    found = references.get("references", {}).get(normalizeReference(label))
    return found["href"] if found else None


def split_row(row: str) -> list[str]:
    """The cells of a table row; an escaped pipe is part of a cell and loses its backslash."""
    cells = escapedSplit(mdTrim(row))
    if cells and not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        del cells[-1]
    return cells


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING, "inline_definitions": True})
    use_block_rules(parser)
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_BRACKETS})
    use_inline_rules(parser)
    return parser


def _inline_tokens(source: str, references: References) -> list[Token]:
    tokens: list[Token] = []
    _inline_parser().inline.parse(source, _inline_parser(), references, tokens)
    return tokens


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


class InlineFinds:
    """Gathers links, code spans and tags from the inline markup of a text, run after run."""

    def __init__(self) -> None:
        self.links: list[FoundLink] = []
        self.code_spans: list[FoundText] = []
        self.tags: list[FoundText] = []

    def parse(self, line: int, source: str, references: References) -> None:
        """Read one run, which begins at `line`, with the definitions of the whole text."""
        tokens = _inline_tokens(source, references)
        lines = LineCounter(source, line)
        for index, token in enumerate(tokens):
            if token.type == "code_inline":
                self.add_code(line, token.content)
            elif token.type == "tag":
                self.tags.append(FoundText(line, token.content))
            elif token.type in ("link_open", "image", "wikilink"):
                self.links.append(_found_link(tokens, index, lines))
            elif token.type == "html_inline" and (found := html_link(source, token.meta["at"], lines)):
                self.links.append(found)
        if "#" in source:
            self._add_tags(tokens, line)

    def add_code(self, line: int, code: str) -> None:
        """Keep a code span that may be a path."""
        if _MAY_BE_PATH.fullmatch(code):
            self.code_spans.append(FoundText(line, code))

    def document(self, headings: tuple[Heading, ...], found: Blocks, *, has_regions: bool) -> Document:
        """All that was found, with the blocks it was found in."""
        if found.html:
            self.links += (link for line, html in found.html for link in html_links(html, line))
            self.links.sort(key=lambda link: link.line)
        return Document(
            headings=headings,
            blocks=tuple(found.blocks),
            links=tuple(map(_shown, self.links)) if has_regions else tuple(self.links),
            code_spans=tuple(self.code_spans),
            tags=tuple(self.tags),
            html_title=show(found.html_title) or None,
            too_deep=found.too_deep,
        )

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
        lines = LineCounter(text, first_line)
        for match in _TAG.finditer(text):
            self.tags.append(FoundText(lines.line_at(match.start()), match[1]))


def _shown(link: FoundLink) -> FoundLink:
    """A link without hidden characters."""
    target, label = show(link.target), show(link.label)
    is_plain = target == link.target and label == link.label
    return link if is_plain else FoundLink(link.kind, link.line, target, fold_blanks(label))


def _found_link(tokens: Sequence[Token], index: int, lines: LineCounter) -> FoundLink:
    token = tokens[index]
    line = lines.line_at(token.meta["at"])
    if token.type == "wikilink":
        return FoundLink(token.meta["kind"], line, token.info, token.content)
    if token.type == "image":
        label = fold_blanks(_plain_text(token.children or ()))
        return FoundLink(LinkKind.IMAGE, line, str(token.attrs.get("src", "")), label)
    end = index + 1
    while tokens[end].type != "link_close" or tokens[end].level != token.level:
        end += 1
    label = fold_blanks(_plain_text(tokens[index + 1 : end]))
    return FoundLink(token.meta["kind"], line, str(token.attrs.get("href", "")), label)
