"""Opaque regions: comments, math, templates, conflict markers, attribute blocks, hidden from parsers.

One pass before blocks and inline markup are read (spec 1.5). What a region holds stays in the text
of the page; for the reading alone, one on lines of its own becomes an HTML comment of as many lines,
any other one becomes characters that mean nothing and can be shown again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

# Lines [start, end) of code and of HTML comments at any depth, which no region begins or ends in.
CodeLines: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]

Span: TypeAlias = tuple[int, int]  # offsets [start, end)
Gaps: TypeAlias = Sequence[Span]

MAX_TAG: Final = 4096  # characters of a template tag; an opening that is not closed by then is text

# The characters of a region while it is hidden: at the end of the last private plane, where no font
# has its icons. A text that uses them keeps its regions in sight.
_FIRST_HIDDEN: Final = 0x10FF00
_FILLER: Final = chr(_FIRST_HIDDEN)  # stands in a blank line, which would end a paragraph
_HIDDEN: Final = re.compile(f"[{_FILLER}-{chr(_FIRST_HIDDEN + 0x7E)}]")
HIDDEN_LINE: Final = "<!---->"
_HIDE_ALL: Final = {code: _FIRST_HIDDEN + code for code in (9, *range(0x20, 0x7F))}
# A bar in a line decides how many cells a table has, whatever it stands in (GFM 4.10).
_HIDE: Final = {code: hidden for code, hidden in _HIDE_ALL.items() if code != ord("|")}
_SHOW: Final = {hidden: code for code, hidden in _HIDE_ALL.items()} | {_FIRST_HIDDEN: ""}

# A text without one of these has no region; most pages have none and are looked at no further.
_MAY_HOLD: Final = re.compile(
    r"""%% | \$(?:\$|[^\s$`][^$`\n]*+(?<!\s)\$(?![\d$])) | <% | <<<<<<<[ ] | =(?<=\)=)(?=[ \t]*+(?:\n|\Z))
      | \{(?:[%{:]|/\*|[ \t]*+(?:[\#.][^\s{}]|-[ \t]*+\}|[A-Za-z_][\w:.\-]*+=))""",
    re.VERBOSE,
)
_FIRST_FENCE: Final = re.compile(r"(?P<marks>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)")
_FENCE: Final = re.compile(rf"\n{_FIRST_FENCE.pattern}")
# Each alternative begins with a literal, which the regex engine skips to.
_SIGN: Final = re.compile(
    r"""\\[!-~] | `+ | <(?:!--|%|(?i:(?P<raw>pre|script|style|textarea))\b|<{6}[ ])
      | %% | \${2,} | \$(?=[^\s$]) | \{(?=[^\s}]|[ \t]+[#.\w]) | =(?<=\)=)(?=[ \t]*(?:\n|\Z))""",
    re.VERBOSE,
)
# Where a paragraph ends, and with it each code span: a blank line, a line that begins a block.
_BREAK: Final = re.compile(
    r"\n(?=[ \t>]*(?:\n|\Z|\#{1,6}[ \t]|[-*+][ \t]|[0-9]{1,9}[.)][ \t]|>|\||```|~~~|<!--))"
)
# What only the parser can tell: a fence in a container, or where HTML may hold one.
_DOUBTFUL: Final = re.compile(
    r"""(?:\n|\A)(?:[ ]{0,3}<[A-Za-z/!?] | [ \t]++(?:```|~~~|<!--)
          | [ \t]*+(?:>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])[^\n]*?(?:```|~~~|<!--))""",
    re.VERBOSE,
)
_INDENTED: Final = re.compile(r"[ >*+\-0-9.)]*?(?:\t|[ ]{4})")
_MATH: Final = re.compile(r"\$(?:[^$`\\\n]++|\\[^\n])+(?<!\s)\$(?![\d$])")
# Attribute lists of kramdown, Pandoc, Python-Markdown, Hugo, and the comment of Docusaurus.
ATTRIBUTES: Final = re.compile(
    r"""\{:?[ \t]*+
          (?:(?:[\#.][^\s{}`]++|-|[A-Za-z_][\w:.\-]*+=(?:"[^"\n]*+"|'[^'\n]*+'|[^\s{}"'`]++))[ \t]*+)+\}
      | \{/\*[^*{}\n]*+\*/\} | \{:[^{}\n`]*+\}""",
    re.VERBOSE,
)
TARGET: Final = re.compile(r"[ ]{0,3}\((?P<id>[^\s()]+)\)=[ \t]*")  # MyST
# Templates: what opens a tag, what closes it, whether it ends with its line.
_TAGS: Final = (("{{<", ">}}"), ("{{%", "%}}"), ("{{", "}}"), ("{%", "%}"))
_TAG_NAME: Final = re.compile(r"\{(?:%|\{[<%])[-~]?\s*(?P<name>/?\s*[\w\-]+)")
_BODIES: Final = frozenset({"comment", "raw", "highlight", "code-toggle"})  # whose bodies are opaque too
_CONFLICT: Final = re.compile(
    r"""<{7}[ ][^\n]*+\n(?:(?!<{7}[ ]|={7}\n)[^\n]*+\n)*(?P<middle>={7})\n
        (?:(?!<{7}[ ]|>{7})[^\n]*+\n)*(?P<end>>{7}(?:[ ][^\n]*+)?)(?=\n|\Z)""",
    re.VERBOSE,
)
_CONTAINERS: Final = re.compile(r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+[ \t>]*)*")
_NO_MARGIN: Final = re.compile(r"[^\s>]")
_LINE_END: Final = re.compile(r"[ \t]*(?:\n|\Z)")
_RAW_END: Final = re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
_WIDEST: Final = 200  # characters before a region on lines of its own: markers of lists and quotes
_MARGIN: Final = 4  # a block begins after fewer blanks (CommonMark 4)
_BLANK: Final = " \t"
_DELIMITERS: Final = ("%%", "$$")


_WHOLE: Final = ""  # the kind of a mark that is a region by itself


class _Mark(NamedTuple):
    """What is a region (kind ""), a delimiter of one (`%%`, `$$`) or a tag that a body may follow."""

    kind: str
    start: int
    end: int


def hide_regions(text: str, code_lines: CodeLines) -> str:
    """The text for the parsers, with as many lines: the same object where there is no region.

    `code_lines` is asked only where the lines alone do not tell what is code.
    """
    if not _MAY_HOLD.search(text) or not (text.isascii() or _HIDDEN.search(text) is None):
        return text
    gaps = _between_fences(text)
    regions = _regions(text, gaps)
    if not regions:
        return text
    if _is_doubtful(text, gaps, regions):
        regions = _regions(text, _between_lines(text, code_lines(text)))
    return _hidden(text, regions) if regions else text


def show(text: str) -> str:
    """A piece of a hidden text as it was written."""
    return text if text.isascii() else text.translate(_SHOW)


def closing_ticks(source: str, at: int, length: int, end: int | None = None) -> int:
    """Where the run of as many backticks begins that closes a code span; -1 without one before `end`."""
    marks = "`" * length
    limit = len(source) if end is None else end
    found = source.find(marks, at, limit)
    while found >= 0:
        after = found + length
        while source.startswith("`", after):
            after += 1
        if after - found == length:
            return found
        found = source.find(marks, after, limit)
    return -1


def _between_fences(text: str) -> list[Span]:
    """What is outside of fences at the margin."""
    gaps: list[Span] = []
    at = 0
    opening = _FIRST_FENCE.match(text) or _FENCE.search(text)
    while opening:
        gaps.append((at, opening.start()))
        marks = opening["marks"]
        closing = closing_fence(marks[0], len(marks)).search(text, opening.end())
        if closing is None:
            return gaps
        at = closing.end()
        opening = _FENCE.search(text, at)
    gaps.append((at, len(text)))
    return gaps


def _between_lines(text: str, code: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is outside of these lines."""
    offsets = [0, *(end.end() for end in re.finditer("\n", text)), len(text)]
    gaps, at = [], 0
    for first, after in code:
        start = offsets[min(first, len(offsets) - 1)]
        if start > at:
            gaps.append((at, start))
        at = max(at, offsets[min(after, len(offsets) - 1)])
    gaps.append((at, len(text)))
    return gaps


def _is_doubtful(text: str, gaps: Gaps, regions: Sequence[Span]) -> bool:
    """Whether there may be code that its own lines do not show: in a container, indented, in HTML."""
    if any(_DOUBTFUL.search(text, start, end) for start, end in gaps):
        return True
    lines = {text.rfind("\n", 0, start) + 1 for start, _ in regions}
    return any(_INDENTED.match(text, line) for line in lines)


def _marks(text: str, start: int, end: int) -> Iterator[_Mark]:
    """The marks in text[start:end], which holds no block of code."""
    if not _MAY_HOLD.search(text, start, end):
        return
    at, edge = start, start  # `edge`: where the paragraph ends that was last looked at
    may_close = True  # whether a comment may end in what follows
    while sign := _SIGN.search(text, at, end):
        sort, begin, at = sign[0], sign.start(), sign.end()
        if sort[0] == "`":
            if edge <= begin:
                limit = _BREAK.search(text, at, end)
                edge = limit.start() if limit else end
            closing = closing_ticks(text, at, len(sort), edge)
            at = closing + len(sort) if closing >= 0 else at
        elif sort in ("%%", "$$"):
            yield _Mark(sort, begin, at)
        elif sort == "<!--":
            closing = text.find("-->", begin + 2, end) if may_close else -1
            may_close = closing >= 0
            if may_close or _starts_line(text, begin):
                at = closing + 3 if may_close else end
        elif sign["raw"]:
            if _starts_line(text, begin):
                closed = _RAW_END.search(text, at, end)
                at = closed.end() if closed else end
        elif sort.startswith("<<"):
            yield from _conflict(text, begin, end)
        elif mark := _MARK_OF.get(sort[0], _no_mark)(text, begin, end):
            yield mark
            at = max(at, mark.end)


def _starts_line(text: str, at: int) -> bool:
    return text[max(at - _MARGIN, 0) : at].rpartition("\n")[2].strip(" ") == "" and (
        at <= _MARGIN or "\n" in text[at - _MARGIN : at]
    )


def _conflict(text: str, begin: int, end: int) -> Iterator[_Mark]:
    """The three lines that mark what git could not merge."""
    match = _CONFLICT.match(text, begin, end) if _starts_line(text, begin) else None
    if match:
        yield _Mark(_WHOLE, begin, text.index("\n", begin))
        yield _Mark(_WHOLE, *match.span("middle"))
        yield _Mark(_WHOLE, *match.span("end"))


def _inline_math(text: str, begin: int, end: int) -> _Mark | None:
    match = _MATH.match(text, begin, end)
    return _Mark(_WHOLE, begin, match.end()) if match else None


def _target(text: str, begin: int, end: int) -> _Mark | None:
    """MyST's `(id)=`, a line of its own; `begin` is at its last sign."""
    start, stop = text.rfind("\n", 0, begin) + 1, text.find("\n", begin)
    match = TARGET.fullmatch(text, start, stop if stop >= 0 else end)
    return _Mark(_WHOLE, start, match.end()) if match else None


def _embedded(text: str, begin: int, end: int) -> _Mark | None:
    """`<% … %>`."""
    closing = text.find("%>", begin, min(end, begin + MAX_TAG))
    return _Mark(_WHOLE, begin, closing + 2) if closing >= 0 else None


def _braces(text: str, begin: int, end: int) -> _Mark | None:
    """A template tag, which a body may follow, or an attribute block."""
    for opening, closing in _TAGS:
        if text.startswith(opening, begin):
            found = text.find(closing, begin + len(opening), min(end, begin + MAX_TAG))
            if found < 0 or ("\n\n" if opening != "{{" else "\n") in text[begin:found]:
                return None
            name = _TAG_NAME.match(text, begin)
            return _Mark(name["name"].replace(" ", "") if name else _WHOLE, begin, found + len(closing))
    match = ATTRIBUTES.match(text, begin, end)
    return _Mark(_WHOLE, begin, match.end()) if match else None


def _no_mark(_text: str, _begin: int, _end: int) -> None:
    """What an escape is."""


_MARK_OF: Final = {"$": _inline_math, "=": _target, "<": _embedded, "{": _braces}


def _regions(text: str, gaps: Gaps) -> list[Span]:
    """Pair delimiters and tags with what closes them; one without a partner is text, a tag itself."""
    marks = sorted(
        (mark for start, end in gaps for mark in _marks(text, start, end)), key=lambda mark: mark.start
    )
    places: dict[str, list[int]] = {}
    for number, mark in enumerate(marks):
        places.setdefault(mark.kind, []).append(number)
    regions: list[Span] = []
    number, covered = 0, 0
    while number < len(marks):
        mark = marks[number]
        partner = _partner(mark.kind, number, places)
        if mark.start >= covered and (partner is not None or mark.kind not in _DELIMITERS):
            covered = marks[partner or number].end
            regions.append((mark.start, covered))
        number = (partner or number) + 1
    return regions


def _partner(kind: str, number: int, places: Mapping[str, Sequence[int]]) -> int | None:
    """Which mark closes a region that mark `number` begins."""
    if kind in _DELIMITERS:
        closings = [kind]
    elif kind in _BODIES:
        closings = [f"end{kind}", f"/{kind}"]
    else:
        return None
    found: list[int] = []
    for closing in closings:
        numbers = places.get(closing, [])
        after = bisect_right(numbers, number)
        found += numbers[after : after + 1]
    return min(found, default=None)


def _hidden(text: str, regions: Sequence[Span]) -> str:
    """The text with its regions hidden; regions with blanks between them on one line count as one."""
    merged: list[Span] = []
    for start, end in regions:
        if merged and not text[merged[-1][1] : start].strip(_BLANK):
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    parts: list[str] = []
    at = 0
    for start, end in merged:
        parts += text[at:start], _hidden_region(text, start, end)
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _hidden_region(text: str, start: int, end: int) -> str:
    line = text.rfind("\n", max(start - _WIDEST, 0), start) + 1
    starts_line = (line or start <= _WIDEST) and _CONTAINERS.fullmatch(text, line, start)
    lines = text[start:end].split("\n")
    if starts_line and _LINE_END.match(text, end):
        margin = _NO_MARGIN.sub(" ", text[line:start])
        middle = f"\n{margin}-" * (len(lines) - 2)
        return f"<!--{middle}\n{margin}-->" if len(lines) > 1 else HIDDEN_LINE
    if len(lines) == 1:
        return lines[0].translate(_HIDE)
    return "\n".join(line.translate(_HIDE_ALL) or _FILLER for line in lines)


@cache
def closing_fence(mark: str, count: int) -> re.Pattern[str]:
    """What closes a fence of so many marks, with the line feed before it."""
    return re.compile(rf"\n[ ]{{0,3}}{mark}{{{count},}}[ \t]*(?=\n|\Z)")
