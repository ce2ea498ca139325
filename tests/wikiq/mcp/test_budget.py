"""No answer is larger than was asked for, in either form; what was cut says where to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.wikiq.mcp.random_calls import AWKWARD, LONG, find_excesses
from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.mcp import documents
from wikiq.mcp.budget import count_tokens
from wikiq.mcp.calls import Calls
from wikiq.mcp.tools import TOOLS
from wikiq.model.request import Source


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample(tmp_path_factory.mktemp("awkward"), AWKWARD).db


@pytest.fixture
def calls(awkward: Path) -> Iterator[Calls]:
    with closing(Calls(Source(db=str(awkward)), {}, "/")) as opened:
        yield opened


@pytest.fixture
def structured(awkward: Path) -> Iterator[Calls]:
    with closing(Calls(Source(db=str(awkward)), {}, "/", documents)) as opened:
        yield opened


def test_no_answer_to_a_random_call_is_larger_than_its_budget(awkward: Path) -> None:
    """The short form; `python -m tests.wikiq.mcp.random_calls` makes 10,000 calls."""
    assert list(find_excesses(awkward, 60, seed=7)) == []


@pytest.mark.parametrize("most", range(100, 400, 14))
def test_pages_that_share_a_budget_stay_within_it(calls: Calls, structured: Calls, most: int) -> None:
    named = {"page": "\n".join(["wide.md", "one.md", "many.md:3", "empty.md"] * 10), "max_tokens": most}
    assert count_tokens(calls.call(TOOLS["read"], named).text) <= most
    assert count_tokens(structured.call(TOOLS["read"], named).text) <= most


def test_a_page_is_read_to_its_end_by_going_on_where_it_says(calls: Calls) -> None:
    at: str | None = "many.md"
    read: list[str] = []
    while at is not None:
        text = calls.call(TOOLS["read"], {"page": at, "max_tokens": 700}).text
        going = re.search(r"^\(cut; go on with read (.*)\)$", text, re.MULTILINE)
        body = text[: going.start() - 1] if going else text
        read += body.split("\n")[1:]
        at = going[1] if going else None
    assert "\n".join(read).strip() == next(page.text for page in AWKWARD if page.path == "many.md").strip()


def test_a_page_is_read_to_its_end_by_programs_too(structured: Calls) -> None:
    at: str | None = "many.md"
    read: list[str] = []
    while at is not None:
        document = structured.call(TOOLS["read"], {"page": at, "max_tokens": 700}).document
        assert document is not None
        [passage] = document["passages"]
        read.append(passage["text"])
        at = passage["go_on"]
    assert "\n".join(read).strip() == next(page.text for page in AWKWARD if page.path == "many.md").strip()


def test_a_line_longer_than_the_budget_is_begun_and_the_next_line_is_named(calls: Calls) -> None:
    text = calls.call(TOOLS["read"], {"page": "long-line.md:3-7", "max_tokens": 200}).text
    head, line, cut, *_ = text.split("\n")
    assert head.startswith("long-line.md:3-3 of 7 lines")
    assert LONG.startswith(line)
    assert len(line) > 300
    assert cut == "(line 3 is cut; go on with read long-line.md:4-7)"


def test_a_long_title_leaves_room_for_the_text_it_is_the_title_of(tmp_path: Path) -> None:
    db = write_sample(tmp_path, [SamplePage("a.md", f"# {'Title ' * 400}\n\nThe answer is here.\n")]).db
    with closing(Calls(Source(db=str(db)), {}, "/")) as calls:
        assert (
            "The answer is here." in calls.call(TOOLS["read"], {"page": "a.md:2-3", "max_tokens": 100}).text
        )
        assert "a.md:1-3" in calls.call(TOOLS["search"], {"query": "answer", "max_tokens": 200}).text


def test_the_path_of_an_outline_leaves_room_for_the_rest(tmp_path: Path) -> None:
    path = "/".join(["a folder with a long name"] * 30) + "/page.md"
    index = write_sample(tmp_path, (SamplePage(path, "# Page\n\nText.\n"),))
    with closing(Calls(Source(db=str(index.db)), {}, "/", documents)) as calls:
        answer = calls.call(TOOLS["outline"], {"page": path, "max_tokens": 100})
    assert not answer.is_error
    assert count_tokens(answer.text) <= 100
