"""What a page shows: each construct of Markdown as HTML, and where it leads."""

from __future__ import annotations

import pytest

from tests.web.rendered import Elements, html_of, render_text
from wikiq.web.rendering.page import MAX_RENDERED

PAGE = """---
title: Hello
---
Before.

# Hello

Text.

## Part

### Detail

## Part
"""


def test_a_section_stands_for_each_section_of_the_index_within_those_above_it() -> None:
    html = html_of(PAGE)
    assert Elements(html).ids() == ["hello", "part", "detail", "part-1"]
    assert html.index('id="detail"') < html.index("</section>\n</section>\n", html.index('id="detail"'))
    assert [line for _, attributes in Elements(html).found if (line := attributes.get("data-line"))] == [
        "4", "6", "10", "12", "14",
    ]  # fmt: skip


def test_front_matter_is_not_shown() -> None:
    assert "title:" not in html_of(PAGE)


@pytest.mark.parametrize("text", ["# Hello\n\nText.\n", "Before.\n\n# Hello\n\nText.\n"])
def test_a_first_heading_equal_to_the_title_is_left_to_the_frame(text: str) -> None:
    assert "<h1>" not in html_of(text)
    assert 'id="hello"' in html_of(text)


@pytest.mark.parametrize(
    "text",
    [
        '<h1 align="center">Hello</h1>\n\nText.\n',
        "<div>\n<h1>\n  Hello\n</h1>\n</div>\n\nText.\n\n## Part\n",
        "Text.\n\n<h1><i>Hello</i></h1>\n",
    ],
)
def test_a_title_in_html_is_left_to_the_frame(text: str) -> None:
    page = render_text(text, title="Hello", marks=["Hello"])
    assert "Hello" not in page.html
    assert "Text." in page.html
    assert "Hello" in render_text(text, title="Other").html


def test_properties_at_the_head_of_a_page_of_logseq_are_not_shown() -> None:
    html = render_text("title:: Hello\ntags:: a, b\n\n- first\n  kind:: shown\n", marks=["first"]).html
    assert "Hello" not in html
    assert "tags" not in html
    assert "<mark>first</mark>" in html
    assert "kind:: shown" in html


def test_a_later_heading_of_the_first_level_is_shown_whatever_it_says() -> None:
    assert html_of("# A\n\n# B\n\n# A\n").count("<h1>") == 2


def test_headings_keep_their_level() -> None:
    html = html_of("# A\n\n#### B\n\n> ###### C\n")
    assert "<h4>B</h4>" in html
    assert "<h6>C</h6>" in html


def test_only_a_section_with_everything_deeper_is_rendered_where_one_is_asked_for() -> None:
    html = render_text("# A\n\n## B [x]\n\n### C\n\n## D\n\n[x]: https://e.org\n", only="0001").html
    assert Elements(html).ids() == ["b-x", "c"]
    assert 'href="https://e.org"' in html


@pytest.mark.parametrize(
    "text, expected",
    [
        ("[a](other.md#Part)", '<a href="/p/notes/other#Part"'),
        ("[[other|a]]", '<a href="/p/other"'),
        ("![[other]]", '<a class="embed" href="/p/other"'),
        ('<a href="other.md">a</a>', '<a href="/p/notes/other"'),
        ("[a](https://e.org/ä)", '<a class="external" href="https://e.org/%C3%A4"'),
        ("<https://e.org>", '<a class="external" href="https://e.org"'),
        ("[a](mailto:a@e.org)", '<a class="external" href="mailto:a@e.org"'),
        ("[a](#part)", '<a href="#part"'),
        ("[[#Part]]", '<a href="#part"'),
        ("[[#^block]]", '<a href="#part"'),
        ("[a](#there)", '<a href="#part"'),
    ],
)
def test_a_link_leads_where_the_index_says(text: str, expected: str) -> None:
    page = f'{text}\n\n## Part\n\nA line ^block\n\n<b id="there"></b>\n'
    assert expected in html_of(page, pages=["notes/other", "other"])


@pytest.mark.parametrize("text", ["[a](gone.md)", "[[gone]]", '<a href="gone.md">a</a>'])
def test_a_broken_link_looks_broken_and_says_what_is_missing(text: str) -> None:
    links = [attributes for tag, attributes in Elements(html_of(text)).found if tag == "a"]
    assert [link["class"] for link in links] == ["broken"]
    assert "href" not in links[0]
    assert "There is no page gone" in links[0]["title"]


def test_every_link_out_of_the_wiki_tells_nothing_of_where_it_was_followed() -> None:
    html = html_of('[a](https://e.org) <https://e.org> <a href="https://e.org">b</a>')
    assert html.count('rel="noopener noreferrer"') == 3


def test_what_looks_like_a_wikilink_and_names_nothing_is_text() -> None:
    assert "[[1, 2]]" in html_of("[[1, 2]]")


def test_a_picture_of_the_wiki_is_shown_with_its_file_name_where_it_has_no_text() -> None:
    html = html_of("![A *cat*](cat.png) ![](cat.png)", files=["notes/cat.png"])
    assert 'src="/files/notes/cat.png" alt="A cat"' in html
    assert 'alt=""' in html
    assert '<span class="image-name">cat.png</span>' in html


def test_an_embedded_picture_takes_its_size_from_its_label() -> None:
    html = html_of("![[cat.png|300x200]] ![[cat.png]]", files=["cat.png"])
    assert 'width="300" height="200"' in html
    assert html.count('alt=""') == 2


def test_a_remote_picture_is_a_link_with_its_address() -> None:
    html = html_of('![A cat](https://e.org/cat.png) <img src="//e.org/dog.png">')
    assert "<img" not in html
    assert 'class="remote-image" href="https://e.org/cat.png"' in html
    assert 'class="remote-image" href="//e.org/dog.png"' in html


def test_a_checkbox_is_named_by_its_text() -> None:
    boxes = [
        attributes
        for tag, attributes in Elements(html_of("- [ ] buy *milk*\n- [x] done\n")).found
        if tag == "input"
    ]
    assert [box["aria-label"] for box in boxes] == ["buy milk", "done"]
    assert ["checked" in box for box in boxes] == [False, True]
    assert all(box["type"] == "checkbox" and "disabled" in box for box in boxes)


def test_a_callout_has_its_title_and_its_kind() -> None:
    html = html_of("> [!WARNING] Be *careful*\n> Hot.\n\n> [!note]\n> Text.\n\n> [!tip]- Folded\n> Text.\n")
    assert '<div class="callout callout-warning" role="note">' in html
    assert '<p class="callout-title">Be <em>careful</em></p>\n<p>Hot.</p>' in html
    assert '<p class="callout-title">Note</p>' in html
    assert '<details class="callout callout-tip">\n<summary class="callout-title">Folded</summary>' in html


def test_a_footnote_stands_in_its_section_and_its_number_leads_there() -> None:
    html = html_of("# A\n\nText.[^n]\n\n# B\n\n[^n]: See [[other]].\n", pages=["other"])
    assert '<a class="footnote-ref" href="#b" title="See [[other]]."' in html
    assert '<li value="1"><p>See <a href="/p/other"' in html
    assert html.index("footnotes") > html.index('id="b"')


def test_a_list_of_definitions_and_a_table_that_scrolls_by_itself() -> None:
    html = html_of("Term\n: What it is\n\n| a | b |\n|--:|:-:|\n| 1 | 2 |\n")
    assert "<dt>Term</dt>\n<dd>What it is</dd>" in html
    assert '<div class="table" role="group" aria-label="Table" tabindex="0"><table>' in html
    assert '<td class="right">1</td><td class="center">2</td>' in html


def test_code_has_classes_and_mermaid_stays_code() -> None:
    html = html_of("```python\ndef f(): pass\n```\n\n```mermaid\ngraph TD\n```\n\n    <b>\n")
    assert '<span class="k">def</span>' in html
    assert '<pre tabindex="0" data-language="mermaid"><code>graph TD\n</code></pre>' in html
    assert "<code>&lt;b&gt;\n</code>" in html


def test_math_is_mathml_and_what_cannot_be_converted_stays_as_written() -> None:
    html = html_of("So $x^2$ and\n\n$$\na\n=\nb\n$$\n\nbut $\\frac{$.\n")
    assert '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>' in html
    assert '<math display="block">' in html
    assert '<code class="math">$\\frac{$</code>' in html


def test_comments_are_hidden_and_what_a_template_would_fill_in_is_shown_as_code() -> None:
    html = html_of("# T\n\nA %%one%% b <!-- two --> c\n\n%%\n# three\n%%\n\n{{< four >}}\n\n## B {#id}\n")
    text = Elements(html).text
    assert all(word not in text for word in ("one", "two", "three", "#id"))
    assert '<code class="template">{{&lt; four &gt;}}</code>' in html


def test_html_of_the_page_loses_ids_classes_and_handlers() -> None:
    html = html_of('<div id="a" class="wq-bar" onclick="x()" style="top:0" align=left><kbd>K</kbd></div>')
    assert "<div><kbd>K</kbd></div>" in html


def test_an_unclosed_tag_ends_with_its_section() -> None:
    html = html_of("# A\n\n<div><details><b>open\n\n# B\n\nText.\n")
    assert Elements(html).unbalanced == []
    assert html.index("</details>") < html.index('id="b"')


def test_a_repeated_anchor_stands_once() -> None:
    assert Elements(html_of("# A {#x}\n\n# B {#x}\n")).ids() == ["x"]


def test_a_page_at_the_limit_is_rendered_and_one_past_it_is_its_source() -> None:
    head = "# A\n\n<b>\n\n"
    text = head + "```\n" + "x" * (MAX_RENDERED - len(head) - 9) + "\n```\n"
    assert render_text(text).failed is None
    failed = render_text(text + "\n\n")
    assert failed.failed is not None
    assert "2,000,000 bytes" in failed.failed
    assert '<section id="a"' in failed.html
    assert "&lt;b&gt;" in failed.html


def test_markup_nested_beyond_measure_is_shown_and_not_raised() -> None:
    rendered = render_text("# A\n\n" + "> " * 5000 + "deep\n\n" + "[" * 3000 + "x" + "](y)" * 3000)
    assert 'id="a"' in rendered.html
