"""Runs a command on a terminal of its own and gives what a person would see on it."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
LIMIT_S: Final = 60.0  # for what is awaited on a screen, on a busy machine
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
    status, output = run_coloured(command, cwd, environment, WINDOW)
    return status, visible(output)


def run_coloured(
    command: str, cwd: Path, environment: Mapping[str, str], window: tuple[int, int]
) -> tuple[int, str]:
    """Exit status and output, with its escape sequences, on a terminal of that size (rows, columns)."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, window)
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
        return process.wait(), output.decode().replace("\r\n", "\n")
    finally:
        os.close(ours)


class Screen:
    """A command on a terminal of its own, from its start to its end, for a test that types."""

    def __init__(self, command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        self.pid, self._terminal = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execvpe(command[0], list(command), environment)
        termios.tcsetwinsize(self._terminal, WINDOW)
        self._shown = b""

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._terminal, keys)

    @property
    def written(self) -> str:
        """Every text that was written to the screen, also what was written over since."""
        return ESCAPES.sub("", self._shown.decode(errors="replace"))

    def read_until(self, is_there: Callable[[str], bool]) -> str:
        """What has been shown once `is_there` says so, or all of it at the end."""
        give_up_at = time.monotonic() + LIMIT_S
        while not is_there(visible(self._shown.decode(errors="replace"))):
            assert time.monotonic() < give_up_at, self._shown
            if not select.select([self._terminal], [], [], 0.1)[0]:
                continue
            try:
                part = os.read(self._terminal, 65536)
            except OSError:  # EIO: the last writer has gone
                break
            if not part:
                break
            self._shown += part
        return visible(self._shown.decode(errors="replace"))

    def end(self) -> tuple[int, str]:
        """Exit status, and all that was shown."""
        shown = self.read_until(lambda _: False)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), shown
