"""A session of an agent in text, compared byte for byte: tests/transcripts/mcp/session.txt.

To write down what is answered now, run the test with WRITE_TRANSCRIPTS=1, and read the diff.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from tests.imports import REPOSITORY
from tests.wikiq.mcp.session import Session
from tests.wikiq.running import environment, running_daemon
from tests.wikiq.sample_index import SampleIndex

TRANSCRIPT = REPOSITORY / "tests" / "transcripts" / "mcp" / "session.txt"


def replayed(text: str, session: Session, place: str) -> Iterator[str]:
    """The lines of the transcript, with every call made anew; `place` is where the wiki lies today."""
    for line in text.splitlines():
        if line.startswith("> "):
            name, _, arguments = line[2:].partition(" ")
            result = session.request("tools/call", name=name, arguments=json.loads(arguments))["result"]
            sign = "! " if result.get("isError") else ""
            yield line
            yield from (
                f"{sign}{row}" for row in result["content"][0]["text"].replace(place, "~").split("\n")
            )
            yield ""
        elif line.startswith(";"):
            yield line


def test_a_session_answers_what_it_answered(index: SampleIndex) -> None:
    text = TRANSCRIPT.read_text("utf-8")
    place = str(index.root.parent)
    with (
        running_daemon(index),
        Session("--db", str(index.db), cwd=index.root, environ=environment(index.root.parent)) as session,
    ):
        now = "\n".join(replayed(text, session, place)).rstrip("\n") + "\n"
    if os.environ.get("WRITE_TRANSCRIPTS"):
        TRANSCRIPT.write_text(now, "utf-8")
    assert now == text
