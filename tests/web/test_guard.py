"""Who is let in: the guard's table, and the same over raw sockets; what of the disk is given away."""

from __future__ import annotations

import subprocess
from typing import Any, Final

import pytest

from tests.web.served import DOT, Served, serving, write_wiki
from tests.wikiq.running import command, environment
from wikiq.web.guard import LARGEST_REQUEST, Entrance, Guard, Head, Refusal

TOKEN: Final = "a" * 22
OWN: Final = {"host": "localhost:80801", "cookie": f"wikiq-80801={TOKEN}"}


def judge(guard: Guard | None = None, **changes: Any) -> Refusal | Entrance | None:
    guard = guard or Guard(port=80801, token=TOKEN)
    headers = {**OWN, **changes.pop("headers", {})}
    facts: dict[str, Any] = {"method": "GET", "path": "/", "query": "", "size": 100} | changes
    return guard.judge(Head(headers=headers, **facts))


def status(verdict: Refusal | Entrance | None) -> int | None:
    assert not isinstance(verdict, Entrance)
    return verdict.status if verdict is not None else None


@pytest.mark.parametrize(
    "headers, expected",
    [
        ({}, None),
        ({"host": "127.0.0.1:80801"}, None),
        ({"host": "[::1]:80801"}, None),
        ({"host": "LOCALHOST:80801"}, None),
        ({"host": "localhost"}, 421),
        ({"host": "localhost:80"}, 421),
        ({"host": "evil.example:80801"}, 421),
        ({"host": "localhost:80801, evil.example"}, 421),
        ({"host": ""}, 421),
        ({"sec-fetch-site": "same-origin"}, None),
        ({"sec-fetch-site": "none"}, None),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://localhost:80801"}, None),
        ({"origin": "http://localhost:80802"}, 403),
        ({"origin": "https://localhost:80801"}, 403),
        ({"origin": "null"}, 403),
        ({"cookie": ""}, 401),
        ({"cookie": f"wikiq-80801={TOKEN}x"}, 401),
        ({"cookie": f"wikiq-80802={TOKEN}"}, 401),
        ({"cookie": f"other=1; wikiq-80801={TOKEN}"}, None),
        ({"cookie": "wikiq-80801=\xff"}, 401),
    ],
)
def test_a_request_is_judged_by_its_headers(headers: dict[str, str], expected: int | None) -> None:
    assert status(judge(headers=headers)) == expected


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_nothing_but_reading_is_allowed(method: str) -> None:
    assert status(judge(method=method)) == 405
    assert status(judge(method=method, path="/open")) == 405


def test_the_editor_is_opened_only_where_that_was_asked_for() -> None:
    guard = Guard(port=80801, token=TOKEN, opens_editor=True)
    assert status(judge(guard, method="POST", path="/open")) is None
    assert status(judge(guard, method="POST", path="/open", headers={"cookie": ""})) == 401
    assert status(judge(guard, method="POST", path="/")) == 405


def test_a_request_at_the_limit_is_answered_and_one_past_it_is_not() -> None:
    assert status(judge(size=LARGEST_REQUEST)) is None
    assert status(judge(size=LARGEST_REQUEST + 1)) == 413


def test_the_token_leaves_the_address_and_becomes_a_cookie() -> None:
    entrance = judge(path="/p/a b", query=f"q=x+y&token={TOKEN}&q=z", headers={"cookie": ""})
    assert isinstance(entrance, Entrance)
    assert entrance.location == "/p/a b?q=x+y&q=z"
    assert entrance.cookie == f"wikiq-80801={TOKEN}; Path=/; HttpOnly; SameSite=Strict"


def test_a_wrong_token_lets_nobody_in() -> None:
    assert status(judge(query="token=wrong", headers={"cookie": ""})) == 401


def test_the_way_in_leads_to_no_other_machine() -> None:
    entrance = judge(path="//evil.example", query=f"token={TOKEN}")
    assert isinstance(entrance, Entrance)
    assert entrance.location == "/evil.example"


def test_a_further_name_must_be_allowed() -> None:
    guard = Guard(port=80801, token=TOKEN, names=("wiki.lan",))
    assert status(judge(guard, headers={"host": "wiki.lan:80801"})) is None
    assert status(judge(guard, headers={"host": "other.lan:80801"})) == 421


@pytest.mark.parametrize(
    "line, headers, expected",
    [
        ("GET / HTTP/1.1", {}, 200),
        ("HEAD / HTTP/1.1", {}, 200),
        ("GET / HTTP/1.1", {"Host": "evil.example"}, 421),
        ("GET / HTTP/1.1", {"Host": "", "X": "1"}, 400),
        ("GET http://evil.example/ HTTP/1.1", {}, 404),
        ("GET / HTTP/1.1", {"Origin": "http://evil.example"}, 403),
        ("GET / HTTP/1.1", {"Sec_Fetch_Site": "cross-site"}, 403),
        ("GET / HTTP/1.1", {"Cookie": ""}, 401),
        ("GET /static/wikiq.js HTTP/1.1", {"Cookie": ""}, 401),
        ("GET /events HTTP/1.1", {"Cookie": ""}, 401),
        ("POST / HTTP/1.1", {"Content_Length": "0"}, 405),
        ("POST /open HTTP/1.1", {"Content_Length": "0"}, 405),
        ("BREW / HTTP/1.1", {}, 405),
        ("GET / HTTP/1.1", {"Content_Length": "70000"}, 413),
        ("GET /raw/network.md HTTP/1.1", {}, 200),
        ("GET /raw/../../secret.png HTTP/1.1", {}, 404),
        ("GET /raw/%2e%2e/secret.png HTTP/1.1", {}, 404),
        ("GET /raw//etc/passwd HTTP/1.1", {}, 404),
        ("GET /raw/network HTTP/1.1", {}, 404),
        ("GET /files/ops/dot.png HTTP/1.1", {}, 200),
        ("GET /files/in.png HTTP/1.1", {}, 200),
        ("GET /files/dot.svg HTTP/1.1", {}, 200),
        ("GET /files/out.png HTTP/1.1", {}, 404),
        ("GET /files/page.png HTTP/1.1", {}, 404),
        ("GET /files/../secret.png HTTP/1.1", {}, 404),
        ("GET /files/%2e%2e/secret.png HTTP/1.1", {}, 404),
        ("GET /files/ops/..%2f..%2f..%2fsecret.png HTTP/1.1", {}, 404),
        ("GET /files//etc/secret.png HTTP/1.1", {}, 404),
        ("GET /files/.hidden/dot.png HTTP/1.1", {}, 404),
        ("GET /files/network.md HTTP/1.1", {}, 404),
        ("GET /files/dot.png%00.md HTTP/1.1", {}, 404),
        ("GET /files/x%00.png HTTP/1.1", {}, 404),
        ("GET /static/../app.py HTTP/1.1", {}, 404),
        ("GET /static/%2e%2e%2fapp.py HTTP/1.1", {}, 404),
        ("GET /p/%ff%fe HTTP/1.1", {}, 404),
    ],
)
def test_the_server_answers_by_the_same_table(
    served: Served, line: str, headers: dict[str, str], expected: int
) -> None:
    assert served.head(line, **headers) == expected


def test_a_head_past_the_limit_is_refused(served: Served) -> None:
    assert served.head("GET / HTTP/1.1", X_Long="a" * (LARGEST_REQUEST + 1)) in (400, 413, 431)


def test_two_names_at_once_are_refused(served: Served) -> None:
    twice = f"GET / HTTP/1.1\r\nHost: localhost:{served.port}\r\nHost: evil.example\r\n\r\n"
    assert served.send(twice.encode()).startswith(b"HTTP/1.1 400")


def test_the_printed_address_lets_a_browser_in(served: Served) -> None:
    path = "/?" + served.address.partition("?")[2]
    answer = served.get(path, Cookie="")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert len(served.token) == 22  # 128 bits


@pytest.mark.parametrize(
    "path", ["/", "/p/network", "/api/status", "/raw/network.md", "/nothing", "/events?x"]
)
def test_every_answer_has_the_headers_that_bind_the_browser(served: Served, path: str) -> None:
    method = "HEAD" if path.startswith("/events") else "GET"
    headers = served.get(path, method=method).headers
    assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"


def test_a_picture_is_bound_more_tightly(served: Served) -> None:
    answer = served.get("/files/dot.svg")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["content-type"] == "image/svg+xml"
    assert served.get("/files/in.png").body == DOT


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::"])
def test_an_address_that_others_reach_needs_a_name(served: Served, host: str) -> None:
    done = subprocess.run(
        command("serve", "--host", host),
        cwd=served.wiki.index.root,
        env=environment(served.wiki.index.root.parent),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--allow-host" in done.stderr


def test_a_server_that_others_reach_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    wiki = write_wiki(tmp_path_factory.mktemp("open"))
    with serving(wiki, "--host", "0.0.0.0", "--allow-host", "wiki.lan") as server:
        assert server.address.startswith("http://wiki.lan:")
        assert server.head("GET / HTTP/1.1", Host=f"wiki.lan:{server.port}") == 200
        server.stop()
        assert server.process.stderr is not None
        assert "other machines can reach this server" in server.process.stderr.read()
