"""Whatever a page holds, what is shown of it runs nothing, fetches nothing and looks like no frame.

The vectors stand in every place where a page can put text of its own. The HTML is read by Python's
parser here; tests/web/browser reads it with a browser.
"""

from __future__ import annotations

import re
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.rules_inline import StateInline

from indexerd.core.model import ProjectionOptions
from indexerd.core.project import ProjectionError, project_page
from tests.web.rendered import Elements, outline_of, render_text
from tests.web.xss_vectors import PLACES, VECTORS
from wikiq.web.rendering.reading import inline_parser

FORBIDDEN = frozenset(
    {
        "script",
        "style",
        "iframe",
        "frame",
        "object",
        "embed",
        "applet",
        "form",
        "button",
        "select",
        "textarea",
    }
    | {"link", "meta", "base", "svg", "video", "audio", "source", "track", "template", "portal", "marquee"}
    | {"animate", "set", "annotation-xml", "maction", "mglyph", "noscript", "title", "html", "body", "head"}
)
ADDRESSES = re.compile(r"/p/|/files/|#|https?://|//|mailto:", re.IGNORECASE)
OWN_PICTURE = re.compile(r"/files/(?!.*\.\./)|data:image/(png|jpeg|jpg|gif|webp);base64,")
FRAME = re.compile(r"(^|\s)wq-")


def dangers(html: str) -> list[str]:
    """What in some HTML could run, fetch, submit, or pass for the frame."""
    elements = Elements(html)
    found = [f"left open: {tag}" for tag in chain(elements.open, elements.unbalanced)]
    for tag, attributes in elements.found:
        if tag in FORBIDDEN:
            found.append(tag)
        for name, value in attributes.items():
            is_bad = (
                name.startswith("on")
                or name in {"style", "srcset", "name", "formaction", "action", "xlink:href", "ping", "srcdoc"}
                or (name == "href" and not ADDRESSES.match(value))
                or (name == "src" and (tag != "img" or not OWN_PICTURE.match(value)))
                or (name == "class" and FRAME.search(value))
                or (name == "id" and tag != "section")
                or (tag == "input" and name == "type" and value != "checkbox")
            )
            if is_bad:
                found.append(f"{tag} {name}={value}")
    return found


def test_there_are_as_many_vectors_as_were_asked_for() -> None:
    assert len(set(VECTORS)) >= 60


@pytest.mark.parametrize("vector", VECTORS)
def test_a_vector_does_nothing_wherever_it_stands(vector: str) -> None:
    for place in PLACES:
        rendered = render_text(
            place.replace("{}", vector), pages=["other"], files=["pic.png"], marks=["alert", "script", "x"]
        )
        assert rendered.failed is None
        assert dangers(rendered.html) == [], place


@pytest.mark.parametrize("planted", [
    "<script>x</script>", '<p onclick="x">', '<a href="javascript:x">y</a>', '<img src="//e.org/x">',
    "<p id=x>",
    '<div class="a wq-main">', "<input type=text>", "<b>", '<a href="data:text/html,x">y</a>',
])  # fmt: skip
def test_a_danger_that_came_through_would_be_seen(planted: str) -> None:
    assert dangers(planted)


PIECES = st.sampled_from(
    [
        "# ", "## ", "> ", "- ", "- [ ] ", "1. ", "    ", "```", "~~~py\n", "`", "*", "**", "_", "~~",
        "[", "](", ")", "[[", "]]", "![[", "![", "<", ">", "<b>", "</b>", "<div>", "</div>", "<!--",
        "-->", "<a href=", "$", "$$", "%%", "{", "}", "{{<", ">}}", "{#id}", "[^1]", "[^1]: ", "^[",
        "[!note]", "[!tip]-", ": ", "word", "日本語", "שלום", "é", "&amp;", "&", '"', "'", "---\n",
        "https://e.org", "x.md", "<script>", "<table>", "<input>", "^a", "|", "\n", "\n\n",
        "\n|a|b|\n|-|-|\n", "\U0001f469\u200d\U0001f4bb", "\\", "\t", "\r\n", "\r", "\0", "\x0b",
        "\u2028", "\ufeff", "\U0010ff24",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_any_text_is_shown_with_the_anchors_of_the_index_and_nothing_harmful(text: str) -> None:
    try:
        page = project_page(text.encode("utf-8", "replace"), "notes/page.md", ProjectionOptions())
    except ProjectionError:
        return
    rendered = render_text(
        text.encode("utf-8", "replace").decode(), marks=["word", "語", "\U0001f469\u200d\U0001f4bb"]
    )
    assert rendered.failed is None
    assert dangers(rendered.html) == []
    anchors = dict.fromkeys(row.anchor for row in outline_of(page) if row.anchor)
    assert Elements(rendered.html).ids() == list(anchors)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_marks_change_nothing_but_what_is_marked(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    try:
        marked = render_text(text, marks=["word", "o", "*", "[", "日本", "ש", "👩", "<", "$", "&", "b>"])
    except ProjectionError:
        return
    assert unmarked(marked.html) == unmarked(render_text(text).html)


def unmarked(html: str) -> str:
    """HTML without marks and blanks: those in a table but in no cell, HTML itself moves about."""
    return "".join(re.sub("</?mark>", "", html).split())


@pytest.mark.parametrize("opening", ["<div>", "<b>", "<blockquote>", "<ol><li>", "<table><tr><td>", "<b><p>"])
def test_html_nested_beyond_reason_is_shown_as_its_source(opening: str) -> None:
    page = render_text(opening * 2_000)
    assert page.failed == "its markup is nested too deeply"
    assert "&lt;" in page.html


@pytest.mark.parametrize("opening", ["<p>", "<li>", "<br>", "<b>a</b>", "<div></div>"])
def test_html_in_a_row_is_not_deep(opening: str) -> None:
    assert render_text(f"<div>\n{opening * 2_000}\n</div>").failed is None


@pytest.mark.parametrize("piece", ["<a ", "<!--", "</", "<?", "<![CDATA[", "< "])
def test_html_that_ends_nowhere_is_text(piece: str) -> None:
    page = render_text("<div>\n" + piece * 2_000)
    assert page.failed is None
    assert page.html.count("&lt;") >= 2_000


@pytest.mark.parametrize("piece", ["^[", "[^", "[^a", "^[a "])
def test_notes_that_end_nowhere_are_text(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be followed to the end of the page: 60 KB of them took ten seconds and more."""
    inline = inline_parser().inline
    own, steps = inline.skipToken, 0

    def counted(state: StateInline) -> None:
        nonlocal steps
        steps += 1
        own(state)

    monkeypatch.setattr(inline, "skipToken", counted)
    text = piece * 1_000
    page = render_text("[^a]: note\n\n" + text)
    assert page.failed is None
    assert page.html.count("[") == 1_000
    assert steps < 5 * len(text)


def test_a_page_of_brackets_is_shown_as_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikiq.web.rendering.page.MOST_BRACKETS", 5)
    assert render_text("[" * 5).failed is None
    assert render_text("[" * 6).failed == "the page has more than 5 brackets"
