"""Ranges of the source, as the library gives them, stand on the same characters of what is shown."""

from __future__ import annotations

import pytest

from indexerd.core.model import ProjectionOptions
from indexerd.core.project import project_page
from tests.web.rendered import Elements, outline_of, render_text
from wikiq.web.rendering.page import render


@pytest.mark.parametrize(
    "text, words, marked",
    [
        ("A word, **word** and `word`.\n", ["word"], ["word", "word", "word"]),
        ("In*ter*word `a  word`\n", ["ter", "word"], ["ter", "word", "word"]),
        ("# T\n\n## A *word*\n", ["word"], ["word"]),
        ("> - a\n>   word\n>   1. word\n", ["word"], ["word", "word"]),
        ("- [ ] a word\n", ["word"], ["word"]),
        ("> [!note] The word\n> and word\n", ["word"], ["word", "word"]),
        ("| word | a |\n|--|--|\n| b | word word |\n", ["word"], ["word", "word", "word"]),
        ("```python\nword = 1\n\n    word\n```\n", ["word"], ["word", "word"]),
        ("- ```\n  a word\n  ```\n", ["word"], ["word"]),
        ("Text.\n\n    word\n\n    a word\n", ["word"], ["word", "word"]),
        ("Term word\n: a word\n", ["word"], ["word", "word"]),
        ("A[^1].\n\n[^1]: The word.\n", ["word"], ["word"]),
        ("&amp; word \\* word &lt;word\n", ["word"], ["word", "word", "word"]),
        ("A soft\nword\\\nhard word\n", ["word"], ["word", "word"]),
        ("[word](word.md 'word') word <https://word.org> word\n", ["word"], ["word", "word", "word", "word"]),
        ("[[word|a word]] ![[word]] word\n", ["word"], ["word", "word", "word"]),
        ("![word](word.png) word\n", ["word"], ["word"]),
        ("<b>word</b> <i title='word'>word</i>\n", ["word"], ["word", "word"]),
        ("<div>\n<p title='word'>a &lt; word,\n  word</p></div>\n", ["word"], ["word", "word"]),
        ("- <div>\n  a word\n  </div>\n", ["word"], ["word"]),
        ("$word$ %%word%% word\n", ["word"], ["word"]),
        ("~~a word~~ and `` wo`rd `` ^[word] word\n", ["word"], ["word", "word"]),
        ("東京は日本の首都です。**首都**\n", ["首都", "日本"], ["日本", "首都", "首都"]),
        ("שלום עולם, *שלום* مرحبا\n", ["שלום", "مرحبا"], ["שלום", "שלום", "مرحبا"]),
        ("\U0001f469\u200d\U0001f4bb word \U0001f1e9\U0001f1ea e\u0301 word\n", ["word"], ["word", "word"]),
        ("---\ntitle: word\n---\nA word\n", ["word"], ["word"]),
        ("A word\r\nand\rword\r\n", ["word"], ["word", "word"]),
    ],
)
def test_the_words_found_are_marked_and_nothing_else(text: str, words: list[str], marked: list[str]) -> None:
    assert Elements(render_text(text, marks=words).html).marked == marked


def test_a_mark_over_several_tokens_of_code_marks_each() -> None:
    html = render_text("```python\nx = f(1)\n```\n", marks=["= f("]).html
    assert Elements(html).marked == ["=", " ", "f", "("]


def test_a_mark_over_a_line_end_goes_on_in_the_next_line() -> None:
    html = render_text("One two\nthree four.\n", marks=["two\nthree"]).html
    assert Elements(html).marked == ["two", "three"]


def test_what_stands_twice_on_a_line_is_marked_where_the_range_is() -> None:
    source = "one one one\n"
    rows = outline_of(project_page(source.encode(), "t.md", ProjectionOptions()))
    html = render(source, title="T", sections=rows, marks=[(4, 7)], page_href=lambda slug, _: slug).html
    assert "one <mark>one</mark> one" in html


def test_marks_of_a_page_that_is_shown_as_its_source_are_kept() -> None:
    text = "# A\n\nword\n" + "x" * 2_000_001
    assert Elements(render_text(text, marks=["word"]).html).marked == ["word"]
