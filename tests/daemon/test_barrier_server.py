"""The barrier's socket, asked by a client of the standard library alone, as readers do."""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import pytest
import structlog

from indexerd.contract.barrier import (
    LONGEST_TIMEOUT_S,
    Answer,
    BadRequestError,
    Fresh,
    NotFresh,
    parse_request,
)
from indexerd.daemon import barrier_server as control
from indexerd.daemon.barrier_server import PATH_BYTES, serve_barrier, socket_path

PATIENCE_S: Final = 10.0
LOG: Final = structlog.get_logger()


def ask_raw(path: Path, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE_S)
        client.connect(str(path))
        try:
            client.sendall(request)
            with client.makefile("rb") as lines:
                return lines.readline()
        except (BrokenPipeError, ConnectionResetError):
            return b""


def asking(path: Path, ask: Callable[[float], Awaitable[Answer]], *requests: bytes) -> list[bytes]:
    """The answers of a server at `path` to requests that are sent at the same time."""

    async def run() -> list[bytes]:
        answers: list[bytes] = []
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as server:
                await server.start(serve_barrier, str(path), ask, LOG)
                async with anyio.create_task_group() as clients:

                    async def one(request: bytes) -> None:
                        answers.append(await anyio.to_thread.run_sync(ask_raw, path, request))

                    for request in requests:
                        clients.start_soon(one, request)
                server.cancel_scope.cancel()
        return answers

    return anyio.run(run)


async def fresh(timeout_s: float) -> Answer:
    return Fresh(index_id="abc", generation=17, guarantee="scan", index=(7, 8))


REQUEST: Final = b'{"protocol": 1, "ask": "fresh", "timeout_s": 2}\n'


def decoded(answers: list[bytes]) -> list[Any]:
    return [json.loads(answer) for answer in answers]


def test_a_request_is_answered_with_the_generation_and_the_guarantee(tmp_path: Path) -> None:
    (answer,) = decoded(asking(tmp_path / "s", fresh, REQUEST))
    said = {"index_id": "abc", "generation": 17, "guarantee": "scan", "index": [7, 8], "without_text": []}
    assert answer == {"protocol": 1, "fresh": True} | said


def test_what_is_open_is_named_when_it_could_not_be_had(tmp_path: Path) -> None:
    async def never(timeout_s: float) -> Answer:
        return NotFresh(open=(f"waited {timeout_s} s", 'a "quoted"\npath'))

    (answer,) = decoded(asking(tmp_path / "s", never, REQUEST))
    assert answer == {"protocol": 1, "fresh": False, "open": ["waited 2.0 s", 'a "quoted"\npath']}


def test_requests_are_served_side_by_side(tmp_path: Path) -> None:
    waiting = 0

    async def together(timeout_s: float) -> Answer:
        nonlocal waiting
        waiting += 1
        while waiting < 8:  # noqa: ASYNC110 - until all eight are here
            await anyio.sleep(0.001)
        return Fresh(index_id="abc", generation=1, guarantee="scan", index=(7, 8))

    answers = decoded(asking(tmp_path / "s", together, *[REQUEST] * 8))
    assert [answer["fresh"] for answer in answers] == [True] * 8


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"ask": "fresh"}',
        b'{"protocol": 2, "ask": "fresh"}',
        b'{"protocol": 1, "ask": "stop"}',
        b'{"protocol": 1, "ask": "fresh", "timeout_s": "long"}',
        b'{"protocol": 1, "ask": "fresh", "timeout_s": -1}',
        b'{"protocol": 1, "ask": "fresh", "timeout_s": NaN}',
        b'{"protocol": 1, "ask": "fresh", "timeout_s": true}',
        b'{"protocol": 1, "ask": "fresh", "timeout_s": %s}' % (b"9" * 400),
        b'{"protocol": 1, "ask": "fresh", "timeout_s": -%s}' % (b"9" * 400),
        b'{"protocol": 1, "ask": "fresh", "timeout_s": 1e999}',
        b'{"protocol": true, "ask": "fresh"}',
        b"[" * 2000,
    ],
)
def test_a_line_that_is_no_request_is_refused_in_words(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(BadRequestError):
        parse_request(line)
    (answer,) = decoded(asking(tmp_path / "s", fresh, line + b"\n"))
    assert answer["fresh"] is False
    assert answer["error"]


def test_a_request_without_an_end_is_refused_after_its_allowance(tmp_path: Path) -> None:
    (answer,) = decoded(asking(tmp_path / "s", fresh, b"x" * 10_000))
    assert answer["fresh"] is False


@pytest.mark.parametrize(
    "request_line, timeout_s",
    [
        (b'{"protocol": 1, "ask": "fresh"}', 5.0),
        (b'{"protocol": 1, "ask": "fresh", "timeout_s": 0}', 0.0),
        (b'{"protocol": 1, "ask": "fresh", "timeout_s": 1e99}', LONGEST_TIMEOUT_S),
        (b'{"protocol": 1, "ask": "fresh", "more": [1]}', 5.0),
    ],
)
def test_a_request_says_how_long_it_waits(request_line: bytes, timeout_s: float) -> None:
    assert parse_request(request_line) == timeout_s


def test_a_client_that_leaves_without_an_answer_harms_nobody(tmp_path: Path) -> None:
    path = tmp_path / "s"

    async def slow(timeout_s: float) -> Answer:
        await anyio.sleep(0.01)
        return Fresh(index_id="abc", generation=1, guarantee="scan", index=(7, 8))

    async def run() -> bytes:
        async with anyio.create_task_group() as server:
            await server.start(serve_barrier, str(path), slow, LOG)
            for request in (b"", b"{", REQUEST):
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(str(path))
                    client.sendall(request)
            answer = await anyio.to_thread.run_sync(ask_raw, path, REQUEST)
            server.cancel_scope.cancel()
        return answer

    assert json.loads(anyio.run(run))["fresh"] is True


def test_a_request_that_fails_ends_its_own_client_alone_and_is_logged(tmp_path: Path) -> None:
    asked = iter([RuntimeError("a bug"), None])

    async def ask(timeout_s: float) -> Answer:
        if (error := next(asked)) is not None:
            raise error
        return await fresh(timeout_s)

    path = tmp_path / "s"

    async def run() -> list[bytes]:
        async with anyio.create_task_group() as server:
            await server.start(serve_barrier, str(path), ask, LOG)
            answers = [await anyio.to_thread.run_sync(ask_raw, path, REQUEST) for _ in range(2)]
            server.cancel_scope.cancel()
        return answers

    with structlog.testing.capture_logs() as events:
        failed, answered = anyio.run(run)
    assert failed == b""
    assert json.loads(answered)["fresh"] is True
    assert [event["event"] for event in events] == ["request.failed"]


def test_another_user_gets_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "peer_user", lambda connection: os.geteuid() + 1)
    assert asking(tmp_path / "s", fresh, REQUEST) == [b""]


def test_the_socket_is_ours_alone_replaces_a_dead_one_and_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    modes: list[int] = []

    async def look(timeout_s: float) -> Answer:
        modes.append(stat.S_IMODE(path.stat().st_mode))
        return Fresh(index_id="abc", generation=1, guarantee="scan", index=(7, 8))

    before = os.umask(0)
    try:
        path.unlink()
        asking(path, look, REQUEST)
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert not path.exists()


@pytest.mark.parametrize(
    "index, environ, expected",
    [
        ("/s/notes/index.db", {}, "/s/notes/control.sock"),
        ("/s/notes/index.db", {"XDG_RUNTIME_DIR": "relative"}, "/s/notes/control.sock"),
        ("/s/notes/index.db", {"XDG_RUNTIME_DIR": f"/{'r' * PATH_BYTES}"}, "/s/notes/control.sock"),
        (f"/{'s' * PATH_BYTES}/index.db", {}, None),
    ],
)
def test_the_socket_stands_where_its_path_is_short_enough(
    index: str, environ: dict[str, str], expected: str | None
) -> None:
    assert socket_path(index, environ) == expected


def test_the_socket_stands_with_the_users_sockets_where_there_are_such(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    environ = {"XDG_RUNTIME_DIR": "/run/user/1000"}
    path = socket_path(str(tmp_path / "index.db"), environ)
    assert path is not None
    assert path.startswith("/run/user/1000/indexerd/")
    assert path == socket_path(str(tmp_path / "link" / "index.db"), environ), "one index, one socket"


def test_a_client_for_whom_no_descriptor_is_left_is_answered_once_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, refusals = socket.socket.accept, [OSError(errno.EMFILE, os.strerror(errno.EMFILE))] * 2

    def refusing(listener: socket.socket) -> Any:
        if refusals:
            raise refusals.pop()
        return accept(listener)

    async def ask(_: float) -> Answer:
        return NotFresh(open=("a.md",))

    monkeypatch.setattr(socket.socket, "accept", refusing)
    (answer,) = asking(tmp_path / "s", ask, b'{"protocol": 1, "ask": "fresh"}\n')
    assert json.loads(answer)["open"] == ["a.md"]
    assert refusals == []
