"""What Markdown of this project has beyond CommonMark: wikilinks, and links that know their place.

Rules for markdown-it, of which the parser of the index and the viewer's renderer are made, so that
both see the same links. What a link means is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, autolink, html_inline, image, link

from indexerd.core.model import LinkKind

# Brackets within brackets, and images within images, beyond which brackets are text: four frames
# each. So what a page means never depends on how deep in calls the parser is started.
MAX_BRACKETS: Final = 100
MAX_IMAGES: Final = 20
_IMAGE_DEPTH: Final = "image_depth"

# A single bracket does not end one: `[[Sq]uare]]`.
WIKILINK: Final = re.compile(r"!?\[\[((?:[^\[\]|\n]|\](?!\]))+?)(?:\\?\|((?:[^\[\]\n]|\](?!\]))*))?\]\]")


def use_block_rules(parser: MarkdownIt) -> None:
    """Read GFM tables, and `[^1]: word` as no link definition; targets are kept as written."""
    parser.enable("table")
    parser.block.ruler.at("reference", _reference, {"alt": []})
    parser.normalizeLink = _keep_target  # type: ignore[method-assign]  # not percent-encoded


def use_inline_rules(parser: MarkdownIt) -> None:
    """Read wikilinks and tags of two words; note in each link's `meta` where it stands and its kind."""
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.inline.ruler.at("link", _placed_link)
    parser.inline.ruler.at("image", _placed_image)
    parser.inline.ruler.at("autolink", _placed(autolink, lambda _: LinkKind.AUTOLINK))
    parser.inline.ruler.at("html_inline", _placed(html_inline, lambda _: LinkKind.HTML))
    parser.helpers = _Helpers  # type: ignore[assignment]  # a module there
    parser.normalizeLink = _keep_target  # type: ignore[method-assign]  # not percent-encoded


def _reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """The parser's own rule; `[^1]: word` is a footnote and no link definition."""
    if state.src.startswith("[^", state.bMarks[first] + state.tShift[first]):
        return False
    return reference(state, first, last, silent)


def _keep_target(url: str) -> str:
    return url


def find_label_end(state: StateInline, start: int, disableNested: bool = False) -> int:  # noqa: FBT001, FBT002, N803 - the signature of the helper
    """Where the label that the `[` at `start` opens ends; -1 where it does not, or holds a link and may not.

    The parser's own helper, but for a memory: what holds a bracket that was followed in vain is none either.
    Without it each bracket of `[[a][[a]…` is followed to the depth of MAX_BRACKETS (60 KB: 8 s).
    `state.cache` has the end of each token; below zero, how far a bracket was followed in vain.
    """
    ends, src, last, before = state.cache, state.src, state.posMax, state.pos
    if ends.get(_in_vain(start, disableNested), -1) >= last:
        return -1
    end, unclosed = -1, [start]
    state.pos = start + 1
    while state.pos < last:
        at = state.pos
        if src[at] == "]":
            unclosed.pop()
            if not unclosed:
                end = at
                break
        state.md.inline.skipToken(state)
        if src[at] != "[":
            continue
        is_text = state.pos == at + 1
        if ends.get(_in_vain(at, disableNested), -1) >= last if is_text else disableNested:
            break
        if is_text:
            unclosed.append(at)
    ends.update((_in_vain(at, disableNested), last) for at in unclosed)
    state.pos = before
    return end


class _Helpers:
    """What the rules of links and images ask for."""

    parseLinkLabel = staticmethod(find_label_end)  # noqa: N815 - the parser's name
    parseLinkDestination = staticmethod(parseLinkDestination)  # noqa: N815
    parseLinkTitle = staticmethod(parseLinkTitle)  # noqa: N815


def _in_vain(start: int, disable_nested: bool) -> int:  # noqa: FBT001 - a part of the key
    return ~(2 * start + disable_nested)


def _link_kind(state: StateInline) -> LinkKind:
    return LinkKind.INLINE if state.src[state.pos - 1] == ")" else LinkKind.REFERENCE


def _placed(
    rule: Callable[[StateInline, bool], bool], kind: Callable[[StateInline], LinkKind]
) -> Callable[[StateInline, bool], bool]:
    """A rule of the parser's own that notes where its token begins and ends: tokens carry no column."""

    def placed(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
        at, index = state.pos, len(state.tokens) + bool(state.pending)
        if not rule(state, silent):
            return False
        if not silent:
            state.tokens[index].meta = {"at": at, "end": state.pos, "kind": kind(state)}
        return True

    return placed


_placed_link: Final = _placed(link, _link_kind)


def _placed_image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    at, depth = state.pos, state.env.get(_IMAGE_DEPTH, 0)
    if depth == MAX_IMAGES:
        return False
    state.env[_IMAGE_DEPTH] = depth + 1
    is_image = image(state, silent)
    state.env[_IMAGE_DEPTH] = depth
    if is_image and not silent:
        state.tokens[-1].meta = {"at": at, "end": state.pos}
    return is_image


def _wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """`[[page#heading|label]]` and `![[embed]]`; `[[1]](address)` stays CommonMark's link."""
    src, at = state.src, state.pos
    if not src.startswith(("[[", "![["), at):
        return False
    match = WIKILINK.match(src, at, state.posMax)
    if match is None or not match[1].strip():
        return False
    if src[at] == "[" and _is_tag_sign(src, at - 1):
        if not silent:
            token = state.push("tag", "", 0)
            token.content = match[1].strip()
            token.meta = {"at": at, "end": match.end()}
        state.pos = match.end()
        return True
    is_embed = src[at] == "!"
    if src.startswith("(", match.end()) and (_placed_image if is_embed else _placed_link)(state, silent):
        return True
    if not silent:
        token = state.push("wikilink", "", 0)
        target = match[1].strip()
        token.info = target
        token.content = (match[2] or "").strip() or target
        kind = LinkKind.EMBED if is_embed else LinkKind.WIKILINK
        token.meta = {"at": at, "end": match.end(), "kind": kind}
    state.pos = match.end()
    return True


def _is_tag_sign(source: str, at: int) -> bool:
    """Whether the `#` of Logseq's `#[[two words]]` is there."""
    return source[at : at + 1] == "#" and (at == 0 or source[at - 1].isspace()) if at >= 0 else False
