"""Front matter that cannot be read as a whole: a bad line costs that line and nothing else."""

from __future__ import annotations

import json

import pytest

from indexerd.core.model import Page, ProjectionOptions
from indexerd.core.page.front_matter import MAX_BYTES, parse_front_matter
from indexerd.core.page.salvage import MAX_ENTRIES
from indexerd.core.project import project_page


def project(text: str) -> Page:
    return project_page(text.encode(), "p.md", ProjectionOptions())


@pytest.mark.parametrize(
    "block, values, line",
    [
        (
            "title: Git: the basics\ntags: [git, howto]\naliases:\n  - Basics\nupdated: 2024-01-01",
            {
                "title": "Git: the basics",
                "tags": ["git", "howto"],
                "aliases": ["Basics"],
                "updated": "2024-01-01",
            },
            2,
        ),
        ("aliases:\n- @ann\ntags: [person]", {"aliases": ["@ann"], "tags": ["person"]}, 3),
        ("tags:\n\t- tabbed\ntitle: D", {"tags": ["tabbed"], "title": "D"}, 3),
        ("title: 100% done\nsummary: `code` first", {"title": "100% done", "summary": "`code` first"}, 3),
        ("title: @scope/pkg guide", {"title": "@scope/pkg guide"}, 2),
        ("tags: [a, @b, 'c']\nx: 1", {"tags": ["a", "@b", "c"], "x": 1}, 2),
        ("tags: [[one]], [[two words]]", {"tags": "[[one]], [[two words]]"}, 2),
        ("a: 1\nb: 2\n\tgarbage: here\nc: [3]", {"a": 1, "b": 2, "c": [3]}, 4),
        ("a: *no\nb: 2", {"b": 2}, 2),
    ],
)
def test_each_key_but_the_bad_line_is_read(block: str, values: object, line: int) -> None:
    found = parse_front_matter(f"---\n{block}\n---\n# A\n")
    assert json.loads(found.as_json()) == values
    assert found.raw == f"{block}\n"
    assert [(each.kind, each.line) for each in found.diagnostics] == [("front_matter_invalid", line)]


def test_what_is_salvaged_makes_topics_aliases_and_the_date() -> None:
    page = project("---\ntitle: A: b\ntags: [x, y]\naliases:\n- Basics\nupdated: 2024-01-01\n---\n# H\n")
    assert page.title == "A: b"
    assert [use.topic for use in page.topics] == ["x", "y"]
    assert page.aliases == ("Basics",)
    assert page.updated == "2024-01-01T00:00:00.000Z"


def test_broken_toml_costs_its_line() -> None:
    found = parse_front_matter('+++\ntitle = "T"\nx = = 1\ntags = [\n  "a",\n]\n+++\n')
    assert json.loads(found.as_json()) == {"title": "T", "x": "= 1", "tags": ["a"]}


@pytest.mark.parametrize(
    "block",
    [
        "title: {{title}}\ndate: <% tp.date.now() %>",
        "created: {{date}}\ntags:\n  - daily",
        "a: {% raw %}\nb: 1",
    ],
)
def test_a_template_is_no_fault(block: str) -> None:
    assert project(f"---\n{block}\n---\n# B\n").diagnostics == ()


def test_the_value_of_a_template_is_its_text() -> None:
    page = project("---\ntitle: {{title}}\ntags:\n  - daily\n---\n# B\n")
    assert (page.title, [use.topic for use in page.topics]) == ("{{title}}", ["daily"])


def test_many_bad_entries_cost_what_their_size_costs() -> None:
    block = "a: [\n" + "".join(f"k{number}: 1\n" for number in range(MAX_ENTRIES + 10))
    found = parse_front_matter(f"---\n{block}---\n")
    assert len(found.values) == MAX_ENTRIES - 1
    assert len(block) < MAX_BYTES


@pytest.mark.parametrize(
    "block", ["a" + ".a" * 16_000 + " = 1", "[" + "a." * 16_000 + "a]", "x = {" + "a . " * 16_000 + "a = 1}"]
)
def test_a_dotted_key_of_many_parts_is_not_parsed(block: str) -> None:
    found = parse_front_matter(f'+++\ntitle = "T"\n{block}\n+++\n')
    assert found.values["title"]
    assert "parts" in found.diagnostics[0].message


def test_a_dotted_key_within_the_limit_is_parsed() -> None:
    text = "+++\n" + ".".join("a" * 31) + " = 1\n+++\n"
    assert parse_front_matter(text).diagnostics == ()
