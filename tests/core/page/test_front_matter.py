"""Front matter: where it ends, what it says, what becomes of one that cannot be read."""

from __future__ import annotations

import json

import pytest

from indexerd.core.model import ProjectionOptions, TitleOrigin
from indexerd.core.page.fields import first_text
from indexerd.core.page.front_matter import MAX_BYTES, FrontMatter, parse_front_matter
from indexerd.core.project import project_page


def read(text: str) -> tuple[str, object]:
    """The text that is front matter, and its values."""
    found = parse_front_matter(text)
    return text[: found.end], json.loads(found.as_json())


def title_of(found: FrontMatter) -> str | None:
    return first_text(found.fields(), "title")


@pytest.mark.parametrize(
    "text, values",
    [
        ("---\ntitle: T\n---\n", {"title": "T"}),
        ("---  \ntitle: T\n---\t\n", {"title": "T"}),
        ("---\ntitle: T\n...\n", {"title": "T"}),
        ("---\r\ntitle: T\r\n---\r\n", {"title": "T"}),
        ("---\rtitle: T\r---\r", {"title": "T"}),
        ("---\ntitle: T\n---", {"title": "T"}),
        ("---\n{}\n---\n", {}),
        ("---\n# note\n\ntitle: T\n---\n", {"title": "T"}),
        ('+++\ntitle = "T"\n[x]\ny = [1, true, 1.5]\n+++\n', {"title": "T", "x": {"y": [1, True, 1.5]}}),
        (
            "+++\na = 2024-01-02\nb = 10:00:00\nc = inf\n+++\n",
            {"a": "2024-01-02", "b": "10:00:00", "c": "inf"},
        ),
        ("+++\n+++\n", {}),
    ],
)
def test_a_block_between_fences_is_front_matter(text: str, values: object) -> None:
    assert read(text + "# Body\n" if text[-1] in "\r\n" else text) == (text, values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A\n",
        "---\ntitle: T\n",
        "\n---\ntitle: T\n---\n",
        " ---\ntitle: T\n---\n",
        "----\ntitle: T\n----\n",
        "---\n\nJust prose.\n\n---\n",
        "---\n- a\n- b\n---\n",
        "---\n---\n",
        "---\nSome: prose: here\n --- \n",
        "--- # x\ntitle: T\n---\n",
        "---\n*emphasis\n---\n",
        "+++\nprose\n+++\n",
    ],
)
def test_what_is_no_mapping_or_has_no_end_stays_in_the_body(text: str) -> None:
    assert read(text) == ("", {})
    page = project_page(text.encode(), "p.md", ProjectionOptions())
    assert page.lead.strip() == ""
    assert page.diagnostics == () or {each.kind for each in page.diagnostics} == {"no_headings"}


@pytest.mark.parametrize(
    "block, line, title",
    [
        ("title: a: b\nlist: [1, 2", 2, "a: b"),
        ('x: [\ntitle: "Quoted"', 3, "Quoted"),
        ("title: T\ny: *nope", 3, "T"),
        ("title: >\n x\n\ty: ]", 4, None),
        ("\"quoted key\": [\ntitle: 'T'", 3, "T"),
    ],
)
def test_broken_yaml_stays_out_of_the_sections(block: str, line: int, title: str | None) -> None:
    text = f"---\n{block}\n---\n# A\n"
    page = project_page(text.encode(), "p.md", ProjectionOptions())
    assert page.lead == f"---\n{block}\n---\n"
    assert page.raw_front_matter == f"{block}\n"
    assert page.title == (title or "A")
    assert page.title_origin == (TitleOrigin.FRONT_MATTER if title else TitleOrigin.HEADING)
    assert [each.heading for each in page.sections] == ["A"]
    (problem,) = page.diagnostics
    assert problem.kind == "front_matter_invalid"
    assert problem.line is not None
    assert abs(problem.line - line) <= 1  # libyaml and PyYAML differ on where an open list ends


def test_broken_toml_stays_out_of_the_sections_and_says_its_line() -> None:
    page = project_page(b'+++\ntitle = "T"\nx = = 1\n+++\n# A\n', "p.md", ProjectionOptions())
    assert [(each.kind, each.line) for each in page.diagnostics] == [("front_matter_invalid", 3)]
    assert (page.title, page.sections[0].heading) == ("T", "A")


def test_an_escaped_nul_is_replaced_in_keys_and_values() -> None:
    block = 'title = "a\\u0000b"\n"k\\u0000" = ["\\u0000"]\n'
    assert read(f"+++\n{block}+++\n")[1] == {"title": "a\ufffdb", "k\ufffd": ["\ufffd"]}


@pytest.mark.parametrize("number", ["1" * 5000, "0x" + "f" * 5000, "1" + ":59" * 3000])
@pytest.mark.parametrize("fence, sign", [("---", ": "), ("+++", " = ")])
def test_a_number_of_thousands_of_digits_does_not_hide_the_page(fence: str, sign: str, number: str) -> None:
    page = project_page(f"{fence}\nx{sign}{number}\n{fence}\n# A\n".encode(), "p.md", ProjectionOptions())
    assert [section.heading for section in page.sections] == ["A"]
    assert {each.kind for each in page.diagnostics} <= {"front_matter_invalid"}
    assert all(len(each.message) < 200 for each in page.diagnostics)


@pytest.mark.parametrize("size, is_read", [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
def test_a_block_is_read_up_to_its_limit(size: int, *, is_read: bool) -> None:
    block = "title: T\nx: é"
    block += "y" * (size - len(block.encode()) - 1) + "\n"
    found = parse_front_matter(f"---\n{block}---\n")
    assert len(block.encode()) == size
    assert found.end == len(block) + 8
    assert (found.raw is None) is is_read
    assert title_of(found) == "T"
    assert [each.kind for each in found.diagnostics] == ([] if is_read else ["front_matter_invalid"])


@pytest.mark.parametrize("fence", ["---", "+++"])
def test_hostile_nesting_costs_a_diagnostic_and_nothing_else(fence: str) -> None:
    separator = ":" if fence == "---" else "="
    text = f"{fence}\na {separator} {'[' * 30_000}{']' * 30_000}\n{fence}\n# A\n"
    page = project_page(text.encode(), "p.md", ProjectionOptions())
    assert [each.kind for each in page.diagnostics] == ["front_matter_invalid"]
    assert [each.heading for each in page.sections] == ["A"]
