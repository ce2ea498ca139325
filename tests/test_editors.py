"""Every recipe of docs/editors.md is run in its program, over the wiki of README."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from tests.imports import REPOSITORY
from tests.terminal import Screen

RECIPES: Final = dict(
    re.findall(
        r"^```(\w+)\n(.*?)^```$",
        (REPOSITORY / "docs" / "editors.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
WORDS: Final = "restore a single table"
BEST: Final = "runbooks/backup.md:24"
LIMIT_S: Final = 60

pytestmark = pytest.mark.slow


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with the wiki of README, indexed; its path leaves room for that of a socket."""
    with TemporaryDirectory(prefix="edit-") as folder:
        shutil.copytree(REPOSITORY / "tests" / "readme" / "notes", Path(folder) / "notes")
        run(Path(folder), "indexerd", "build", "notes", cwd="")
        yield Path(folder)


def environment(home: Path) -> dict[str, str]:
    folders = (home / "bin", Path(sys.executable).parent, "/usr/bin", "/bin")
    return {"HOME": str(home), "PATH": ":".join(map(str, folders)), "TERM": "xterm", "LANG": "C.UTF-8"}


def run(home: Path, *words: str, cwd: str = "notes") -> str:
    """What a program of the wiki's user prints."""
    done = subprocess.run(
        words, cwd=home / cwd, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=LIMIT_S, check=True,
    )  # fmt: skip
    return done.stdout + done.stderr


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: make strangers")


@pytest.mark.parametrize("editor", [("vim", "-Nes"), ("nvim", "--headless")], ids=lambda words: words[0])
def test_vim_fills_its_quickfix_list_and_stands_at_the_match(home: Path, editor: tuple[str, ...]) -> None:
    need(editor[0])
    (home / "wiki.vim").write_text(RECIPES["vim"])
    tell = "call writefile([bufname('%') .. ':' .. line('.'), len(getqflist())], '../told')"
    run(home, *editor, "-u", "../wiki.vim", f"+Wiki {WORDS}", f"+{tell}", "+qa!")
    assert (home / "told").read_text() == f"{BEST}\n2\n"


def test_emacs_goes_to_the_match(home: Path) -> None:
    need("emacs")
    (home / "wiki.el").write_text(RECIPES["elisp"])
    go = f"""(progn (wiki-search "{WORDS}")
        (while compilation-in-progress (accept-process-output nil 0.1))
        (next-error) (set-buffer (window-buffer))
        (princ (format "%s:%d" (file-relative-name buffer-file-name "~/notes") (line-number-at-pos))))"""
    assert run(home, "emacs", "--batch", "-Q", "-l", "../wiki.el", "--eval", go).startswith(BEST)


def test_the_pattern_for_vs_code_reads_every_line_that_its_command_prints(home: Path) -> None:
    (task,) = json.loads(RECIPES["json"])["tasks"]
    words = [word.replace("${input:words}", WORDS) for word in (task["command"], *task["args"])]
    pattern = task["problemMatcher"]["pattern"]
    lines = [line for line in run(home, *words).splitlines() if not line.startswith("wikiq: ")]
    found = [re.fullmatch(pattern["regexp"], line) for line in lines]
    assert len(found) == 2
    assert all(found)
    assert found[0] is not None
    assert f"{found[0][pattern['file']]}:{found[0][pattern['line']]}" == BEST


@pytest.fixture
def wiki_script(home: Path) -> Path:
    """The script of the recipe for fzf, and an editor that only writes down what it is asked for."""
    need("fzf")
    (home / "bin").mkdir()
    for name, text in (("wiki", RECIPES["sh"]), ("vi", '#!/bin/sh\necho "$@" > ~/opened.new\n')):
        (home / "bin" / name).write_text(text + "mv ~/opened.new ~/opened 2>/dev/null\n" * (name == "vi"))
        (home / "bin" / name).chmod(0o755)
    return home / "bin" / "wiki"


def test_fzf_searches_while_one_types_shows_the_section_and_opens_it(home: Path, wiki_script: Path) -> None:
    screen = Screen([str(wiki_script)], home / "notes", environment(home))
    screen.read_until(lambda _: "First week" in screen.written)
    screen.type(b"invoices table")
    screen.read_until(lambda _: "1/1" in screen.written and "--table invoices" in screen.written)
    screen.type(b"\r")
    screen.read_until(lambda _: (home / "opened").exists())
    assert (home / "opened").read_text() == f"+24 -- {home / 'notes' / 'runbooks' / 'backup.md'}\n"
    screen.type(b"\x1b")
    screen.end()


def test_tmux_shows_the_search_over_the_pane(home: Path, wiki_script: Path) -> None:
    need("tmux")
    # What is typed as fast as here would be taken for pasted, and no key.
    (home / ".tmux.conf").write_text(RECIPES["tmux"] + "\nset -g assume-paste-time 0\n")
    tmux = ["tmux", "-S", str(home / "tmux"), "-f", str(home / ".tmux.conf")]
    screen = Screen([*tmux, "new-session", "exec cat"], home / "notes", environment(home))
    try:
        screen.read_until(lambda _: "[0] 0:" in screen.written)
        screen.type(b"\x02W")
        screen.read_until(lambda _: "Backup and restore" in screen.written)
    finally:
        run(home, *tmux, "kill-server")
    screen.end()
