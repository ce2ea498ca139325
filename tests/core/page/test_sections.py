"""Sections: exact slices of a text, the outline, anchors, against the shared cases and own ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from indexerd.core.markdown.parser import parse_document
from indexerd.core.model import Page, ProjectionOptions, Section
from indexerd.core.page.contents import Contents
from indexerd.core.page.decode import count_lines
from indexerd.core.page.front_matter import parse_front_matter
from indexerd.core.page.sections import Identity, cut_sections
from indexerd.core.project import _sections, project_page
from tests.shared_data import shared_folder


def cut(text: str, title: str) -> tuple[str, list[Section]]:
    """Lead and sections of a text whose title is given, whatever its front matter or headings say."""
    end = parse_front_matter(text).end
    document = parse_document(text[end:])
    slices = cut_sections(text, end, count_lines(text[:end]), document.headings)
    nothing = Contents([() for _ in slices], [() for _ in slices], ())
    sections = _sections(text, title, slices, Identity(title, (), ()), nothing)
    return text[: slices[0].start], list(sections)


def page(text: str, path: str = "page.md", **options: Any) -> Page:
    return project_page(text.encode(), path, ProjectionOptions(**options))


def paths(text: str) -> list[tuple[str, ...]]:
    return [section.heading_path for section in page(text).sections]


def test_every_shared_case_of_sections_holds() -> None:
    cases = json.loads((shared_folder("conformance") / "sections.json").read_text(encoding="utf-8"))
    assert len(cases) >= 56
    for case in cases:
        lead, sections = cut(case["text"], case["title"])
        assert lead == case["lead"], case["name"]
        fields = [
            {
                "level": section.level,
                "heading": section.heading,
                "heading_path": list(section.heading_path),
                "anchor": section.anchor,
                "start_line": section.start_line,
                "end_line": section.end_line,
                "heading_source": section.heading_source,
                "body": section.body,
                "ordinal": ordinal,
                "section_id": f"{ordinal:04d}",
            }
            for ordinal, section in enumerate(sections)
        ]
        assert fields == case["sections"], case["name"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_slices_and_lines_are_exact_whatever_ends_a_line(line_end: str) -> None:
    text = line_end.join(["intro", "", "# A", "", "one", "", "Two", "---", "end"])
    lead, sections = cut(text, "T")
    assert lead == ""
    assert [(each.start_line, each.end_line) for each in sections] == [(1, 2), (3, 6), (7, 9)]
    assert sections[2].heading_source == f"Two{line_end}---{line_end}"
    assert "".join(each.heading_source + each.body for each in sections) == text


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_what_only_python_takes_for_a_line_end_shifts_no_line(separator: str) -> None:
    _, sections = cut(f"a{separator}b\n\n# Next\n", "T")
    assert [(each.heading, each.start_line) for each in sections] == [("T", 1), ("Next", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n```\n# no\n```\n",
        "# A\n\n    # no\n",
        "# A\n\n<!--\n# no\n-->\n",
        "# A\n\n<pre>\n# no\n\n# no\n</pre>\n",
        "# A\n\n> # no\n",
        "# A\n\n- # no\n\n  # no\n",
        "# A\n\n1. x\n\n   ## no\n",
        "# A\n\ntext\n    # no\n",
        "# A\n\n\\# no\n",
        "# A\n\n#no\n",
        "# A\n\n####### no\n",
        "# A\n\n~~~\n# no\n```\n# no\n",
        "# A\n\n<div>\n# no\n</div>\n",
        "# A\n\n[x]: /y\n===\n",
        "# A\n\n- x\n---\n",
        "# A\n\n| a |\n|---|\n",
    ],
)
def test_only_top_level_headings_open_sections(text: str) -> None:
    assert paths(text) == [("A",)]


def test_an_outline_is_dense_and_a_level_closes_all_at_it_and_below() -> None:
    assert paths("#### D\n## B\n### C\n## E\n# A\n###### F\n### G\n##\n### H\n") == [
        ("D",),
        ("B",),
        ("B", "C"),
        ("E",),
        ("A",),
        ("A", "F"),
        ("A", "G"),
        ("A",),
        ("A", "H"),
    ]


@pytest.mark.parametrize(
    "heading, text",
    [
        ("a *b* __c__ `d` ![e *f*](g) [h](i)", "a b c d e f h"),
        ("&lt;x&gt; &amp; &#65;", "<x> & A"),
        ("<b>bold</b> <!-- gone -->end", "bold end"),
        ("  much    space\t here ", "much space here"),
        ("see [[Other page|that one]]", "see that one"),
        ("see [[Other page]]", "see Other page"),
        ("`  code  `", "code"),
        ("\\*not em\\*", "*not em*"),
        ("<https://e.example/>", "https://e.example/"),
        ("a\\", "a\\"),
    ],
)
def test_a_heading_is_plain_text(heading: str, text: str) -> None:
    assert page(f"# {heading}\n").sections[0].heading == text


@pytest.mark.parametrize(
    "source, heading, anchor",
    [
        ("Install {#setup}", "Install", "setup"),
        ("Install {#setup .wide}", "Install", "setup"),
        ("Install {#setup key=v}   ##", "Install", "setup"),
        ("{#only}", "", "only"),
        ("Install \\{#setup}", "Install {#setup}", "install-setup"),
        ("Install `{#setup}`", "Install {#setup}", "install-setup"),
        ("Install {.wide}", "Install", "install"),
        ("Set {a} {#b}", "Set {a}", "b"),
    ],
)
def test_a_trailing_id_is_the_anchor(source: str, heading: str, anchor: str) -> None:
    section = page(f"# {source}\n").sections[0]
    assert (section.heading, section.anchor) == (heading, anchor)


def test_a_reference_in_a_heading_needs_its_definition_wherever_it_stands() -> None:
    text = "# See [docs] and [none]\n\n> [docs]: /a\n"
    assert page(text).sections[0].heading == "See docs and [none]"


def test_the_ancestors_leave_off_a_first_heading_equal_to_the_title() -> None:
    sections = page("---\ntitle: THE  Title\n---\n# The title\n## A\n### B\n# Other\n## C\n").sections
    assert [each.ancestors for each in sections] == ["", "", "A", "", "Other"]
    assert [each.guarded for each in sections] == [True, True, True, False, False]


def test_a_listed_name_at_depth_one_is_no_structure_unless_the_page_is_called_so() -> None:
    text = "---\naliases: [bolt]\n---\n# Terms\n# Acme  corp\n## X\n# Bolt\n## Y\n"
    found = page(text, identity_names=("ACME Corp", "Bolt"))
    assert found.title == "Terms"
    assert [each.guarded for each in found.sections] == [True, True, True, False, False]
    assert [(each.kind, each.line) for each in found.diagnostics] == [("suspicious_heading", 5)]
    assert [each.cover_key for each in found.sections] == [None, "acme corp", None, None, None]


def test_a_listed_name_below_depth_one_stays() -> None:
    found = page("## Acme\n### X\n", identity_names=("Acme",))
    assert [each.guarded for each in found.sections] == [False, False]
    assert [each.kind for each in found.diagnostics] == []


def test_an_introduction_is_guarded_since_its_path_is_the_title() -> None:
    assert [each.guarded for each in page("hello\n\n# A\n").sections] == [True, True]
    assert page("hello\n\n# A\n").sections[0].heading_path == ("A",)


def test_a_heading_is_found_after_nesting_that_the_preset_would_give_up_on() -> None:
    deep = "\n".join("  " * depth + "- x" for depth in range(90)) + "\n\n# After\n"
    found = page(deep)
    assert found.sections[-1].heading == "After"
    assert found.diagnostics == ()


def test_nesting_past_the_limit_is_said_and_the_headings_after_it_are_found() -> None:
    found = page("> " * 201 + "x\n\n# After\n")
    assert [(each.kind, each.line) for each in found.diagnostics] == [("too_deep", 1)]
    assert found.sections[-1].heading == "After"
    assert page("> " * 199 + "x\n\n# After\n").diagnostics == ()
