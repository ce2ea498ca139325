"""The manual page says what the command says, and is roff that formatters take."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.imports import REPOSITORY
from tests.tools.manual import render_manual
from wikiq.shell.options import COMMANDS

MANUAL = REPOSITORY / "docs" / "wikiq.1"


def test_the_page_in_docs_is_what_the_tables_make() -> None:
    assert MANUAL.read_text("utf-8") == render_manual(), "run `python -m tests.tools.manual > docs/wikiq.1`"


def test_every_command_is_described() -> None:
    text = render_manual()
    assert [name for name in COMMANDS if f".SS wikiq {name}" not in text] == []
    assert ".B \\-\\-since CURSOR" in text
    assert "Also: \\-\\-topic," in text


@pytest.mark.parametrize("formatter", [["groff", "-man", "-ww", "-z"], ["mandoc", "-Tlint", "-Wwarning"]])
def test_formatters_have_nothing_to_say(formatter: list[str]) -> None:
    if shutil.which(formatter[0]) is None:
        pytest.skip(f"{formatter[0]} is not installed")
    done = subprocess.run([*formatter, str(MANUAL)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
