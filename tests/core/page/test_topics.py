"""Topics: spelling, what a page carries, and topics.yaml."""

from __future__ import annotations

import time

import pytest

from indexerd.core.model import Diagnostic, ProjectionOptions, TopicDeclaration
from indexerd.core.page.topics import (
    DEEPEST_TOPIC,
    LONGEST_TOPIC,
    MAX_TOPICS_FILE,
    MOST_ABOVE,
    enclosing_topics,
    normalize_topic,
    parse_topics,
)
from indexerd.core.project import project_page


def topics(text: str) -> list[tuple[str, str]]:
    page = project_page(text.encode(), "p.md", ProjectionOptions())
    return [(use.topic, use.origin) for use in page.topics]


@pytest.mark.parametrize(
    "text, slug",
    [
        ("Architecture", "architecture"),
        ("  Two   words ", "two-words"),
        ("#tag", "tag"),
        ("Ünï", "ünï"),
        ("日本語", "日本語"),
        ("ＡＢＣ", "abc"),
        ("Straße", "strasse"),
        ("a/B c/d", "a/b-c/d"),
        ("/a//b/", "a/b"),
        ("ﬁn", "fin"),
        ("", ""),
        ("#", ""),
    ],
)
def test_a_topic_has_one_spelling(text: str, slug: str) -> None:
    assert normalize_topic(text) == slug
    assert normalize_topic(slug) == slug


def test_a_nested_topic_is_under_those_its_name_begins_with() -> None:
    assert enclosing_topics("a/b/c") == ("a/b", "a")
    assert enclosing_topics("a") == ()


@pytest.mark.parametrize(
    "block, found",
    [
        ("topics: [One, two]", ["one", "two"]),
        ("topics: One two,three", ["one", "two", "three"]),
        ("topics:\n- '#one'\n- two words", ["one", "two-words"]),
        ("topics: [2024, 1.10, yes]", ["1.10", "yes"]),
        ("topics: [one, ONE, null, '']", ["one"]),
        ("topics:", []),
    ],
)
def test_front_matter_lists_topics(block: str, found: list[str]) -> None:
    assert topics(f"---\n{block}\n---\n") == [(topic, "topics") for topic in found]


def test_each_topic_is_there_once_an_origin() -> None:
    text = "---\ntopics: [a]\ntags: '#A, b'\n---\n#a and #A and #b/c\n"
    assert topics(text) == [("a", "topics"), ("a", "tags"), ("b", "tags"), ("a", "text"), ("b/c", "text")]


@pytest.mark.parametrize(
    "text, found",
    [
        ("#tag", ["tag"]),
        ("see #tag, #tag2. (#no) x#no", ["tag", "tag2"]),
        ("#a-b_c/d", ["a-b_c/d"]),
        ("#123 #1a #12/34", ["1a"]),
        ("**#bold** *#em*", ["bold", "em"]),
        ("- #item\n- [ ] #task", ["item", "task"]),
        ("> #quoted", ["quoted"]),
        ("# Heading #tag", ["tag"]),
        ("#日本語。#x #Ünï #🚀x", ["日本語", "ünï", "🚀x"]),
        ("| #cell |\n|---|\n", ["cell"]),
        ("line\n#next", ["next"]),
        ("`#code` ```#code```", []),
        ("```\n#code\n```\n\n    #code", []),
        ("\\#escaped &#35;entity", []),
        ("[#label](x.md) [x](y.md#frag)", []),
        ("<b>#html</b>", []),
        ("<!-- #comment -->", []),
        ("https://e.example/#frag", []),
        ("## #", []),
        ("a `x`#no", []),
        ("C# and F#", []),
        ("#", []),
    ],
)
def test_tags_in_text_follow_obsidian(text: str, found: list[str]) -> None:
    assert topics(text) == [(topic, "text") for topic in found]


@pytest.mark.parametrize(
    "text",
    [
        "- slug: B\n  title: Bee\n  description: About bees\n  parents: [a]\n- slug: a\n",
        "topics:\n- {slug: B, title: Bee, description: About bees, parents: a}\n- a\n",
        "B:\n  title: Bee\n  description: About bees\n  parents: ['#A', a, null]\na:\n",
        "topics: {B: {title: Bee, description: About bees, parents: [a]}, a: }\n",
    ],
)
def test_topics_yaml_is_read_in_each_of_its_shapes(text: str) -> None:
    assert parse_topics(text) == (
        TopicDeclaration("b", "Bee", "About bees", ("a",)),
        TopicDeclaration("a", None, None, ()),
    )


@pytest.mark.parametrize("text", ["", "topics:\n", "# nothing\n", "[]"])
def test_an_empty_topics_yaml_declares_nothing(text: str) -> None:
    assert parse_topics(text) == ()


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("a: [\n", None, "expected"),
        ("just words", 1, "neither a list nor a mapping"),
        ("- title: no slug\n", 1, "without a slug"),
        ("- slug: a\n- slug: A\n", None, "'a' is there twice"),
        ("a: {parents: [a]}\n", None, "a > a"),
        ("a: {parents: [b]}\nb: {parents: [c]}\nc: {parents: [a]}\n", None, "above itself"),
        ("a: {parents: [a/b]}\n", None, "above itself"),
        ("a: &x 1\nb: *x\n", 2, "alias"),
        ("/".join("a" * (DEEPEST_TOPIC + 1)) + ":\n", 1, "32 parts"),
        ("a: {parents: [" + "b" * (LONGEST_TOPIC + 1) + "]}\n", 1, "255 characters"),
        ("".join(f"t{nth}: {{parents: [t{nth + 1}]}}\n" for nth in range(65)), None, "more than 64 others"),
    ],
)
def test_a_wrong_topics_yaml_is_ignored_with_one_diagnostic(
    text: str, line: int | None, problem: str
) -> None:
    found = parse_topics(text)
    assert isinstance(found, Diagnostic)
    assert found.kind == "topics_invalid"
    assert problem in found.message
    assert line is None or found.line == line


def test_as_many_topics_as_may_be_stand_above_one() -> None:
    found = parse_topics("".join(f"t{nth}: {{parents: [t{nth + 1}]}}\n" for nth in range(MOST_ABOVE)))
    assert isinstance(found, tuple)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"- {{slug: t{nth}, parents: [t{nth + 1}]}}\n" for nth in range(3000)),
        "".join(
            f"- {{slug: {layer}x{nth}, parents: [{', '.join(f'{layer + 1}x{up}' for up in range(50))}]}}\n"
            for layer in range(30)
            for nth in range(50)
        ),
        "- {slug: hub, parents: [" + ", ".join(f"p{nth}" for nth in range(50_000)) + "]}\n",
    ],
    ids=["chain", "layers", "star"],
)
def test_declarations_whose_graph_would_be_millions_of_rows_are_ignored(text: str) -> None:
    began = time.process_time()
    found = parse_topics(text)
    assert isinstance(found, Diagnostic)
    assert "more than 64 others" in found.message
    assert time.process_time() - began < 10  # 24 s for the chain alone, with 4.5 million rows to write


def test_a_page_has_no_topic_of_endless_parts() -> None:
    long = "/".join("a" * (DEEPEST_TOPIC + 1))
    text = f"---\ntopics: [{long}, fine]\n---\n#{long} #{'x' * (LONGEST_TOPIC + 1)}\n"
    assert topics(text) == [("fine", "topics")]
    page = project_page(text.encode(), "p.md", ProjectionOptions())
    assert [found.message for found in page.diagnostics if found.kind == "front_matter_invalid"] == [
        "'topics' holds a topic of over 255 characters or 32 parts; shorten it"
    ]


def test_a_topics_yaml_past_its_limit_is_ignored() -> None:
    text = "a:\n#"
    fitting = text + "x" * (MAX_TOPICS_FILE - len(text))
    assert parse_topics(fitting) == (TopicDeclaration("a", None, None, ()),)
    assert isinstance(parse_topics(fitting + "x"), Diagnostic)


@pytest.mark.parametrize("field", ["topics", "tags"])
def test_what_cannot_be_a_topic_is_said(field: str) -> None:
    page = project_page(f"---\n{field}: [a, [b], {{c: d}}]\n---\n# A\n".encode(), "p.md", ProjectionOptions())
    assert [use.topic for use in page.topics] == ["a"]
    assert [each.kind for each in page.diagnostics] == ["front_matter_invalid"]
