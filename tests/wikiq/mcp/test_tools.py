"""The tools' definitions stay cheap, and arguments are read as models write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wikiq.mcp.tools import (
    INSTRUCTIONS,
    LARGEST_BUDGET,
    TOOLS,
    BadArgumentsError,
    check_arguments,
    describe_tools,
)


def test_definitions_and_instructions_cost_few_tokens() -> None:
    definitions = json.dumps(describe_tools(), separators=(",", ":"))
    assert len(definitions) / 4 <= 900
    assert len(INSTRUCTIONS) / 4 <= 120
    assert [tool["name"] for tool in describe_tools()] == ["search", "read", "outline", "list", "status"]


@pytest.mark.parametrize(
    "tool, given, expected",
    [
        ("search", {"q": "x"}, {"query": "x", "limit": 8}),
        ("search", {"text": "x", "top_k": "3"}, {"query": "x", "limit": 3}),
        ("search", {"query": "x", "q": "y", "n": 4.0}, {"query": "x", "limit": 4}),
        ("search", {"query": "x", "limit": 900}, {"limit": 50}),
        ("search", {"query": "x", "sections": "true", "path": None}, {"sections": True, "path": None}),
        ("search", {"query": 404}, {"query": "404"}),
        ("read", {"file": "a.md"}, {"page": "a.md", "max_tokens": 2000}),
        ("read", {"page": ["a.md", "b.md"]}, {"page": "a.md\nb.md"}),
        ("read", {"page": "a", "max_tokens": 10**9}, {"max_tokens": LARGEST_BUDGET}),
        ("list", {"type": "pages"}, {"kind": "pages", "limit": 30}),
        ("status", None, {}),
    ],
)
def test_arguments_are_taken_as_models_write_them(tool: str, given: Any, expected: dict[str, Any]) -> None:
    taken = check_arguments(TOOLS[tool], given)
    assert taken.keys() == TOOLS[tool].arguments.keys()
    assert {name: taken[name] for name in expected} == expected


@pytest.mark.parametrize(
    "tool, given, told",
    [
        ("search", {}, "query is missing"),
        ("search", {"query": " "}, "query is empty"),
        ("search", {"query": {"a": 1}}, "query is a string"),
        ("search", {"query": "x", "limit": "many"}, "limit is a integer"),
        ("search", {"query": "x", "limit": True}, "limit is a integer"),
        ("search", {"query": "x", "limit": 0}, "at least 1"),
        ("search", {"query": "x", "max_tokens": 5}, "at least 100"),
        ("search", {"query": "x", "colour": 1}, "there is no argument 'colour'; it takes query"),
        ("list", {"kind": "songs"}, "one of pages, topics, changes, problems"),
        ("status", {"a": 1}, "it takes none"),
        ("read", [1], "arguments are an object"),
    ],
)
def test_what_cannot_be_taken_is_told_in_one_line(tool: str, given: Any, told: str) -> None:
    with pytest.raises(BadArgumentsError, match=told) as caught:
        check_arguments(TOOLS[tool], given)
    assert "\n" not in str(caught.value)
