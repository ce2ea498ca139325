"""Shells complete `indexerd` through the scripts that it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("indexerd")


def asked(tmp_path: Path, words: str, at: int) -> list[str]:
    told = {"_INDEXERD_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]} | told
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_commands_options_and_folders_are_answered(tmp_path: Path) -> None:
    assert asked(tmp_path, "indexerd bu", 1) == ["plain,build"]
    assert asked(tmp_path, "indexerd service inst", 2) == ["plain,install"]
    assert asked(tmp_path, "indexerd build --ext", 2) == ["plain,--extensions"]
    assert asked(tmp_path, "indexerd build no", 2) == ["file,no"]


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_every_shell_gets_a_script_that_it_can_read(tmp_path: Path, shell: str) -> None:
    words = [str(PROGRAM), "completion", shell]
    path = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    script = subprocess.run(words, env=path, capture_output=True, text=True, check=True).stdout
    assert f"_INDEXERD_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed, so its script is only looked at")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)
