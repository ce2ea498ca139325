"""Explicit ids of headings, in the dialects that have them; what is next to a heading gives it one too."""

from __future__ import annotations

import pytest

from indexerd.core.model import Page, ProjectionOptions, TitleOrigin
from indexerd.core.project import project_page


def project(text: str) -> Page:
    return project_page(text.encode(), "p.md", ProjectionOptions())


@pytest.mark.parametrize(
    "source, heading, anchor",
    [
        ("## A {#x}", "A", "x"),
        ("## A {: #x .y }", "A", "x"),
        ("## A {: .y #x}", "A", "x"),
        ("## A { #x }", "A", "x"),
        ('## 9.7 <small>Nov</small> { id="9.7.0" }', "9.7 Nov", "9.7.0"),
        ("## A {id='x' class=\"y\"}", "A", "x"),
        ("## A {/* #x */}", "A", "x"),
        ("## A {#x} ##", "A", "x"),
        ("A {#x}\n---", "A", "x"),
        ("## A\n{: #x}", "A", "x"),
        ("A\n---\n{: .y #x }", "A", "x"),
        ("(x)=\n## A", "A", "x"),
        ("(x)=\n\nA\n---", "A", "x"),
        ("{: #x}\n## A", "A", "x"),
        ("## A {-}", "A", "a"),
        ("## A {.y}", "A", "a"),
        ("## A $x$ {#y}", "A $x$", "y"),
        ("## A \\{#x}", "A {#x}", "a-x"),
        ("## A `{#x}`", "A {#x}", "a-x"),
        ("## A { }", "A { }", "a--"),
        ("## A {#x} b", "A {#x} b", "a-x-b"),
        ("    (x)=\n\n## A", "A", "a"),
        ("## A\n```\n{: #x}\n```", "A", "a"),
        ("text\n{: #x}\n## A", "A", "a"),
    ],
)
def test_an_attribute_block_is_taken_off_and_its_id_is_the_anchor(
    source: str, heading: str, anchor: str
) -> None:
    page = project(f"{source}\n\nend\n")
    assert [(each.heading, each.anchor) for each in page.sections if each.level] == [(heading, anchor)]
    assert page.topics == ()


@pytest.mark.parametrize(
    "text, title",
    [
        ('<h1 align="center">A &amp; <b>B</b></h1>\n\ntext\n', "A & B"),
        ("<p>\n<H1>\n  <img src='x'>\n  Two\n  lines</H1>\n</p>\n\n## Sub\n", "Two lines"),
        ("<h1>Html</h1>\n\n# Heading\n", "Heading"),
        ("<!-- <h1>No</h1> -->\n\ntext\n", "p"),
        ("```\n<h1>No</h1>\n```\n", "p"),
        ("<h1><img src='x'></h1>\n", "p"),
    ],
)
def test_an_html_heading_is_the_title_where_no_other_is(text: str, title: str) -> None:
    page = project(text)
    assert page.title == title
    assert (page.title_origin is TitleOrigin.PATH) is (title == "p")


@pytest.mark.parametrize(
    "text, topics",
    [
        ("#[[two words]] and x#[[no]]", ["two-words"]),
        ("#\ufe0f\u20e3 #\u20e3 #ok\ufe0f", ["ok\ufe0f"]),
        ("#1984 #2024/05 #y1984 #fff (#no)", ["y1984", "fff"]),
        ('[b](c.md){ .md-button #no } ![i](x.png){ style="color: #no" }', []),
    ],
)
def test_tags_of_obsidian_and_logseq(text: str, topics: list[str]) -> None:
    assert [use.topic for use in project(f"# A\n\n{text}\n").topics] == topics
