"""Pages made to be expensive: four times the text may take about four times as long, never sixteen.

Each family repeats what some Markdown or YAML parser once took quadratic or exponential time for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexerd.core.model import ProjectionOptions
from indexerd.core.project import project_page

pytestmark = pytest.mark.slow

SMALL, LARGE = 16_000, 64_000  # bytes
MOST_TIMES = 10.0  # where linear is 4 and quadratic 16
NEGLIGIBLE_S = 0.05  # below it the clock of the CPU says little

FAMILIES: dict[str, Callable[[int], str]] = {
    "quotes": lambda n: ">" * n + "a\n",
    "lines that continue quotes": lambda n: ">" * 3 + "a\n" + "b\n" * n,
    "lists and quotes": lambda n: "> - " * n + "a\n",
    "lists in lists": lambda n: "".join(" " * (2 * i) + "- a\n" for i in range(int(n**0.5))),
    "list markers": lambda n: "- " * n,
    "numbers": lambda n: "1. " * n,
    "items": lambda n: "- a\n" * n,
    "items of a list that turns out to be doubtful": lambda n: "  - a\n" * (n // 6 - 1) + "b",
    "loose items": lambda n: "- a\n\n" * n,
    "items of code": lambda n: "-     a\n" * n,
    "stars": lambda n: "*a " * n,
    "stars of both sides": lambda n: "*a_" * n,
    "double stars": lambda n: "**a " * n,
    "underlines": lambda n: "_a__" * n,
    "opening brackets": lambda n: "[" * n,
    "brackets in brackets": lambda n: "[" * n + "a" + "]" * n,
    "links that never close": lambda n: "[a](" * n,
    "links with open brackets": lambda n: "[a](<b" * n,
    "images": lambda n: "![" * n,
    "wikilinks that never close": lambda n: "[[a|" * n,
    "wikilinks": lambda n: "[[a]]" * n,
    "backticks of every length": lambda n: "".join("`" * i + " " for i in range(int((2 * n) ** 0.5))),
    "tags that never close": lambda n: "<a " * n,
    "attributes": lambda n: "<a b='c" * n,
    "comments": lambda n: "<!--" * n,
    "CDATA": lambda n: "<![CDATA[" * n,
    "instructions": lambda n: "<?" * n,
    "declarations": lambda n: "<!A " * n,
    "addresses": lambda n: "<a:" * n,
    "entities": lambda n: "&#" * n,
    "definitions": lambda n: "[a]: b\n" * n,
    "definitions that never end": lambda n: "[a]: <b> 'c\n" * n,
    "definitions of many lines": lambda n: "[a\n" * n,
    "tables of many columns": lambda n: "|a" * n + "\n" + "|-" * n + "\n",
    "tables of many rows": lambda n: "|a|b|\n|-|-|\n" + "|c|d|\n" * n,
    "bars": lambda n: "a|\n" * n,
    "a long paragraph": lambda n: "a\n" * n + "===\n",
    "underlined headings": lambda n: "a\n---\n" * n,
    "headings": lambda n: "# a\n" * n,
    "headings of one name": lambda n: "# a\n\nb\n\n" * n,
    "headings with links": lambda n: "# [a](b) *c*\n" * n,
    "hashes": lambda n: "#a" * n,
    "fences": lambda n: "```\n~~~\n" * n,
    "backslashes": lambda n: "\\" * n,
    "tabs": lambda n: "\t" * n + "a\n",
    "blank lines": lambda n: "\n" * n,
    "NULs": lambda n: "\0" * n,
    "accents": lambda n: "a" + "\u0301" * n,
    "words without blanks": lambda n: "数据" * n,
    "paths": lambda n: "a/b.md " * n,
    "one word": lambda n: "a" * n,
    "keys": lambda n: "---\n" + "a: " * n + "\n---\n",
    "lists in front matter": lambda n: "---\na: " + "[" * n + "\n---\n",
    "quotes in front matter": lambda n: "---\na: '" + "''" * n + "\n---\n",
    "anchors in front matter": lambda n: "---\n" + "&a " * n + "\n---\n",
    "aliases of aliases": lambda n: "---\na: &a [x]\n" + "b: &b [*a, *a]\n" * n + "---\n",
    "tables of TOML": lambda n: "+++\na = " + "[" * n + "\n+++\n",
}


# What lines may begin and go on with; repeated and joined they are what one way to match is doubtful about.
STARTS = [
    "",
    "  ",
    "   - ",
    "  - ",
    "- ",
    "1. ",
    "  1. ",
    "> ",
    "    ",
    "\t",
    "|",
    "[a]: ",
    "```",
    "# ",
    "::: ",
    "$$",
]
MIDDLES = ["a", "x|y", "--", "](b)", "`c`", "$d$", "{#e}", "]]", "<b>", ""]
LINES = st.builds("{}{}\n".format, st.sampled_from(STARTS), st.sampled_from(MIDDLES))
FEW, MORE = 6, 18  # two ways to match each of so many lines are 4,096 times as dear


def cost_of(family: Callable[[int], str], size: int) -> float:
    """Seconds of CPU for so many bytes of it; the least of three."""
    return cost_of_bytes(family(size).encode()[:size])


def cost_of_bytes(data: bytes) -> float:
    costs = []
    for _ in range(3):
        began = time.process_time()
        project_page(data, "p.md", ProjectionOptions())
        costs.append(time.process_time() - began)
    return min(costs)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_cost_of_a_page_grows_with_its_length_alone(name: str) -> None:
    large = cost_of(FAMILIES[name], LARGE)
    if large > NEGLIGIBLE_S:
        assert large <= MOST_TIMES * cost_of(FAMILIES[name], SMALL)


@settings(deadline=None, max_examples=150)
@given(
    head=st.lists(LINES, max_size=1),
    unit=st.lists(LINES, min_size=1, max_size=2),
    tail=st.lists(LINES, max_size=2),
)
@example(head=[], unit=["  - a\n"], tail=["b\n"])
def test_a_few_more_lines_of_the_same_cost_a_few_times_as_much(
    head: list[str], unit: list[str], tail: list[str]
) -> None:
    few, more = ("".join([*head, *unit * times, *tail]).encode() for times in (FEW, MORE))
    cost = cost_of_bytes(more)
    if cost > NEGLIGIBLE_S:
        assert cost <= MOST_TIMES * cost_of_bytes(few)
