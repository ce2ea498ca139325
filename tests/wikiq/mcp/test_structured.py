"""`wikiq mcp --structured`: every tool declares what it gives, and the text is the JSON of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.wikiq.mcp.session import Session
from tests.wikiq.running import environment, run_wikiq
from tests.wikiq.sample_index import SampleIndex

KINDS = {"integer": int, "boolean": bool, "array": list, "string": str, "object": dict}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "cancellation process group"}),
    ("search", {"query": "canceling", "limit": 1}),
    ("read", {"page": "run-lifecycle.md:3\npaths.md"}),
    ("outline", {"page": "guide"}),
    ("list", {"kind": "pages"}),
    ("list", {"kind": "topics"}),
    ("list", {"kind": "changes"}),
    ("list", {"kind": "problems"}),
    ("status", {}),
)


@pytest.fixture
def session(index: SampleIndex, tmp_path: Path) -> Iterator[Session]:
    arguments = ("--structured", "--db", str(index.db))
    with Session(*arguments, cwd=tmp_path, environ=environment(index.root.parent)) as opened:
        yield opened


def result_of(session: Session, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = session.request("tools/call", name=name, arguments=arguments)["result"]
    return result


def test_every_answer_is_what_its_tool_declares_and_the_text_is_its_json(session: Session) -> None:
    tools = {tool["name"]: tool for tool in session.request("tools/list")["result"]["tools"]}
    for name, arguments in CALLS:
        result = result_of(session, name, **arguments)
        document, schema = result["structuredContent"], tools[name]["outputSchema"]
        assert json.loads(result["content"][0]["text"]) == document
        assert set(schema["required"]) <= document.keys() <= schema["properties"].keys()
        for field, declared in schema["properties"].items():
            if field != "why":  # null where nothing is behind
                assert type(document[field]) is KINDS[declared["type"]], (name, field)


def test_hits_are_the_records_of_the_command(session: Session, index: SampleIndex) -> None:
    hits = result_of(session, "search", query="cancellation process group")["structuredContent"]["hits"]
    assert hits == run_wikiq("cancellation process group", "--json", index=index).json["hits"]


def test_what_does_not_fit_is_counted(session: Session) -> None:
    document = result_of(session, "list", kind="problems", max_tokens=400)["structuredContent"]
    assert 1 <= len(document["rows"]) < document["total"]
    assert document["left_out"] == document["total"] - len(document["rows"])


def test_an_unknown_page_among_several_is_a_problem_beside_the_others(session: Session) -> None:
    result = result_of(session, "read", page="notes/short.md\nrun-lifecicle.md")
    found = result["structuredContent"]
    assert [one["path"] for one in found["passages"]] == ["notes/short.md"]
    assert [problem.partition(":")[0] for problem in found["problems"]] == ["run-lifecicle.md"]
    assert found["left_out"] == 0


def test_an_error_is_text_alone(session: Session) -> None:
    result = result_of(session, "read", page="nowhere.md")
    assert result["isError"] is True
    assert "structuredContent" not in result


def test_without_the_option_no_tool_declares_what_it_gives(index: SampleIndex, tmp_path: Path) -> None:
    with Session("--db", str(index.db), cwd=tmp_path, environ=environment(tmp_path)) as session:
        tools = session.request("tools/list")["result"]["tools"]
        assert all("outputSchema" not in tool for tool in tools)
        assert "structuredContent" not in result_of(session, "status")


def test_the_option_stays_in_the_configuration_that_is_printed(index: SampleIndex) -> None:
    done = run_wikiq("mcp", "--structured", "--print-config", "codex", index=index)
    assert '"--structured"' in done.out
