"""Lines of the protocol: what is taken, what is refused and how, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wikiq.mcp.protocol import (
    CAPABILITIES_KEY,
    DEEPEST,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LONGEST_LINE,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    Notification,
    RefusedError,
    Request,
    parse_message,
    render_error,
    render_result,
)

MODERN = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def parsed(**fields: Any) -> Request:
    message = parse_message(line(**fields))
    assert isinstance(message, Request)
    return message


def refused(data: bytes) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        parse_message(data)
    return caught.value


def test_a_request_tells_its_era_by_its_own_version() -> None:
    assert not parsed(id=1, method="tools/list").is_modern
    assert not parsed(id=1, method="tools/list", params={"_meta": {"progressToken": 3}}).is_modern
    assert parsed(id="a", method="tools/list", params={"_meta": MODERN}).is_modern


def test_a_line_without_an_id_wants_no_answer() -> None:
    message = parse_message(line(method="notifications/initialized"))
    assert message == Notification(method="notifications/initialized", params={})
    assert parse_message(line(method="x", params=[1])) == Notification(method="x", params={})
    assert parse_message(line(id=3, result={})) is None


@pytest.mark.parametrize(
    "data, code",
    [
        (b"", PARSE_ERROR),
        (b"{", PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":NaN}}', PARSE_ERROR),
        (b"[" * 2_000 + b"]" * 2_000, PARSE_ERROR),
        (b"[" * 100_000 + b"]" * 100_000, PARSE_ERROR),
        (b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), PARSE_ERROR),
        (b" " * (LONGEST_LINE + 1), INVALID_REQUEST),
        (b"[]", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b'{"id":1,"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":{},"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', INVALID_PARAMS),
    ],
)
def test_what_is_no_request_is_refused_once(data: bytes, code: int) -> None:
    assert refused(data).code == code


def test_nesting_at_the_limit_is_read() -> None:
    inner: Any = 1
    for _ in range(DEEPEST - 1):
        inner = [inner]
    assert parsed(id=1, method="x", params={"a": inner[0]}).params


def test_a_version_of_the_future_is_told_which_there_are() -> None:
    meta = {VERSION_KEY: "2099-01-01", CAPABILITIES_KEY: {}}
    error = refused(line(id=4, method="tools/list", params={"_meta": meta}))
    told = json.loads(render_error(error))["error"]
    assert (error.code, error.id) == (UNSUPPORTED_VERSION, 4)
    assert told["data"]["requested"] == "2099-01-01"
    assert "2026-07-28" in told["data"]["supported"]


@pytest.mark.parametrize("meta", [{VERSION_KEY: "2026-07-28"}, {VERSION_KEY: 7, CAPABILITIES_KEY: {}}])
def test_a_modern_request_without_its_envelope_is_refused(meta: dict[str, Any]) -> None:
    assert refused(line(id=4, method="tools/list", params={"_meta": meta})).code == INVALID_PARAMS


def test_an_answer_has_the_form_of_its_era() -> None:
    server = {"name": "wikiq", "version": "1"}
    old = json.loads(render_result(parsed(id=1, method="x"), {"a": "ü\n"}, server, cached=True))
    new_request = parsed(id=2, method="x", params={"_meta": MODERN})
    new = json.loads(render_result(new_request, {"a": 1}, server, cached=True))
    assert old == {"jsonrpc": "2.0", "id": 1, "result": {"a": "ü\n"}}
    assert new["result"]["resultType"] == "complete"
    assert new["result"]["ttlMs"] == 3_600_000
    assert "ttlMs" not in json.loads(render_result(new_request, {"a": 1}, server))["result"]
    assert render_result(parsed(id=1, method="x"), {"a": "\u2028\n"}, server).count(b"\n") == 1
