"""`wikiq mcp` as a process: both eras, hostile lines, cancellation, an index that comes, goes and changes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.wikiq.conftest import PAGES, TOPICS
from tests.wikiq.mcp.session import Session
from tests.wikiq.sample_index import SampleIndex, write_sample
from wikiq.mcp.budget import count_tokens
from wikiq.mcp.protocol import LONGEST_LINE
from wikiq.mcp.server import MOST_WAITING


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}


@pytest.fixture
def session(index: SampleIndex, tmp_path: Path, environ: dict[str, str]) -> Iterator[Session]:
    with Session("--db", str(index.db), cwd=tmp_path, environ=environ) as opened:
        yield opened


def test_the_handshake_of_the_earlier_era_gives_the_version_that_was_asked_for(session: Session) -> None:
    result = session.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})[
        "result"
    ]
    assert result["protocolVersion"] == "2025-06-18"
    assert result["serverInfo"]["name"] == "wikiq"
    session.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    assert session.request("ping")["result"] == {}
    assert session.request("tools/list")["result"]["tools"][0]["name"] == "search"
    unknown = session.request("initialize", protocolVersion="1999-01-01")["result"]
    assert unknown["protocolVersion"] == "2025-11-25"


def test_a_modern_client_needs_no_handshake(session: Session) -> None:
    found = session.request("server/discover", modern=True)["result"]
    assert found["supportedVersions"][0] == "2026-07-28"
    assert (found["resultType"], found["cacheScope"]) == ("complete", "public")
    called = session.request("tools/call", modern=True, name="search", arguments={"query": "cancellation"})
    assert called["result"]["resultType"] == "complete"
    assert "ttlMs" not in called["result"]
    assert session.request("ping", modern=True)["error"]["code"] == -32601


def test_a_search_gives_addresses_that_can_be_read(session: Session) -> None:
    text = session.tool("search", q="cancellation process group")
    head, hit, excerpt = text.split("\n")[:3]
    assert head.startswith("1 of 1 page · generation ")
    place, _, crumb = hit.removeprefix("1 ").partition(" ")
    assert crumb == "Run Lifecycle > Cancellation"
    assert "process group" in excerpt
    read = session.tool("read", page=place)
    assert "Cancelling a run ends the agent's process group" in read
    assert "Failed runs" not in read
    assert read.split("\n")[0].startswith(f"{place} of ")


def test_a_line_of_a_page_means_its_section_with_the_subsections(session: Session) -> None:
    whole = session.tool("read", page="run-lifecycle.md:3")
    assert "Cancelling a run" in whole
    assert "Failed runs" in whole
    assert "Preamble" not in whole
    assert session.tool("read", page="run-lifecycle#retry").endswith("Failed runs are retried with backoff.")
    both = session.tool("read", page="paths.md\nnotes/short.md")
    assert "Backslashes" in both
    assert "gardens" in both


def test_other_tools_answer_in_lines(session: Session) -> None:
    outline = session.tool("outline", file="run-lifecycle.md")
    assert "## Cancellation (" in outline
    assert "-> paths" in outline
    assert "<- guide/README.md:" in outline
    assert "notes/short.md" in session.tool("list", kind="pages")
    assert "howto/install (1 page)" in session.tool("list", kind="topics")
    assert "upsert" in session.tool("list", kind="changes")
    assert "paths.md" in session.tool("list", kind="pages", path="paths*")
    assert session.tool("status").startswith("Wiki ")


def test_what_is_wrong_with_a_call_is_an_answer_that_lets_it_be_mended(session: Session) -> None:
    assert "did you mean" in session.refusal("read", page="run-lifecicle.md")
    assert "it takes query" in session.refusal("search", querry="x")
    assert "there is no such topic" in session.refusal("search", query="x", topic="arhitecture")
    error = session.request("tools/call", name="write", arguments={})["error"]
    assert error["code"] == -32602
    assert "search, read" in error["message"]
    assert session.request("resources/list")["error"]["code"] == -32601


def test_an_unknown_page_among_several_keeps_nobody_from_the_others(session: Session) -> None:
    asked = ("guide/README.md", "run-lifecicle.md", "notes/short.md#nowhere", "notes/short.md")
    told = session.tool("read", page="\n".join(asked))
    assert told.startswith("guide/README.md:1-")
    assert "\n\n(run-lifecicle.md: " in told
    assert "did you mean" in told
    assert "wikiq outline notes/short`)\n\n" in told
    assert "\n\nnotes/short.md:1-" in told


def test_pages_of_which_none_is_known_are_an_error_that_names_each(session: Session) -> None:
    told = session.refusal("read", page="run-lifecicle.md\nnever-heard.md")
    assert "run-lifecicle.md" in told
    assert "never-heard.md" in told


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 2_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jsonrpc":"2.0","id":9,"method":"x","params":[]}',
        b'{"jsonrpc":"2.0","id":{"a":1},"method":"x"}',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":["search"],"arguments":3}}',
        b"\xff\xfe\xfd",
        b'"' + b"x" * (LONGEST_LINE * 10) + b'"',
        b"nothing like JSON",
    ],
    ids=["open", "deep", "params", "id", "arguments", "bytes", "long", "words"],
)
def test_a_hostile_line_is_refused_once_and_the_server_lives(session: Session, line: bytes) -> None:
    session.send(line + b"\n")
    assert "error" in session.answer()
    assert session.tool("status").startswith("Wiki ")


def test_lone_surrogates_and_controls_never_reach_the_client(session: Session) -> None:
    named = '{"name":"read","arguments":{"page":"\\ud800 \\u202e"}}'
    session.send(f'{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{named}}}\n'.encode())
    told = session.answer()["result"]["content"][0]["text"]
    told.encode("utf-8")
    assert "\u202e" not in told


def test_half_a_line_at_the_end_of_input_is_answered_and_the_server_ends(session: Session) -> None:
    session.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert session.end() == 0
    assert session.answer()["result"] == {}


def test_a_hundred_calls_in_flight_are_answered_in_order(session: Session) -> None:
    numbers = [session.ask("tools/call", name="search", arguments={"query": f"run {n}"}) for n in range(100)]
    answers = [session.answer() for _ in numbers]
    taken = [answer["id"] for answer in answers if "result" in answer]
    refused = [answer["id"] for answer in answers if "error" in answer]
    assert taken == sorted(taken)
    assert sorted(taken + refused) == numbers
    assert len(taken) >= MOST_WAITING


def test_a_cancelled_request_is_never_answered_and_later_ones_are(session: Session) -> None:
    numbers = [session.ask("tools/call", name="search", arguments={"query": "run"}) for _ in range(20)]
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": numbers[-1]}}
    session.send(json.dumps(cancelled).encode() + b"\n")
    last = session.ask("ping")
    answered: list[int] = []
    while not answered or answered[-1] != last:
        answered.append(session.answer()["id"])
    assert answered[:19] == numbers[:19]
    assert len(answered) in (20, 21)  # the last may have been answered before it was cancelled


def test_sigterm_ends_the_server_as_the_end_of_input_does(session: Session) -> None:
    assert session.request("ping")["result"] == {}
    session.process.send_signal(signal.SIGTERM)
    assert session.process.wait(30) == 0


def test_a_client_that_reads_no_more_ends_the_server(session: Session) -> None:
    assert session.process.stdout is not None
    session.process.stdout.close()
    with suppress(BrokenPipeError):
        for _ in range(1000):
            session.ask("ping")
    assert session.process.wait(30) == 0


def test_a_missing_index_is_an_answer_and_one_that_appears_is_used(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with Session("--db", str(tmp_path / "later" / "index.db"), cwd=tmp_path, environ=environ) as session:
        assert "indexerd build" in session.refusal("status")
        index = write_sample(tmp_path / "other", PAGES, topics=TOPICS)
        (tmp_path / "later").mkdir()
        index.db.rename(tmp_path / "later" / "index.db")
        assert session.tool("status").startswith("Wiki ")


def test_a_replaced_index_is_opened_anew(index: SampleIndex, session: Session, tmp_path: Path) -> None:
    assert "paths.md" in session.tool("list", kind="pages")
    other = write_sample(tmp_path / "other", PAGES[:1])
    os.replace(other.db, index.db)
    assert "paths.md" not in session.tool("list", kind="pages")


def test_no_answer_is_larger_than_its_budget(session: Session) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "run agent"}),
        ("read", {"page": "run-lifecycle.md"}),
        ("read", {"page": "run-lifecycle.md\npaths.md\nguide"}),
        ("outline", {"page": "guide"}),
        ("list", {"kind": "pages"}),
        ("list", {"kind": "problems"}),
    ]
    for name, arguments in calls:
        for most in (100, 130, 400):
            assert count_tokens(session.tool(name, **arguments, max_tokens=most)) <= most, (name, most)
