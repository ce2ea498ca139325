"""Generators of Markdown-like text: lines that matter, in any order, under any prefix.

Plain random text hardly ever holds a heading below a fence below a list; these do.
"""

from __future__ import annotations

from hypothesis import strategies as st

_LINES = (
    "",
    "",
    "",
    "text",
    "more *text* here",
    "# One",
    "## Two ##",
    "### `Three` [x]",
    "#### Four {#four}",
    "#",
    "#no",
    "####### seven",
    "===",
    "---",
    "- - -",
    "***",
    "```",
    "```py",
    "````",
    "~~~",
    "``` a`b",
    "<!-- x",
    "-->",
    "<!-- y -->",
    "<div>",
    "</div>",
    "<pre>",
    "</pre>",
    "<b>inline</b>",
    "<x-y>",
    "<?php",
    "?>",
    "- item",
    "* item",
    "+ item",
    "1. one",
    "2) two",
    "-",
    "> quote",
    ">",
    "| a | b |",
    "|---|:-:|",
    "--|--",
    "a | b",
    "[x]: /y",
    "[x]: /y 'title",
    "title'",
    "[x]:",
    "/dest",
    "[a](b.md) and [x] [[w|l]] ![[e]]",
    "see [a](b.md), `code/x.py` and <https://e.example/>",
    "#tag and **#tag2** `#no`",
    "`open [a](b.md)",
    "close` [c][x] \\[d](e)",
    "![img](i.png) &amp; \\`",
    "[[w]](z) _[u](v)_",
    "\u00a0",
    "\f",
    "a\u2028# b",
    "end\\",
    "two spaces  ",
    "\t",
    # Where certain and doubtful markup lie next to each other.
    "# a | b",
    "- a | b",
    "-|-",
    "|a\\|b|",
    "| [[c\\|d]] | `e/f` | #t |",
    "|-|-|-|",
    "- ===",
    "* * *",
    "-     x",
    "-",
    "1986. x",
    "2. x",
    "١. x",
    "--flag",
    ":::",
    ":--",
    "_a_ x_y_z __b__",
    "[a_b](c_d.md) [a_](b) [`a`](b) [`a](b)`",
    "[x][x] [x][] ![x] ![x](y)",
    "[a](b 'c') [a](b \"c\") [a](<b>) [a](b\\c) [a](b(c)d)",
    "[a](javascript:x) [a]() [a](b&amp;c) [a](b&c)",
    "``a`b`` `` src/c`d `` `src/e.py`",
    "[a [b](c) d](e) [![f](g)](h)",
    "*#t* _#u_ x#v &nbsp;#w",
    "\\# \\` \\[x](y) \\\\[z](w)",
    "a]b[c",
    "<!-- open",
    "<a href='[x](y)'>z</a>",
    "[y]: <z>",
    "[ y ]: z",
    "[y]:z",
    "# `a` b_c [x]",
    "## *a* {#x}",
    "    code",
)
_PREFIXES = (*[""] * 6, " ", "  ", "   ", "    ", "\t", "> ", ">", "- ", "  - ", "1. ", "- > ", "> - ")
_ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r")


@st.composite
def markdown_texts(draw: st.DrawFn, max_lines: int = 14) -> str:
    """A text of such lines; line ends are of one kind mostly, the last one may be missing."""
    lines = draw(st.lists(st.tuples(st.sampled_from(_PREFIXES), st.sampled_from(_LINES)), max_size=max_lines))
    ends = draw(st.sampled_from(_ENDS) | st.just(""))
    parts = [f"{prefix}{line}{ends or draw(st.sampled_from(_ENDS))}" for prefix, line in lines]
    text = "".join(parts)
    return text.rstrip("\r\n") if draw(st.booleans()) else text
