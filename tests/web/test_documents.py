"""The addresses below /api against `--json`: the same documents, byte for byte, but for passing times."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.web.served import Served
from tests.wikiq.running import run_wikiq

PASSING: Final = re.compile(rb'"(?:took_ms|age_s)": [^,}]+')

SAME: Final[list[tuple[str, list[str]]]] = [
    ("/api/search?q=restore+the+table", ["search", "restore", "the", "table"]),
    ("/api/search?q=rest&prefix=1&limit=1", ["search", "rest", "--prefix", "--limit", "1"]),
    ("/api/search?q=vpn&topic=net&sections=1", ["search", "vpn", "--topic", "net", "--sections"]),
    ("/api/search?q=vpn&explain=1&exact=1", ["search", "vpn", "--explain", "--exact"]),
    ("/api/search?q=%E6%97%A5%E6%9C%AC%E3%81%AE%E9%A6%96%E9%83%BD", ["search", "日本の首都"]),
    ("/api/search?topic=net&since=2000-01-01", ["search", "--topic", "net", "--since", "2000-01-01"]),
    ("/api/search?q=nowhere", ["search", "nowhere"]),
    ("/api/page/network", ["show", "network"]),
    ("/api/page/ops/backup%23restore", ["show", "ops/backup#restore"]),
    ("/api/page/ops/backup.md:8-9", ["show", "ops/backup.md:8-9"]),
    ("/api/outline/ops/backup", ["outline", "ops/backup"]),
    ("/api/links/index", ["links", "index"]),
    ("/api/backlinks/network", ["backlinks", "network"]),
    ("/api/topics", ["topics"]),
    ("/api/topics/net", ["topics", "net"]),
    ("/api/changes?since=0", ["changes", "--since", "0"]),
    ("/api/check", ["check"]),
    ("/api/check?strict=1&kind=broken_link&kind=orphan", [
        "check", "--strict", "--kind", "broken_link", "--kind", "orphan",
    ]),
    ("/api/status", ["status"]),
]  # fmt: skip


@pytest.mark.parametrize("path, words", SAME, ids=[path for path, _ in SAME])
def test_a_document_is_that_of_the_command(served: Served, path: str, words: list[str]) -> None:
    answer = served.get(path)
    printed = run_wikiq(*words, "--json", index=served.wiki.index).out.encode()
    assert answer.status == 200
    assert PASSING.sub(b"", answer.body) == PASSING.sub(b"", printed)


def test_a_document_that_has_not_changed_is_not_sent_again(served: Served) -> None:
    first = served.get("/api/search?q=restore")
    again = served.get("/api/search?q=restore", If_None_Match=first.headers["etag"])
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    other = served.get("/api/search?q=vpn", If_None_Match=first.headers["etag"])
    assert other.status == 200


def test_a_changed_file_changes_the_name_of_a_document(served: Served) -> None:
    page = served.wiki.index.root / "network.md"
    before, text = served.get("/api/page/network").headers["etag"], page.read_text()
    try:
        page.write_text(text + "more\n")
        assert served.get("/api/page/network", If_None_Match=before).status == 200
    finally:
        page.write_text(text)


@pytest.mark.parametrize(
    "path, status, subject",
    [
        ("/api/search?q=", 400, ""),
        ("/api/search?q=a&limit=0", 400, "limit=0"),
        ("/api/search?q=a&limit=1001", 400, "limit=1001"),
        ("/api/search?q=a&color=red", 400, "color"),
        ("/api/search?q=a&since=never", 400, "never"),
        ("/api/search?q=a&topic=nte", 404, "nte"),
        ("/api/page/netwrok", 404, "netwrok"),
        ("/api/page/network%23vnp", 404, "network#vnp"),
        ("/api/changes?since=-1", 400, "since=-1"),
        ("/api/changes?since=999999", 400, "--since 999999"),
        ("/api/check?kind=odd", 400, "odd"),
        ("/api/nothing", 404, "/api/nothing"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_to_do(
    served: Served, path: str, status: int, subject: str
) -> None:
    answer = served.get(path)
    assert answer.status == status
    error = answer.json["error"]
    assert error.keys() == {"subject", "problem", "remedy"}
    assert error["subject"] == subject
    assert error["problem"]
    assert error["remedy"]
