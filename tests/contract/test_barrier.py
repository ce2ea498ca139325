"""The barrier's request and answers: what one side writes the other reads, and nothing else."""

from __future__ import annotations

import json

import pytest

from indexerd.contract.barrier import (
    BadRequestError,
    Fresh,
    NotFresh,
    UnknownAnswerError,
    parse_answer,
    parse_request,
    render_answer,
    render_request,
)

FRESH = Fresh(index_id="abc", generation=17, guarantee="scan", index=(7, 8), without_text=("a.md",))


@pytest.mark.parametrize("answer", [FRESH, NotFresh(open=()), NotFresh(open=('a "quoted"\npath', "b.md"))])
def test_an_answer_is_read_as_it_was_written(answer: Fresh | NotFresh) -> None:
    line = render_answer(answer)
    assert line.count(b"\n") == 1
    assert parse_answer(line) == answer


@pytest.mark.parametrize("timeout_s", [0.0, 2.5, 3600.0])
def test_a_request_is_read_as_it_was_written(timeout_s: float) -> None:
    assert parse_request(render_request(timeout_s)) == timeout_s


def test_a_refusal_comes_back_in_the_daemons_words() -> None:
    with pytest.raises(BadRequestError, match=r"^only `fresh` can be asked$"):
        parse_answer(render_answer(BadRequestError("only `fresh` can be asked")))


@pytest.mark.parametrize(
    "more, problem",
    [
        ({"protocol": 2}, "the daemon speaks protocol 2, where 1 is known here"),
        ({"protocol": None}, "speaks protocol None"),
        ({"protocol": True}, "speaks protocol True"),
        ({"fresh": 1}, "something else"),
        ({"fresh": False, "open": "all"}, "something else"),
        ({"generation": "17"}, "something else"),
        ({"generation": True}, "something else"),
        ({"index": None}, "something else"),
        ({"index": [7]}, "something else"),
        ({"index_id": 3}, "something else"),
        ({"without_text": 3}, "something else"),
    ],
)
def test_an_answer_of_another_protocol_or_shape_is_refused(more: dict[str, object], problem: str) -> None:
    told = json.loads(render_answer(FRESH)) | more
    with pytest.raises(UnknownAnswerError, match=problem):
        parse_answer(json.dumps(told).encode())


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_answer_is_refused(line: bytes) -> None:
    with pytest.raises(UnknownAnswerError):
        parse_answer(line)
