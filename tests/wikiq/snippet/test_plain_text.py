"""Markdown reduced to its words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.snippet.plain_text import plain_text


@pytest.mark.parametrize(
    "markdown, expected",
    [
        ("Plain words.", "Plain words."),
        ("*stress* **strong** ***both*** ~~gone~~", "stress strong both gone"),
        ("snake_case_name and _under_ __scores__", "snake_case_name and under scores"),
        ("`code` and ``a ` b`` stay", "code and a ` b stay"),
        ("`__init__` is `*args`", "__init__ is *args"),
        ("[label](target.md#part) and ![alt text](x.png)", "label and alt text"),
        ("[label][ref] and [`code` label](x)", "label and code label"),
        ("[[page]] and [[page#part|shown]] ![[embed]]", "page and shown embed"),
        ("<https://example.org/x> <b>bold</b><br>next", "https://example.org/x bold next"),
        ('see <a\n  href="x"\n  class="y">the guide</a> now', "see\nthe guide now"),
        ("<Since\n  v='1'\n/>\nnext", "next"),
        ("one <b\n\ntwo> three", "one <b\ntwo> three"),
        ("one <b\n<i>two</i>", "one <b\ntwo"),
        ("```html\n<a\n  href=x>\n```", "<a\nhref=x>"),
        ("a <!-- hidden\nlines --> b", "a\nb"),
        ("1. one\n2) two\n- three\n* four\n+ five", "one\n· two\n· three\n· four\n· five"),
        ("> quoted\n> > twice", "quoted\ntwice"),
        ("- [ ] open\n- [x] done", "open\n· done"),
        ("| a | b |\n|---|:--:|\n| c | d |", "a · b\n· c · d"),
        ("```python\ndef f(x):\n    return x * 2\n```\nafter", "def f(x):\nreturn x * 2\nafter"),
        ("~~~\n```\n~~~\nafter", "```\nafter"),
        ("```\nnever closed", "never closed"),
        ("## Heading ##\n\ntext", "Heading\ntext"),
        ("[ref]: https://example.org 'title'\ntext", "text"),
        ("---\ntext\n***", "text"),
        ("5 \\* 3 &amp; 2 &lt; 4", "5 * 3 & 2 < 4"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("  many   blanks\t here ", "many blanks here"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_markup_is_reduced_to_its_words(markdown: str, expected: str) -> None:
    assert plain_text(markdown) == expected


@given(st.text(max_size=300) | st.text("`*_[]()!<>|\\#&-+.~ \nab", max_size=300))
def test_any_text_gives_lines_without_outer_blanks(markdown: str) -> None:
    lines = plain_text(markdown).split("\n")
    assert all(line == line.strip() for line in lines)


@pytest.mark.parametrize(
    "unit",
    ["`", "[", "![", "[x](", "[[", "<a", "<!--", "*", "_a", "``a` ", "|", "\\", "[a](b(c)", "((", "&amp;"],
)
def test_hostile_markup_takes_time_in_proportion_to_its_length(unit: str) -> None:
    def cost(length: int) -> float:
        text = unit * (length // len(unit))
        times = []
        for _ in range(3):
            started = time.process_time()
            plain_text(text)
            times.append(time.process_time() - started)
        return min(times)

    cost(1_000)
    # Eight times the length; quadratic work would take sixty-four times as long.
    assert cost(64_000) < 30 * cost(8_000) + 0.05
