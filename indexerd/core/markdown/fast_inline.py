"""Inline markup that is certain: plain links, wikilinks, images and code spans in flat text.

Gives exactly what `markdown.InlineFinds.parse` gives, several times faster, or nothing: a run that
holds anything else is left to markdown-it as a whole. A test holds the two against each other.
"""

from __future__ import annotations

import re
from typing import Final

from indexerd.core.markdown.document import FoundLink, LineCounter, References, fold_blanks
from indexerd.core.markdown.opaque import closing_ticks
from indexerd.core.markdown.parser import InlineFinds, find_definition
from indexerd.core.markdown.rules import WIKILINK
from indexerd.core.model import LinkKind

# Text in brackets without brackets: no escape, HTML, image or emphasis. `_` within a word is text
# (CommonMark 6.2); a code span of one backtick is one. No group is repeated possessively (fast_blocks).
_FLAT: Final = r"(?:[^\[\]\\`<!*_&]++|`[^`]++`(?!`)|!(?!\[)|(?<=\w)_++(?=\w)|&(?![A-Za-z0-9\#]*+;))*"
_PLAIN_TARGET: Final = r"[^\s()<>\\&\x00-\x1f\x7f]"
_LINK: Final = re.compile(
    rf"""(?P<bang>!?)\[(?P<label>{_FLAT})\](?:
        \((?P<target>(?:{_PLAIN_TARGET}++|&(?![A-Za-z0-9\#]*+;)|\({_PLAIN_TARGET}*+\))*)
          (?:[ \n]+"[^"\\&]*")?[ ]*\)
      | \[(?P<key>[^\[\]\\]*)\]
      | (?![(\[])
    )""",
    re.VERBOSE,
)
# What means something in a text. A tag, HTML or an autolink: markdown-it is asked.
_MARK: Final = re.compile(
    r"\\.|`+|\[|!\[|<(?=[A-Za-z/!?])(?P<html>)|#(?<![^\s*_]#)[^\s#](?P<tag>)", re.DOTALL
)
_CODE: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_UNSAFE_SCHEME: Final = re.compile(r"\s*(?:vbscript|javascript|file|data):", re.IGNORECASE)
_HEADING_MARKUP: Final = re.compile(r"[\\`<\[*&_](?:(?<=[^_])|(?<!\w_)|(?!\w))")


def find_certain(line: int, source: str, references: References, finds: InlineFinds) -> bool:
    """Add what one run holds, and say so; False, with nothing added, where it is doubtful."""
    run = _Run(line, source, references)
    if not run.read():
        return False
    finds.links += run.links
    for code in run.codes:
        finds.add_code(line, code)
    return True


def heading_text(source: str) -> str | None:
    """The plain text of a heading without markup; None where it may have some."""
    return None if _HEADING_MARKUP.search(source) else fold_blanks(source)


def code_content(code: str) -> str:
    """What stands between the backticks, as it is shown (CommonMark 6.1)."""
    code = code.replace("\n", " ")
    return code[1:-1] if code[0] == code[-1] == " " and code.strip(" ") else code


class _Run:
    """One run of inline markup, read from left to right."""

    __slots__ = ("_last_bracket", "_lines", "_references", "_source", "codes", "links")

    def __init__(self, line: int, source: str, references: References) -> None:
        self._lines = LineCounter(source, line)
        self._source = source
        self._references = references
        self._last_bracket = source.rfind("]")
        self.links: list[FoundLink] = []
        self.codes: list[str] = []

    def read(self) -> bool:
        """Find all links and code spans; False in doubt."""
        source, at = self._source, 0
        while mark := _MARK.search(source, at):
            sign = mark.group()
            at = mark.end()
            if mark.lastgroup:
                return False
            if sign[0] == "`":
                closing = closing_ticks(source, at, len(sign))
                if closing >= 0:
                    self.codes.append(code_content(source[at:closing]))
                    at = closing + len(sign)
            elif sign[0] != "\\":
                after = self._wikilink(mark.start()) or self._link(mark.start())
                if after is None:
                    return False
                at = after
        return True

    def _wikilink(self, at: int) -> int | None:
        """Where a wikilink that begins here ends, None where none does."""
        match = WIKILINK.match(self._source, at)
        if match is None or not match[1].strip() or self._source.startswith("(", match.end()):
            return None
        kind = LinkKind.EMBED if self._source[at] == "!" else LinkKind.WIKILINK
        target = match[1].strip()
        self._add(kind, at, target, (match[2] or "").strip() or target)
        return match.end()

    def _link(self, at: int) -> int | None:
        """Where to go on after the bracket here, None in doubt."""
        source = self._source
        match = None if source.startswith(("[[", "![["), at) else _LINK.match(source, at)
        if match is None:
            return at + 1 if at > self._last_bracket else None
        target, is_image = match["target"], bool(match["bang"])
        kind = LinkKind.INLINE
        if target is None:
            kind = LinkKind.REFERENCE
            target = find_definition(match["key"] or match["label"], self._references)
            if target is None:
                return None if is_image else at + 1
        elif _UNSAFE_SCHEME.match(target):
            return None
        label = fold_blanks(_CODE.sub(lambda code: code_content(code[1]), match["label"]))
        if not is_image:
            self.codes += map(code_content, _CODE.findall(match["label"]))
        self._add(LinkKind.IMAGE if is_image else kind, at, target, label)
        return match.end()

    def _add(self, kind: LinkKind, at: int, target: str, label: str) -> None:
        self.links.append(FoundLink(kind, self._lines.line_at(at), target, label))
