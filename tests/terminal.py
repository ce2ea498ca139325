"""Runs a command on a terminal of its own and gives what a person would see on it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
WINDOW: Final = (40, 100)  # rows, columns: a new terminal has none


def read_all(descriptor: int) -> bytes:
    """Everything written to the other side, until it is closed."""
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # EIO: Linux says so when the last writer has gone
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def visible(output: str) -> str:
    """What stays on the screen: no escape sequences, and of a line redrawn in place the last state."""
    lines = ESCAPES.sub("", output.replace("\r\n", "\n")).split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines)


def run_on_terminal(command: str, cwd: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and visible output of a shell command."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, WINDOW)
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        output = read_all(ours)
        return process.wait(), visible(output.decode())
    finally:
        os.close(ours)
