"""Blocks that are certain from their lines alone; doubtful stretches go to markdown-it.

Gives exactly what `markdown.parse_blocks` gives for the whole text, several times faster: a test
holds the two against each other. Whatever is not plain is handed over, never decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from indexerd.core.markdown.document import TABLE_HEADER_LINES, Block, BlockKind, Blocks, may_hold_finds
from indexerd.core.markdown.opaque import closing_fence
from indexerd.core.markdown.parser import MAX_NESTING, add_definition, parse_blocks, split_row

# CPython before 3.11.5 loses its place where a possessive quantifier repeats more than one character
# (gh-100061; Debian 12 has such a 3.11.2): only single characters are repeated so. A group is repeated
# greedily, and what follows it must not match where fewer repeats end.

# The first characters of a line that can only be text, wherever a block may start (CommonMark 4, 5):
# no heading, fence, quote, list, rule, HTML, definition, table or underline begins so.
_TEXT: Final = r"""(?:
    [^\s\#`~>\-+*_0-9<\[|=:]
  | \*{1,3}[^\s*] | _{1,3}[^\s_] | `{1,2}[^`\n] | ~{1,2}[^~\s] | \#{1,6}[^\s\#]
  | -++[^\s\-|:] | \+\S | [0-9]++(?:[.)][^\s]|(?![.)]))
  | :(?=[-:|\ \t]*+[^-:|\s])
)"""
_INDENT: Final = r"(?:[ ]{4}|[ ]{0,3}\t)"
_END: Final = r"(?=\n|\Z)"
_FENCE: Final = r"(?:`{3,}+[^`\n]*|~{3,}+[^\n]*)(?=\n|\Z)"
_RULE: Final = r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})(?=\n|\Z)"
# A line that ends a paragraph for certain; an ordered list does only where it begins with 1.
_ENDS_PARAGRAPH: Final = rf"""(?:
    [ \t]*(?:\n|\Z) | \#{{1,6}}(?:[ \t\n]|\Z) | {_FENCE} | > | <!-- | {_RULE}
  | [ ]{{0,3}}(?:[-*+]|1[.)])[ ]+\S
)"""
_MARKER: Final = r"(?:[-*+]|[0-9]{1,9}[.)])[ ]+[^\s]"
# markdown-it looks for a table first, whatever its first row would be otherwise.
_NO_TABLE: Final = r"(?![^\n|]*+\|[^\n]*\n[ \t]*[-:|][-:|\ \t]*+(?:\n|\Z))"
# A line that carries on the list it stands in, after blank lines perhaps. There must be one way only to match
# it, for it is repeated: with two, a list of forty items that turns out to be doubtful would take for ever.
_ITEM_LINE: Final = rf"""(?:\n[ \t]*+(?=\n))*\n(?:(?:[ ]{{2,}}|[ ]{{0,3}}\t[ \t]*)\S
           |(?![ ]{{2}})(?P=lead)(?!{_RULE})(?(bullet)(?P=bullet)|[0-9]{{1,9}}(?P=stop))[ ]{{1,4}}\S)"""
_BLOCK: Final = re.compile(
    rf"""(?:[ \t]*+\n)*(?:
    (?P<paragraph>[ ]{{0,3}}(?:{_TEXT}|\[(?:\[|\^|[^\[\]\\\n]*+\](?!:)))[^\n]*+
        (?:\n[ \t]*+(?:{_TEXT}|\[)[^\n]*+)*)
        (?:\n[ ]{{0,3}}(?P<underline>=+|-+)[ \t]*{_END}|(?=\Z|\n{_ENDS_PARAGRAPH}))
  | (?P<heading>[ ]{{0,3}}(?P<hashes>\#{{1,6}}){_NO_TABLE}(?:[ \t][^\n]*)?{_END})
  | [ ]{{0,3}}(?P<fence>`{{3,}}+(?=[^`\n]*{_END})|~{{3,}}+){_NO_TABLE}
  | (?P<definition>\[(?!\^)(?P<label>[^\[\]\\\n]+)\]:[ \t]*(?P<target>[^\x00-\x20\x7f<>\\()&]+)[ \t]*
        (?=\Z|\n(?:\[|[ \t]*(?:\n|\Z)|\#{{1,6}}[ \t])))
  | (?P<code>{_INDENT}[ \t]*+[^\n]++(?:\n(?:{_INDENT}[^\n]*+|[ \t]*+{_END}))*)
  | (?P<table>\|[^\n]*\n(?P<dashes>\|[-:|\ \t]*)(?=\n|\Z)(?:\n\|[^\n]*+)*)(?=\Z|\n[ \t]*(?:\n|\Z))
  | (?P<rule>[ ]{{0,3}}{_RULE})
  | (?P<comment>[ ]{{0,3}}<!--){_NO_TABLE}
  | (?P<quote>>{_NO_TABLE}[^\n]*+(?:\n>[^\n]*+)*)(?!\n>)(?=\Z|\n{_ENDS_PARAGRAPH})
  | (?P<list>(?P<lead>[ ]{{0,3}})(?:(?P<bullet>[-*+])|[0-9]{{1,9}}(?P<stop>[.)]))[ ]{{1,4}}{_NO_TABLE}
        \S[^\n]*+(?:{_ITEM_LINE}[^\n]*+)*)(?!{_ITEM_LINE})
        (?=\Z|\n{_MARKER}|\n{_ENDS_PARAGRAPH})
    )""",
    re.VERBOSE,
)
_QUOTE_MARK: Final = re.compile(r"^> ?", re.MULTILINE)
_ITEM_MARK: Final = re.compile(rf"(?!{_RULE})(?:[0-9]{{1,9}})?(?P<mark>[-*+.)])[ ]{{1,4}}(?=\S)")
# What may belong to the list before it: an indented line, or an item that is empty, padded or tabbed.
_MAY_GO_ON: Final = re.compile(
    r"(?:\n[ \t]*+(?=\n))*\n(?:[ \t]+[^ \t\n]|(?:[0-9]{1,9})?(?P<mark>[-*+.)])(?=[ \t\n]|\Z))"
)
# A line that may begin so many containers that markdown-it gives up: each takes a character at least.
_VERY_DEEP: Final = re.compile(rf"^[ \t>*+\-0-9.)]{{{MAX_NESTING // 2}}}", re.MULTILINE)
_TAB: Final = 4  # columns (CommonMark 2.2)
_DEEPEST: Final = 8  # containers within each other that are read here
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*+\n)*(?:[ \t]+\Z)?")
_LINE: Final = re.compile(r"[^\n]*+")
# Where everything but a fence or HTML has ended (spec 7): before a heading or fence at column 0,
# which no list, quote or paragraph holds; after a blank line, before a line at column 0 that
# carries no list on.
_CUT: Final = re.compile(
    rf"""\n(?:(?=\#{{1,6}}(?:[ \t\n]|\Z)|{_FENCE})
       | [ \t]*+\n(?=[^\s])(?!(?:[-*+]|[0-9]{{1,9}}[.)])(?:[ \t\n]|\Z)))""",
    re.VERBOSE,
)
_MOST_CELLS: Final = 0x10000  # markdown-it stops a table that it had to fill up with so many cells
_ALIGNMENT: Final = re.compile(r":?-+:?")


def scan_blocks(text: str, found: Blocks) -> None:
    """Add all blocks of a text whose lines end in line feeds."""
    _Scanner(text, found, 0, 0).scan()


class _Scanner:
    """Walks over the text, always at the start of a line where a block begins."""

    def __init__(self, text: str, found: Blocks, first_line: int, depth: int) -> None:
        """`depth`: how many containers the text was taken out of; in one, nothing is handed over."""
        self._text = text
        self._found = found
        self._at = 0
        self._line = first_line
        self._depth = depth

    def scan(self) -> bool:
        """Read the text to its end; False, in a container only, where something is doubtful."""
        text, size = self._text, len(self._text)
        readers: dict[str | None, Callable[[re.Match[str]], bool]] = {
            "paragraph": self._paragraph,
            "underline": self._setext_heading,
            "heading": self._heading,
            "fence": self._fence,
            "definition": self._definition,
            "code": self._indented_code,
            "table": self._table,
            "rule": self._rule,
            "comment": self._comment,
            "quote": self._quote,
            "list": self._list,
        }
        while self._at < size:
            if match := _BLOCK.match(text, self._at):
                kind = match.lastgroup
                self._move(match.start("paragraph" if kind == "underline" else kind or 0))
                if readers[kind](match):
                    continue
            else:
                self._skip_blank_lines()
            if self._at < size:
                if self._depth:
                    return False
                self._ask()
        return True

    def _skip_blank_lines(self) -> None:
        if blank := _BLANK_LINES.match(self._text, self._at):
            self._move(blank.end())

    def _move(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _add(self, kind: BlockKind, end: int, header_lines: int = 0) -> None:
        """Add a block from here to offset `end`, without the blank lines at its end, and go there."""
        start = self._line
        self._move(self._at + len(self._text[self._at : end].rstrip(" \t\n")))
        self._found.blocks.append(
            Block(kind, start, self._line + 1, start + header_lines if header_lines else 0)
        )
        self._move(end)

    def _paragraph(self, match: re.Match[str]) -> bool:
        start, end, line = self._at, match.end(), self._line
        self._found.add_run(line, self._text, start, end)
        self._move(end)
        self._found.blocks.append(Block(BlockKind.PARAGRAPH, line, self._line + 1))
        return True

    def _setext_heading(self, match: re.Match[str]) -> bool:
        source = match["paragraph"]
        if "|" in source:  # a table of one column, perhaps
            return False
        self._add_heading(1 if match["underline"][0] == "=" else 2, source, match.end())
        return True

    def _heading(self, match: re.Match[str]) -> bool:
        source = match["heading"].lstrip(" ").lstrip("#").rstrip(" \t")
        without = source.rstrip("#")
        if without.endswith((" ", "\t")):
            source = without
        self._add_heading(len(match["hashes"]), source, match.end())
        return True

    def _add_heading(self, level: int, source: str, end: int) -> None:
        start, source = self._line, source.strip()
        self._found.add_run(start, source)
        self._move(end)
        self._found.headings.append((level, start, self._line + 1, source))

    def _fence(self, match: re.Match[str]) -> bool:
        marks = match["fence"]
        closing = closing_fence(marks[0], len(marks)).search(self._text, match.end())
        self._add(BlockKind.CODE, closing.end() if closing else len(self._text))
        return True

    def _definition(self, match: re.Match[str]) -> bool:
        if not add_definition(match["label"], match["target"], self._found.references):
            return False
        self._add(BlockKind.DEFINITION, match.end())
        return True

    def _indented_code(self, match: re.Match[str]) -> bool:
        self._add(BlockKind.CODE, match.end())
        return True

    def _table(self, match: re.Match[str]) -> bool:
        header, dashes, *rows = match["table"].split("\n")
        columns = split_row(header)
        alignments = dashes.split("|")[1:]
        if alignments and not alignments[-1].strip():
            alignments.pop()
        if not columns or len(columns) != len(alignments) or len(rows) * len(columns) > _MOST_CELLS:
            return False
        if not all(_ALIGNMENT.fullmatch(alignment.strip()) for alignment in alignments):
            return False
        if may_hold_finds(match["table"]):
            for number, row in enumerate((header, dashes, *rows)):
                for cell in split_row(row)[: len(columns)] if number != 1 else ():
                    self._found.add_run(self._line + number, cell.strip())
        self._add(BlockKind.TABLE, match.end(), TABLE_HEADER_LINES)
        return True

    def _rule(self, match: re.Match[str]) -> bool:
        self._add(BlockKind.RULE, match.end())
        return True

    def _comment(self, match: re.Match[str]) -> bool:
        closing = self._text.find("-->", match.end() - 2)
        end = _LINE.match(self._text, closing) if closing >= 0 else None
        self._add(BlockKind.HTML, end.end() if end else len(self._text))
        return True

    def _quote(self, match: re.Match[str]) -> bool:
        source = match["quote"]
        if "\t" in source or _VERY_DEEP.search(source):
            return False
        if _is_worth_reading(source) and not self._read_inside(_QUOTE_MARK.sub("", source), self._line):
            return False
        self._add(BlockKind.QUOTE, match.end())
        return True

    def _list(self, match: re.Match[str]) -> bool:
        source = match["list"]
        after = _MAY_GO_ON.match(self._text, match.end())
        mark = match["bullet"] or match["stop"]
        if _VERY_DEEP.search(source) or (after and after["mark"] in (None, mark)):
            return False
        items = _items(source, len(match["lead"]), mark)
        if items is None:
            return False
        runs = len(self._found.runs)
        if _is_worth_reading(source):
            for line, item in items:
                if not self._read_inside(item, self._line + line):
                    del self._found.runs[runs:]
                    return False
        self._add(BlockKind.LIST, match.end())
        return True

    def _read_inside(self, text: str, first_line: int) -> bool:
        """Read what a container holds: only its inline markup and its definitions count."""
        inside = Blocks(references=self._found.references)
        if self._depth == _DEEPEST or not _Scanner(text, inside, first_line, self._depth + 1).scan():
            return False
        self._found.runs += inside.runs
        return True

    def _ask(self) -> None:
        """Hand over what follows, up to where whatever it is has ended."""
        cut = _CUT.search(self._text, self._at)
        end = cut.end() if cut else len(self._text)
        found = self._found
        kept: tuple[list[Any], ...] = found.headings, found.blocks, found.runs, found.html
        before, too_deep = [len(each) for each in kept], found.too_deep
        if parse_blocks(self._text[self._at : end], self._line, found) and cut:
            for each, size in zip(kept, before, strict=True):
                del each[size:]
            found.too_deep = too_deep
            end = len(self._text)
            parse_blocks(self._text[self._at :], self._line, found)
        self._move(end)


def _is_worth_reading(source: str) -> bool:
    return may_hold_finds(source) or "]:" in source


def _items(source: str, lead: int, own_mark: str) -> list[tuple[int, str]] | None:
    """The items of a list, without marker and indentation, and their first lines; None in doubt.

    `lead`: the blanks before each marker.
    """
    items: list[tuple[int, list[str]]] = []
    width = 0  # where the text of the item begins
    for number, line in enumerate(source.split("\n")):
        text = line.lstrip(" \t")
        line = line[: len(line) - len(text)].expandtabs(_TAB) + text
        mark = _ITEM_MARK.match(text) if len(line) - len(text) == lead else None
        if mark and mark["mark"] == own_mark:
            width = lead + mark.end()
            items.append((number, [line[width:]]))
        elif line[:width].strip(" "):
            return None
        else:
            items[-1][1].append(line[width:])
    return [(number, "\n".join(lines)) for number, lines in items]
