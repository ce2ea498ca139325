"""Which fields of front matter name a page, in which dialects and shapes."""

from __future__ import annotations

import pytest

from indexerd.core.model import Page, ProjectionOptions
from indexerd.core.project import project_page


def project(text: str, path: str = "p.md") -> Page:
    return project_page(text.encode(), path, ProjectionOptions())


def of_block(block: str, path: str = "p.md") -> Page:
    return project(f"---\n{block}\n---\n# H\n", path)


@pytest.mark.parametrize(
    "block, topics",
    [
        ("tags: a, b c", "a b c"),
        ("tag: single", "single"),
        ("Tags: Upper", "upper"),
        ("keywords: [k]\ncategories: [c]", "c k"),
        ('tags: "quoted, list"', "quoted list"),
        (
            'tags:\n- one\n- two/three\n- "#hash"\n- with space\n- 2024\n- [x, y]',
            "one two/three hash with-space",
        ),
        ('tags:\n  - "[[Linked Tag]]"\n  - [[Bare]]\n  - "[[a|label]]"', "linked-tag bare a"),
        ("tags: [[Alone]]", "alone"),
        ("tags:\n  Topic: x", ""),
    ],
)
def test_topics_of_every_dialect(block: str, topics: str) -> None:
    assert [use.topic for use in of_block(block).topics] == topics.split()


def test_a_folded_key_is_overruled_by_its_own_spelling() -> None:
    assert of_block("Title: Caps\nAliases: [Al]").title == "Caps"
    assert of_block("Title: Caps\ntitle: small").title == "small"
    assert of_block("Aliases: [Al]").aliases == ("Al",)


def test_lines_of_logseq_at_the_head_count_like_front_matter() -> None:
    page = project(
        "title:: Logseq page\ntags:: one, [[two words]]\nalias:: Lp, Second\n\n- block\n  id:: 123\n"
    )
    assert (page.title, page.aliases) == ("Logseq page", ("Lp", "Second"))
    assert [use.topic for use in page.topics] == ["one", "two-words"]
    assert page.sections[0].body.startswith("title:: Logseq page\n")
    assert project("text\ntitle:: no\n").title == "p"


def test_lines_are_counted_past_a_fence_without_a_line_end() -> None:
    (section,) = project("---\ntitle: Only\n---").sections
    assert (section.start_line, section.end_line) == (3, 3)
