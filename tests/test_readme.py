"""The README is run: every `$ command` in a console block, against a small wiki, output compared.

`…` in the README stands for anything on one line: times and ages differ from run to run. Python
blocks are run too; each prints the text block after it. What installs or starts services is not run;
its make targets must exist.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from tests.imports import REPOSITORY
from tests.terminal import run_on_terminal

README: Final = (REPOSITORY / "README.md").read_text("utf-8")
NOTES: Final = REPOSITORY / "tests" / "readme" / "notes"
DAEMON_S: Final = 30.0  # for a daemon over three pages to be ready, on a busy machine
BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the README and what it says below it."""

    command: str
    output: str


def blocks(kind: str) -> list[str]:
    return [text for language, text in BLOCK.findall(README) if language == kind]


def steps(block: str) -> list[Step]:
    """The commands of a console block, each with the lines up to the next one."""
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        found.append(Step(command, output.rstrip("\n")))
    return found


def expression(output: str) -> re.Pattern[str]:
    """The output as a pattern, where `…` is anything on one line."""
    return re.compile(r"[^\n]*".join(re.escape(part) for part in output.split("…")))


@pytest.fixture
def home() -> Iterator[Path]:
    """A home folder with the wiki of the README in it; its path leaves room for that of a socket."""
    with TemporaryDirectory(prefix="readme-") as folder:
        shutil.copytree(NOTES, Path(folder) / "notes")
        for number, path in enumerate(sorted((Path(folder) / "notes").rglob("*.md"))):
            moment = 1_780_000_000 + number  # listings are ordered by time
            os.utime(path, (moment, moment))
        yield Path(folder)


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """A terminal of a user whose home folder it is."""
    return {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "TERM": "xterm",
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PAGER": "cat",
    }


@contextmanager
def running_below(cwd: Path, command: str, environment: dict[str, str]) -> Iterator[None]:
    """A daemon that the README starts in the background, once it answers; ended with the block."""
    daemon = subprocess.Popen(["/bin/sh", "-c", f"exec {command}"], cwd=cwd, env=environment)
    try:
        give_up = time.monotonic() + DAEMON_S
        while run_on_terminal("wikiq sync", cwd, environment)[0] != 0:
            assert daemon.poll() is None
            assert time.monotonic() < give_up
        yield
    finally:
        daemon.terminate()
        daemon.wait()


@pytest.mark.slow
def test_every_command_gives_the_output_that_the_readme_shows(
    home: Path, environment: dict[str, str]
) -> None:
    cwd = home
    ran = 0
    with ExitStack() as background:
        for step in (step for block in blocks("console") for step in steps(block)):
            if step.command.startswith("cd "):
                cwd = cwd / step.command.removeprefix("cd ")
            elif step.command.endswith(" &"):
                background.enter_context(running_below(cwd, step.command.removesuffix(" &"), environment))
            else:
                _, output = run_on_terminal(step.command, cwd, environment)
                shown = output.strip("\n").replace(str(home), "/home/ann")
                assert expression(step.output).fullmatch(shown), f"$ {step.command}\n{shown}"
                ran += 1
    assert ran >= 5


@pytest.mark.slow
def test_the_python_of_the_readme_prints_what_stands_below_it(
    home: Path, environment: dict[str, str]
) -> None:
    scripts = list(zip(blocks("python"), blocks("text"), strict=True))
    assert scripts
    run_on_terminal("indexerd build .", home / "notes", environment)
    for script, expected in scripts:
        (home / "read.py").write_text(script, "utf-8")
        status, output = run_on_terminal("python ../read.py", home / "notes", environment)
        assert (status, output) == (0, expected)


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    used = set(re.findall(r"^make ([a-z]+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert {"run", "test"} <= used <= targets


@pytest.mark.parametrize(
    "typed, meant",
    [("WIKI=~/My notes", "/home/ann/My notes"), ('WORDS=what\'s a "run" $$1', 'what\'s a "run" $1')],
)
def test_what_make_is_given_reaches_the_command_as_it_was_typed(typed: str, meant: str) -> None:
    name = typed.partition("=")[0]
    show = ["make", "--silent", f'--eval=show: ; @printf %s "$${name}"', "show", typed]
    environment = {**os.environ, "HOME": "/home/ann"}
    shown = subprocess.run(show, cwd=REPOSITORY, env=environment, capture_output=True, check=True).stdout
    assert shown.decode() == meant


def test_every_file_the_readme_points_to_exists() -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", BLOCK.sub("", README))
    assert targets
    assert [target for target in targets if not (REPOSITORY / target).exists()] == []


def test_an_ellipsis_stands_for_anything_on_one_line() -> None:
    assert expression("took … ms").fullmatch("took 6.3 ms")
    assert not expression("took … ms").fullmatch("took 6\n3 ms")
    assert steps("$ a\nb\n\nc\n$ d\n") == [Step("a", "b\n\nc"), Step("d", "")]
