"""docs/library.md: its examples print what stands below them and are typed; what it names is there."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import wikiq
from tests import documents
from tests.imports import REPOSITORY
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import environment

DOCUMENT = REPOSITORY / "docs" / "library.md"
NOTES = REPOSITORY / "tests" / "readme" / "notes"
EXAMPLES = list(zip(documents.blocks(DOCUMENT, "python"), documents.blocks(DOCUMENT, "text"), strict=True))


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    pages = {str(path.relative_to(NOTES)): path.read_text("utf-8") for path in NOTES.rglob("*.md")}
    return build_wiki(tmp_path_factory.mktemp("library"), pages)


@pytest.mark.parametrize("script, printed", EXAMPLES)
def test_an_example_prints_what_stands_below_it(wiki: BuiltWiki, script: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=wiki.index.root,
        env=environment(wiki.index.root.parent),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (printed, "")


@pytest.mark.slow
def test_a_strict_type_checker_takes_the_examples_of_this_and_of_the_readme(tmp_path: Path) -> None:
    readme = [block for block in documents.blocks(REPOSITORY / "README.md", "python") if "wikiq" in block]
    for number, script in enumerate([*(script for script, _ in EXAMPLES), *readme]):
        (tmp_path / f"example_{number}.py").write_text(script, "utf-8")
    settings = ["--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    names = sorted(path.name for path in tmp_path.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *settings, *names],
        cwd=tmp_path,
        env=environment(tmp_path, MYPYPATH=f"{REPOSITORY / 'cli'}:{REPOSITORY}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_every_name_in_the_document_is_there() -> None:
    text = DOCUMENT.read_text("utf-8")
    named = set(re.findall(r"`wikiq\.([\w.]+)\.(\w+)", text))
    assert ("answers.search", "search") in named
    for module, name in named:
        assert hasattr(import_module(f"wikiq.{module}"), name), f"wikiq.{module}.{name}"
    for name in re.findall(r"`wikiq\.(\w+)[(`]", text):
        assert hasattr(wikiq, name) or find_spec(f"wikiq.{name}") is not None


def test_what_the_package_offers_is_what_its_modules_hold() -> None:
    for name in wikiq.__all__:
        assert getattr(wikiq, name).__name__ == name
    assert not hasattr(wikiq, "nonsense")
