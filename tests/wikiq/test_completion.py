"""Completion: what a beginning goes on to, and that shells get it through the scripts they are given."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexerd.contract.which_index import KnownIndex
from tests.wikiq.asking import answer
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import environment, run_wikiq
from wikiq.answers.completion import complete_pages, complete_sections, complete_topics, complete_wikis
from wikiq.index.database import Database, open_database

PAGES = {
    "guide/install.md": "---\ntags: [howto, hardware]\naliases: [Setting up]\n---\n# Install\n\n## Linux\n",
    "guide/index.md": "# Guide\n\n## One\n\n## Once\n",
    "glossary.md": "# Words\n",
    'notes/Don\'t panic, "read" $HOME & `this`.md': "# Panic\n",
}
PANIC = 'notes/Don\'t panic, "read" $HOME & `this`'


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    return build_wiki(tmp_path_factory.mktemp("completion"), PAGES)


@pytest.fixture
def database(wiki: BuiltWiki) -> Iterator[Database]:
    opened = open_database(str(wiki.index.db))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "beginning, expected",
    [
        ("", ["glossary", "guide", "guide/install", PANIC]),
        ("g", ["glossary", "guide", "guide/install"]),
        ("guide/", ["guide/install"]),
        ("Sett", ["setting up"]),
        ("inst", ["install"]),
        ("guide#", ["guide#guide", "guide#one", "guide#once"]),
        ("guide#on", ["guide#one", "guide#once"]),
        ("gone#", []),
        ("zz", []),
    ],
)
def test_pages_go_on_by_slug_then_by_name_and_after_a_sign_by_section(
    database: Database, beginning: str, expected: list[str]
) -> None:
    assert [candidate.text for candidate in answer(database, complete_sections, beginning)] == expected


def test_topics_go_on_by_their_beginning(database: Database) -> None:
    assert [candidate.text for candidate in answer(database, complete_topics, "h")] == ["hardware", "howto"]
    assert [candidate.text for candidate in answer(database, complete_topics, "how")] == ["howto"]
    assert answer(database, complete_pages, "glos")[0].meaning == "Words"


def _answers(wiki: BuiltWiki, shell: str, words: str, at: str) -> list[str]:
    done = run_wikiq(index=wiki.index, _WIKIQ_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=at)
    assert (done.status, done.err) == (0, "")
    return done.out.splitlines()


def test_commands_pages_and_options_are_answered(wiki: BuiltWiki) -> None:
    assert _answers(wiki, "bash", "wikiq out", "1") == ["plain,outline"]
    assert _answers(wiki, "bash", "wikiq outline guide/", "2") == ["plain,guide/install"]
    assert _answers(wiki, "bash", "wikiq search --topic how", "3") == ["plain,howto"]
    assert _answers(wiki, "bash", "wikiq pages --links-to glo", "3") == ["plain,glossary"]
    assert _answers(wiki, "fish", "wikiq show glo", "glo")[0].startswith("plain")


def test_kinds_of_problems_and_wikis_are_answered(wiki: BuiltWiki) -> None:
    assert _answers(wiki, "bash", "wikiq check --kind orp", "3") == ["plain,orphan"]
    assert _answers(wiki, "bash", "wikiq search --wiki ", "3") == ["plain,wiki"]
    assert _answers(wiki, "bash", "wikiq search --wiki no", "3") == [""]


def test_wikis_of_one_name_are_completed_by_their_folders() -> None:
    known = [KnownIndex(path=f"{root}.db", root=root, wiki=root[-1:]) for root in ("/a/x", "/b/x", "/b/y")]
    assert [candidate.text for candidate in complete_wikis(known, "")] == ["/a/x", "/b/x", "y"]
    assert [candidate.text for candidate in complete_wikis(known, "x")] == ["/a/x", "/b/x"]
    assert [candidate.text for candidate in complete_wikis(known, "/b")] == ["/b/x", "y"]


def test_without_an_index_nothing_is_said(tmp_path: Path) -> None:
    asked = {"_WIKIQ_COMPLETE": "bash_complete", "COMP_WORDS": "wikiq show a", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-m", "wikiq.main"],
        env=environment(tmp_path, **asked),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\n", b"")  # an empty list


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_every_shell_gets_a_script_that_it_can_read(wiki: BuiltWiki, shell: str, tmp_path: Path) -> None:
    done = run_wikiq("completion", shell, index=wiki.index)
    assert done.status == 0
    assert f"_WIKIQ_COMPLETE={shell}_complete" in done.out
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed, so its script is only looked at")
    script = tmp_path / "script"
    script.write_text(done.out)
    subprocess.run([shell, "-n", str(script)], check=True)


def _bash_completes(wiki: BuiltWiki, typed: str) -> str:
    """The word that bash has once it has completed `typed` after `wikiq show`, and closed its quote."""
    opened = typed[:1] if typed[:1] in ("'", '"') else ""
    line = (
        f'eval "$(wikiq completion bash)"; COMP_WORDS=(wikiq show {shlex.quote(typed)}); COMP_CWORD=2;'
        ' _wikiq_completion wikiq show; printf "%s" "${COMPREPLY[@]}"'
    )
    replied = _run_bash(wiki, line)
    return _run_bash(wiki, f'printf "%s" {opened}{replied}{opened}')


def _run_bash(wiki: BuiltWiki, script: str) -> str:
    folder = Path(sys.executable).parent
    variables = environment(wiki.index.root.parent, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
    words = ["bash", "-c", script]
    done = subprocess.run(
        words, env=variables, cwd=wiki.index.root, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    "typed, completed",
    [
        ("glo", "glossary"),
        ("notes/D", PANIC),
        ("'notes/D", PANIC),
        ('"notes/D', PANIC),
        ("notes/Don\\'t\\ pa", PANIC),
    ],
)
def test_bash_puts_in_a_name_as_one_word_whatever_is_in_it(
    wiki: BuiltWiki, typed: str, completed: str
) -> None:
    assert _bash_completes(wiki, typed) == completed


def test_an_unknown_shell_is_a_mistake(wiki: BuiltWiki) -> None:
    assert run_wikiq("completion", "tcsh", index=wiki.index).status == 2
