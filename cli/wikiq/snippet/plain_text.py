"""Markdown to plain text for excerpts: markup reduced to its words, blocks one a line.

Pure and quick, and no parser: what it does not know as markup it leaves standing as it is written.
The indexer judges what Markdown means; here a few words are made readable.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BLOCK_MARKS = re.compile(r"\s*(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6}|\[[ xX]\])(?:\s+|$))*")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:\s")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG_BEGIN = re.compile(r"</?[A-Za-z][^<>`]*$")  # a tag that its line does not end
TAG_LINES_MAX = 50  # of one tag; past that it is text
_BLANKS = re.compile(r"[^\S\n]+")
_RULE_SIGNS = " \t|:-*_="  # a line of nothing else is a rule, or the second line of a table or heading
_BETWEEN = " · "  # list items and cells: each begins or follows with it
_ITEM_SIGNS = frozenset("-*+.)")  # of the marks before an item: bullets, and what follows a number
_BLOCK_SIGNS = frozenset(">-*+#[0123456789")
_INLINE_SIGNS = frozenset("`[<\\*_~")
_INLINE = re.compile(
    r"""
    (?P<ticks>(?<!`)`{1,9})(?P<code>[^`\n](?:[^\n]{0,999}?[^`\n])?)(?P=ticks)(?!`)
    | !?\[\[(?P<wiki>[^\[\]\n]{1,999})\]\]
    | !?\[(?P<label>[^\[\]\n]{0,999})\](?:\((?:[^()\n]|\([^()\n]{0,999}\)){0,999}\)|\[[^\[\]\n]{0,999}\])
    | <(?P<address>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]{1,999})>
    | (?P<tag></?[A-Za-z][^<>\n]{0,999}>)
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | (?P<stress>\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<![^\W_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![^\W_]))
    """,
    re.VERBOSE,
)


def plain_text(markdown: str) -> str:
    """The words of a section's body; blanks collapsed, one line for each line that holds words."""
    return "\n".join(text for _, text in plain_lines(markdown)).removeprefix(_BETWEEN.lstrip())


def plain_lines(markdown: str) -> list[tuple[int, str]]:
    """The lines of a body that hold words, as plain text, each with its number in the body, from 0.

    A list item and a row of a table begin with `·`, which stands between cells too.
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    if "<!--" in text:
        text = _COMMENT.sub(lambda comment: " " + "\n" * comment[0].count("\n"), text)
    lines = []
    fence = ""
    rows = text.split("\n")
    for number, line in enumerate(rows):
        opening = _FENCE.match(line) if "`" in line or "~" in line else None
        if fence:
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                fence = ""
            else:
                lines.append((number, line))
        elif opening:
            fence = opening[1]
        elif line:
            whole = _close_tag(rows, number) if "<" in line else line
            lines.append((number, _plain_line(whole)))
    clean = (
        (number, _BLANKS.sub(" ", _decoded(line) if "&" in line else line).strip()) for number, line in lines
    )
    return [(number, line) for number, line in clean if line]


def _close_tag(rows: list[str], number: int) -> str:
    """Give a line without the tag that it begins and a later one ends; they, and those between, lose it too.

    A blank line or another tag in between: it is text.
    """
    begun = _TAG_BEGIN.search(rows[number])
    if begun is None:
        return rows[number]
    for place in range(number + 1, min(len(rows), number + 1 + TAG_LINES_MAX)):
        before, end, rest = rows[place].partition(">")
        if not rows[place].strip() or "<" in before:
            break
        if end:
            rows[number + 1 : place + 1] = [""] * (place - number - 1) + [rest]
            return rows[number][: begun.start()]
    return rows[number]


def count_lines(source: str) -> int:
    """Count the line ends of a text: LF, CRLF and CR."""
    return source.count("\n") + source.count("\r") - source.count("\r\n")


def _plain_line(line: str) -> str:
    text = line.strip()
    if not text.strip(_RULE_SIGNS):
        return ""
    is_heading, is_item = text.startswith("#"), False
    if text[0] in _BLOCK_SIGNS:
        if text[0] == "[" and _DEFINITION.match(line):
            return ""
        marks = _BLOCK_MARKS.match(text)
        is_item = marks is not None and not _ITEM_SIGNS.isdisjoint(marks[0])
        text = text[marks.end() :] if marks else text
    if not _INLINE_SIGNS.isdisjoint(text):
        text = _INLINE.sub(_inline, text)
    if is_heading:
        text = text.rstrip("# ")
    if line.count("|") > 1:
        text, is_item = _BETWEEN.join(filter(None, map(str.strip, text.split("|")))), True
    return f"{_BETWEEN.lstrip()}{text}" if is_item and text else text


def _inline(found: re.Match[str]) -> str:
    kind = found.lastgroup
    if kind == "code":
        return found["code"].strip()
    if kind == "wiki":
        target, _, label = found["wiki"].partition("|")
        return label or target
    if kind == "label":
        return _INLINE.sub(_inline, found["label"])
    if kind in ("address", "escaped"):
        return found[kind]
    return " " if kind == "tag" else ""


def _decoded(text: str) -> str:
    from html import unescape

    return " ".join(unescape(text).splitlines())
