"""What the command prints is an interface: sessions in tests/transcripts, compared byte for byte.

`$ wikiq …` is run with its output piped, `% wikiq …` on a terminal, where an escape is shown as `^[`.
Then come the lines of stdout, those of stderr after `! `, and the exit status after `=> ` unless it
is 0; `;` begins a remark. A daemon is running. To write down what is printed now, run the test with
WRITE_TRANSCRIPTS=1, and read the diff.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.imports import REPOSITORY
from tests.wikiq.running import run_on_screen, run_wikiq, running_daemon
from tests.wikiq.sample_index import SampleIndex

TRANSCRIPTS = sorted((REPOSITORY / "tests" / "transcripts").glob("*.txt"))
COMMAND = re.compile(r"[$%] wikiq\b(.*)")
# The only fields that differ from run to run, and the age below hits.
CLOCK = re.compile(r'("(?:age_s|took_ms)": |\N{MIDDLE DOT} )[0-9.]+(?= (?:s|min|h|d) old|[,}])')
OLD = re.compile(r"\b0 (?:s|min|h|d) old")


def replayed(text: str, index: SampleIndex) -> Iterator[str]:
    """The lines of a transcript, with every command run anew."""
    for line in text.splitlines():
        found = COMMAND.fullmatch(line)
        if found:
            yield line
            yield from printed(line[0], shlex.split(found[1]), index)
            yield ""
        elif line.startswith(";"):
            yield line


def printed(prompt: str, arguments: list[str], index: SampleIndex) -> Iterator[str]:
    """What one command prints, as a transcript shows it."""
    if prompt == "%":
        status, shown = run_on_screen(*arguments, index=index)
        out, err = shown.decode().replace("\r\n", "\n").replace("\x1b", "^["), ""
    else:
        done = run_wikiq(*arguments, index=index)
        status, out, err = done.status, done.out, done.err
    place = str(index.root.parent)
    yield from (
        OLD.sub("0 s old", CLOCK.sub(r"\g<1>0", out.replace(place, "~"))).removesuffix("\n").split("\n")
        if out
        else ()
    )
    yield from (f"! {line}" for line in err.replace(place, "~").splitlines())
    if status:
        yield f"=> {status}"


@pytest.mark.slow
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_session_prints_what_it_printed(index: SampleIndex, path: Path) -> None:
    text = path.read_text("utf-8")
    with running_daemon(index):
        now = "\n".join(replayed(text, index)).rstrip("\n") + "\n"
    if os.environ.get("WRITE_TRANSCRIPTS"):
        path.write_text(now, "utf-8")
    assert now == text
