"""Opaque regions: nothing in them is a heading, a link, a tag or a mention; their text stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings

from indexerd.core.markdown.opaque import MAX_TAG, hide_regions, show
from indexerd.core.markdown.parser import code_lines, unify_line_ends
from indexerd.core.model import Page, ProjectionOptions
from indexerd.core.project import project_page
from tests.core.markdown_texts import markdown_texts


def project(text: str) -> Page:
    return project_page(text.encode(), "p.md", ProjectionOptions())


def headings(text: str) -> list[str]:
    return [section.heading for section in project(text).sections if section.level]


def targets(text: str) -> list[str]:
    return [link.target for section in project(text).sections for link in section.links]


@pytest.mark.parametrize(
    "region",
    [
        "$$\n# no\n[no](x)\n\n=\n$$",
        "$$\na\n=\nb\n$$",
        "text $$\na\n=\nb\n$$ more",
        "%%\n# no\n\n[[no]] #no\n%%",
        "%% [[no]] ![[no]] #no `no/no.py` %%",
        "text %% [[no]]\n\n# no\n%% text",
        "- item\n  $$\n  a\n  =\n  $$",
        "> $$\n> # no\n> $$",
        "> - %%\n>   # no\n>\n>   %%",
        "{% comment %}\n# no\n{% endcomment %}",
        "{%- raw -%}\n# no [[no]]\n{%- endraw -%}",
        "{% highlight ruby %}\n# no\n{% endhighlight %}",
        "{{< highlight go >}}\n# no\n{{< /highlight >}}",
        "{{< code-toggle file=hugo >}}\n# no\n{{< /code-toggle >}}",
        "{{% comment %}}\n# no\n{{% /comment %}}",
        "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> branch",
        '{{< figure src="x" title="#no [[no]]" >}}\n---',
        "{% include [no](x) %}",
        "$x = [[no]]$ and $[no](x)$",
        "[a]: no\n\n{: .note #no }",
        "text { #no .no }",
        "(no)=",
    ],
)
def test_nothing_is_found_in_a_region(region: str) -> None:
    text = f"# A\n\n{region}\n\n## B\n"
    page = project(text)
    assert headings(text) == ["A", "B"]
    assert targets(text) == []
    assert (page.topics, page.mentions) == ((), ())
    assert page.lead + "".join(each.heading_source + each.body for each in page.sections) == text
    assert region in page.sections[0].body


@pytest.mark.parametrize(
    "text",
    [
        "$$\n\n# Yes\n\n[yes](x)\n",
        "%%\n# Yes\n[yes](x)\n",
        "{% raw %}\n# Yes\n[yes](x)\n",
        "<<<<<<< HEAD\n# Yes\n[yes](x)\n",
        "{% note %}\n# Yes\n[yes](x)\n{% endnote %}\n",
        "{{% note %}}\n# Yes\n[yes](x)\n{{% /note %}}\n",
        "costs $5 and\n# Yes\n[yes](x) $6\n",
        "a $5[yes](x) $\n# Yes\n",
        "`$$`\n# Yes\n[yes](x)\n`$$`\n",
        "<!-- $$ -->\n# Yes\n[yes](x)\n\n<!-- $$ -->\n",
        "```\n%%\n```\n# Yes\n[yes](x)\n```\n%%\n```\n",
        "- a\n  ```\n  %%\n  ```\n\n# Yes\n[yes](x)\n\n- ```\n  %%\n",
        "    $$\n\n# Yes\n[yes](x)\n\n    $$\n",
        "<pre>\n$$\n</pre>\n# Yes\n[yes](x)\n\n<pre>\n$$\n</pre>\n",
        "\\$$\n# Yes\n[yes](x)\n\\$$\n",
        "{{\n# Yes\n[yes](x)\n}}\n",
        "$$$\n# Yes\n[yes](x)\n\n$$$\n",
    ],
)
def test_what_is_no_region_is_read(text: str) -> None:
    assert headings(text) == ["Yes"]
    assert targets(text) == ["x"]


def test_code_with_a_sign_of_a_region_makes_a_heading() -> None:
    assert headings("### `$$`\n\n## B\n\n$$\n") == ["$$", "B"]


def test_the_text_of_a_region_is_kept_in_headings_and_labels() -> None:
    links = '[see $x$ {#y}](b.md) [ref]({{< ref "b c.md" >}}) [t](<%= x %>)'
    page = project(f"# Energy $E = mc^2$ {{{{< new >}}}}\n\n{links}\n")
    assert page.title == "Energy $E = mc^2$ {{< new >}}"
    assert [(link.target, link.label) for link in page.sections[0].links] == [
        ("b.md", "see $x$ {#y}"),
        ('{{< ref "b c.md" >}}', "ref"),
        ("<%= x %>", "t"),
    ]


def test_a_conflict_hides_its_marker_lines_alone() -> None:
    text = "<<<<<<< HEAD\n# Mine\n[a](x)\n=======\n# Theirs\n>>>>>>> branch\n"
    assert headings(text) == ["Mine", "Theirs"]
    assert targets(text) == ["x"]


def test_a_bar_in_math_still_parts_cells() -> None:
    assert targets("| a | b |\n|---|---|\n| $x|y$ | [no](z) |\n") == []


def test_a_footnote_is_no_link_definition() -> None:
    text = "see [^1] and [^2]\n\n[^1]: word\n[^2]: [yes](x)\n"
    assert targets(text) == ["x"]


@pytest.mark.parametrize("length, is_hidden", [(MAX_TAG - 2, True), (MAX_TAG, False)])
def test_a_tag_is_hidden_up_to_its_longest(length: int, *, is_hidden: bool) -> None:
    tag = "{%" + "x" * (length - 2) + "%}"
    assert (hide_regions(tag, code_lines) != tag) is is_hidden


@given(markdown_texts())
@settings(max_examples=300)
@example("- a\n\n  %%\n\n  %%\n")
@example("> %%\na %%\n")
def test_lines_and_code_are_left_as_they_are(text: str) -> None:
    text = unify_line_ends(text)
    hidden = hide_regions(text, code_lines)
    lines, hidden_lines = text.split("\n"), hidden.split("\n")
    assert len(lines) == len(hidden_lines)
    for shown, line in zip(lines, hidden_lines, strict=True):
        assert line == shown or "<!--" in line or "-" in line or show(line) == shown
    if hidden != text:
        for start, end in code_lines(text):
            assert hidden_lines[start:end] == lines[start:end] or _is_inside(hidden_lines, start)


def _is_inside(hidden: list[str], line: int) -> bool:
    """Whether a region that began before spans the line."""
    return hidden[line].strip(" >") in ("-", "-->") or not hidden[line].isascii()


@given(markdown_texts())
@settings(max_examples=200)
def test_sections_put_any_page_together_again(text: str) -> None:
    page = project(text)
    decoded = text.encode().decode()
    assert page.lead + "".join(each.heading_source + each.body for each in page.sections) == decoded


def cost_of_hiding(text: str) -> float:
    """CPU seconds; the least of several is the least disturbed by others."""
    began = time.process_time()
    hide_regions(text, code_lines)
    return time.process_time() - began


@pytest.mark.slow
def test_a_text_of_nothing_but_signs_costs_what_its_size_costs() -> None:
    signs = ["$$", "%% ", "$a", "{%", "{{<", "{{", "<%", "{a='", "{: ", "{#a ", "<<<<<<< a\n", "=======\n"]
    signs += ["(a)=\n", "- {.a}\n", "    $a$\n", "{{< a >}}", "`{.a} ", "$$ `a` "]
    signs += ["a <!--", "<pre\n", "a <pre ", "{% raw %}", "` $a$ ", "- $a$ ", "$a$", "{.a}"]
    for sign in signs:
        costs = []
        for size in (16_000, 64_000):
            text = (sign * size)[:size]
            costs.append(min(cost_of_hiding(text) for _ in range(3)))
        assert costs[1] <= max(10 * costs[0], 0.05), sign
