"""The log's two forms, and that no event can break a line or steer a terminal."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from indexerd.command.logs import configure_logs, get_logger


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_than_on_a_terminal_an_event_is_one_json_line() -> None:
    out = io.StringIO()
    configure_logs(out)
    get_logger().info("page.skipped", path="a\n\x1b[2J\udcff.md", line=3)
    event = json.loads(out.getvalue())
    assert out.getvalue().count("\n") == 1
    assert (event["event"], event["level"], event["line"]) == ("page.skipped", "info", 3)
    assert event["path"] == r"a\x0a\x1b[2J\xff.md"
    assert event["timestamp"].endswith("Z")


def test_on_a_terminal_an_event_is_readable_and_harmless() -> None:
    out = Terminal()
    configure_logs(out)
    get_logger().info("page.skipped", path="\x1b]52;c;x\x07\u202e.md")
    assert "page.skipped" in out.getvalue()
    assert "\x1b]" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


@pytest.mark.parametrize("is_journal, prefixes", [(True, ["<6>{", "<4>{", "<3>{"]), (False, ["{"] * 3)])
def test_a_line_for_the_journal_says_its_priority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_journal: bool, prefixes: list[str]
) -> None:
    with (tmp_path / "stderr").open("w") as out:
        facts = os.fstat(out.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{facts.st_dev}:{facts.st_ino + (not is_journal)}")
        configure_logs(out)
        for level in ("info", "warning", "error"):
            getattr(get_logger(), level)("batch.committed")
    lines = (tmp_path / "stderr").read_text().splitlines()
    assert [line[: line.index("{") + 1] for line in lines] == prefixes


def test_a_quiet_log_keeps_warnings() -> None:
    out = io.StringIO()
    configure_logs(out, quiet=True)
    get_logger().info("batch.committed")
    get_logger().warning("page.failed")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["page.failed"]


def test_a_bug_keeps_its_traceback_in_lines_only_on_a_terminal() -> None:
    out = io.StringIO()
    configure_logs(out)
    try:
        raise ValueError("bug")
    except ValueError:
        get_logger().exception("page.failed")
    assert "Traceback" in json.loads(out.getvalue())["exception"]
    assert out.getvalue().count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_log_on_a_full_disk_ends_nothing() -> None:
    out = os.fdopen(os.open("/dev/full", os.O_WRONLY), "w", buffering=1)
    configure_logs(out)
    get_logger().warning("batch.failed", reason="the disk is full")
    with pytest.raises(OSError, match="No space"):
        out.close()
