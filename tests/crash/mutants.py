"""Bugs planted in a copy of the project, one by one: each must be found by the form that stands for it.

`python -m tests.crash.mutants [--only TEXT …]`: prints bug, form and seconds; ends with status 1 where one
survives, does not fit the code any more, or where a form fails without any. Writes nothing but the copy.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.planted import PLANTED, Bug
from tests.imports import REPOSITORY

PATIENCE_S: Final = 120.0  # of one form; what hangs is found
NOT_COPIED: Final = ("__pycache__", ".*", "*.egg-info", "node_modules", "build", "dist")
PYTEST: Final = ("pytest", "-x", "-q", "-p", "no:cacheprovider")
PASSED, FAILED = 0, 1


def words_of(form: str) -> list[str]:
    """The command that plays a form."""
    words = shlex.split(form)
    if words[0].startswith("tests/"):
        return [sys.executable, "-m", *PYTEST, *words]
    return [sys.executable, "-m", f"tests.crash.{words[0]}", "--seed", "1", *words[1:]]


class Copy:
    """The project in a folder of its own, whose code is what its processes import."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / "copy"
        shutil.copytree(REPOSITORY, self._place, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        self._temporary = folder / "tmp"
        self._temporary.mkdir()

    def play(self, form: str) -> int | None:
        """The exit status of a form, None where it hangs."""
        paths = os.pathsep.join([str(self._place), str(self._place / "cli")])
        environ = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        environ |= {"TMPDIR": str(self._temporary)}
        running = subprocess.Popen(
            words_of(form),
            cwd=self._place,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return running.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, 9)
            running.wait()
            return None

    def plant(self, bug: Bug) -> int | None:
        """The status of the bug's form with the bug in. Raises ValueError where it does not fit."""
        path = self._place / bug.path
        text = path.read_text("utf-8")
        if text.count(bug.old) != 1:
            raise ValueError(f"its text stands {text.count(bug.old)} times in {bug.path}")
        path.write_text(text.replace(bug.old, bug.new), "utf-8")
        try:
            return self.play(bug.form)
        finally:
            path.write_text(text, "utf-8")


def chosen(words: Sequence[str]) -> list[Bug]:
    """The bugs whose names hold one of the texts, all without any."""
    return [bug for bug in PLANTED if not words or any(word in bug.name for word in words)]


def hunt(copy: Copy, bugs: Iterable[Bug]) -> Iterator[str]:
    """What is wrong with the forms or the bugs, one line each."""
    sound: dict[str, bool] = {}
    for bug in bugs:
        if bug.form not in sound:
            sound[bug.form] = copy.play(bug.form) == PASSED
            if not sound[bug.form]:
                yield f"{bug.form}: fails without any bug"
        began = time.monotonic()
        try:
            status = copy.plant(bug)
        except ValueError as error:
            yield f"{bug.name}: {error}"
            continue
        found = status in {None, FAILED}
        how = "found" if found else "SURVIVED"
        print(f"{how:8} {time.monotonic() - began:6.1f} s  {bug.name}: {bug.form}", flush=True)
        if not found:
            yield f"{bug.name}: exit {status} of {bug.form}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("mutants", __doc__)
    command.parser.add_argument("--only", nargs="+", default=(), help="bugs whose names hold one of these")
    options = command.parse(arguments)
    bugs = chosen(options.only)

    def play(folder: Path) -> dict[str, object]:
        return {"faults": list(hunt(Copy(folder), bugs)), "bugs": len(bugs)}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
