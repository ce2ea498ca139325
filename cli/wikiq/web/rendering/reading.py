"""A page's source -> the tokens of each of its sections, with what the sections share.

Sections are those of the index, cut by its lines, and each is read by itself: what one leaves open
cannot reach the next. Only link definitions and footnotes are the whole page's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import footnote_inline, footnote_ref

from indexerd.core.markdown.attributes import HEAD_LINE
from indexerd.core.markdown.opaque import hide_regions
from indexerd.core.markdown.parser import MAX_NESTING, code_lines, unify_line_ends
from indexerd.core.markdown.rules import MAX_BRACKETS, find_label_end, use_block_rules, use_inline_rules
from wikiq.answers.outline import OutlineRow
from wikiq.web.rendering.regions import split_regions

LONGEST_LABEL: Final = 999  # characters of the label of a footnote, as of a link (CommonMark 4.7)
_CALLOUT: Final = re.compile(r"\[!(?P<kind>[\w-]+)[^\]\n]*\](?P<fold>[+-]?)[ \t]*(?P<title>[^\n]*)(?:\n|\Z)")
_TASK: Final = re.compile(r"\[(?P<sign>[^\s\[\]]|[ ])\](?=[ \t]|\Z)[ \t]*")


@dataclass(slots=True)
class Note:
    """A footnote: its number on the page, the anchor of the section that defines it, its text."""

    number: int
    anchor: str
    tokens: list[Token]


@dataclass(slots=True)
class ReadSection:
    """A section and its tokens; `first_line` of the file counts from 0, `token.map` from it.

    `notes`: the footnotes that it defines, which are no part of `tokens`.
    """

    row: OutlineRow
    first_line: int
    tokens: list[Token]
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class ReadPage:
    """The sections of a page; `lines` as they are written, `hidden` as the parser saw them."""

    lines: list[str]
    hidden: list[str]
    sections: list[ReadSection]
    notes: dict[str, Note]
    env: dict[str, Any]


def read_page(source: str, rows: Sequence[OutlineRow]) -> ReadPage:
    """Read the blocks of all sections; `rows` are those of the whole page, in order.

    Logseq's `key:: value` lines at the head of a page are front matter, and no part of what is read.
    """
    lines = unify_line_ends(source).split("\n")
    before = rows[0].start_line - 1 if rows else len(lines)
    while before < len(lines) and HEAD_LINE.fullmatch(lines[before]):
        before += 1
    hidden = lines[:before] + hide_regions("\n".join(lines[before:]), code_lines).split("\n")
    page = ReadPage(lines, hidden, [], {}, {})
    parser = _block_parser()
    for row in rows:
        first = max(row.start_line - 1, before)
        tokens: list[Token] = []
        parser.block.parse("\n".join(hidden[first : row.end_line]), parser, page.env, tokens)
        section = ReadSection(row, first, tokens)
        section.tokens = _without_notes(section, page.notes)
        page.sections.append(section)
    return page


def parse_inlines(blocks: list[Token], env: dict[str, Any]) -> list[Token]:
    """The blocks with their inline markup read, once the definitions of the whole page are known."""
    tokens = _with_callouts(blocks)
    parser = inline_parser()
    for index, token in enumerate(tokens):
        if token.type == "inline":
            if index >= 2 and tokens[index - 2].type == "list_item_open":
                _find_task(tokens[index - 2], token)
            token.children = []
            parser.inline.parse(token.content, parser, env, token.children)
            token.children = split_regions(token.children)
    return tokens


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    use_block_rules(parser)
    return parser.use(deflist_plugin).use(footnote_plugin)


@cache
def inline_parser() -> MarkdownIt:
    """The parser of what stands within a block."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_BRACKETS}).enable("strikethrough")
    use_inline_rules(parser)
    parser.use(footnote_plugin)
    parser.inline.ruler.at("footnote_inline", _inline_note)
    parser.inline.ruler.at("footnote_ref", _note_number)
    return parser


def _inline_note(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """The plug-in's own rule, asked only where the bracket is closed: it follows each to the end."""
    is_closed = state.src.startswith("^[", state.pos) and find_label_end(state, state.pos + 1) >= 0
    return is_closed and footnote_inline(state, silent)


def _note_number(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """The plug-in's own rule, asked only for a label that is defined: it reads on to the end for each."""
    if not state.src.startswith("[^", state.pos):
        return False
    end = state.src.find("]", state.pos, state.pos + LONGEST_LABEL)
    known = state.env.get("footnotes", {}).get("refs", {})
    return f":{state.src[state.pos + 2 : end]}" in known and footnote_ref(state, silent)


def _without_notes(section: ReadSection, notes: dict[str, Note]) -> list[Token]:
    """The tokens of a section without the footnotes it defines, which become its notes."""
    kept: list[Token] = []
    targets = [kept]
    for token in section.tokens:
        if token.type == "footnote_reference_open":
            note = Note(len(notes) + 1, section.row.anchor, [])
            if notes.setdefault(token.meta["label"], note) is note:
                section.notes.append(note)
            targets.append(note.tokens)
        elif token.type == "footnote_reference_close":
            targets.pop()
        else:
            targets[-1].append(token)
    return kept


def _with_callouts(tokens: list[Token]) -> list[Token]:
    """The tokens, with the kind of a callout in its quote and its first line as a title of its own."""
    found: list[Token] = []
    for index, quote in enumerate(tokens):
        found.append(quote)
        if quote.type != "blockquote_open" or tokens[index + 1].type != "paragraph_open":
            continue
        paragraph, text, end = tokens[index + 1 : index + 4]
        if not (match := _CALLOUT.match(text.content)):
            continue
        kind = match["kind"].lower()
        quote.meta = {"callout": kind, "fold": match["fold"]}
        title = Token("inline", "", 0, content=match["title"].strip() or kind.replace("-", " ").capitalize())
        title.map = text.map
        found += Token("callout_title_open", "", 1), title, Token("callout_title_close", "", -1)
        text.content = text.content[match.end() :]
        text.map = [text.map[0] + 1, text.map[1]] if text.map else None
        paragraph.hidden = end.hidden = not text.content
    return found


def _find_task(item: Token, text: Token) -> None:
    match = _TASK.match(text.content)
    if match:
        item.meta = {"task": match["sign"]}
        text.meta = {"task": match["sign"]}
        text.content = text.content[match.end() :]
