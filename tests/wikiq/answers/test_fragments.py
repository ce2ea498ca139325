"""Which fragments lead somewhere on a page."""

from __future__ import annotations

import pytest

from wikiq.answers.fragments import PageFragments

HEADINGS = (
    ("", "Page"),
    ("getting-started", "Getting started!"),
    ("own-id", "Named"),
    ("über", "Über"),
    ("", "$$"),
)
SOURCE = """text <a name="Old"></a> and <span id=new>x</span>

A paragraph. ^block-1

- item ^b2\r
^b3

> ## Said so

1. # Step #

   ## Indented

<h2>In <b>HTML</b></h2>

[](){ #marked } text

isTerm
: what it is

```
  # shown <a id="shown">
```
"""


@pytest.mark.parametrize(
    "fragment, leads",
    [
        ("getting-started", True),
        ("Getting-Started", True),
        ("Getting started", True),
        ("getting_started", True),
        ("own-id", True),
        ("Named", True),
        ("ÜBER", True),
        ("old", True),
        ("new", True),
        ("^block-1", True),
        ("^b2", True),
        ("^b3", True),
        ("Anything#Getting started", True),
        (":~:text=words", True),
        ("tab/windows", True),
        ("section-1", True),
        ("said-so", True),
        ("Step", True),
        ("indented", True),
        ("in-html", True),
        ("shown", False),
        ("marked", True),
        ("isterm", True),
        ("own-id,1:#*", True),
        ("gone,1:#*", False),
        ("fn:1", True),
        ("", True),
        ("gone", False),
        ("getting", False),
        ("^gone", False),
        ("block-1", False),
        ("Getting started#Gone", False),
        ("---", False),
    ],
)
def test_a_fragment_is_an_anchor_a_heading_an_id_or_a_block(fragment: str, leads: bool) -> None:
    assert PageFragments(HEADINGS, lambda: SOURCE).answers(fragment) is leads


def test_the_text_is_read_only_where_no_heading_answers() -> None:
    def unread() -> str:
        raise AssertionError("not needed")

    fragments = PageFragments(HEADINGS[:3], unread)
    assert fragments.answers("own-id")
    assert not PageFragments((("a", "A"),), lambda: "").answers("section-1")


@pytest.mark.parametrize(
    "include",
    [
        '--8<-- "CONTRIBUTING.md"',
        "{{#include ../a.md}}",
        '{{% include "_common/scope.md" %}}',
        "{% include_relative parts/a.md %}",
        "[!INCLUDE [name](part.md)]",
        "::: package.module",
        "::: mkdocs-click\n    :module: mkdocs",
    ],
)
def test_a_page_that_includes_another_answers_what_may_stand_there(include: str) -> None:
    assert PageFragments(HEADINGS, lambda: f"text\n\n{include}\n").answers("there")
    assert not PageFragments(HEADINGS, lambda: f"```\n{include}\n```\n").answers("there")


@pytest.mark.parametrize("text", ["::: note", "{% include toc.html %}", "to include a.md", "{{ title }}"])
def test_what_brings_no_headings_is_no_include(text: str) -> None:
    assert not PageFragments(HEADINGS, lambda: f"{text}\ntext\n").answers("there")
