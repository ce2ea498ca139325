"""Mentions of files outside the wiki, and the sources of a page."""

from __future__ import annotations

import pytest

from indexerd.core.model import Mention, Page, ProjectionOptions, Source
from indexerd.core.page.mentions import code_mention
from indexerd.core.project import project_page


def page(text: str, path: str = "notes/p.md", prefix: str = "") -> Page:
    return project_page(text.encode(), path, ProjectionOptions(repository_prefix=prefix))


def mentioned(text: str, path: str = "notes/p.md", prefix: str = "") -> list[str]:
    return [mention.path for mention in page(text, path, prefix).mentions]


SOURCES = """---
sources:
- {id: proc, type: file, path: src/App/Process.py, title: The process, note: read first}
- {id: dir, type: file, target: ./src\\\\app//runs/}
- {id: site, type: web, url: 'https://e.example/x'}
- {type: Commit, target: 1a2b3c}
- src/plain.py
- {id: none, type: conversation}
- {id: out, type: file, path: ../../etc/passwd}
- [what]
---
"""


def test_sources_are_kept_and_those_that_are_files_are_mentions() -> None:
    found = page(SOURCES)
    assert found.sources == (
        Source("proc", "file", "src/App/Process.py", "The process", "read first"),
        Source("dir", "file", "./src\\\\app//runs/"),
        Source("site", "web", "https://e.example/x"),
        Source("4", "commit", "1a2b3c"),
        Source("5", "file", "src/plain.py"),
        Source("none", "conversation", ""),
        Source("out", "file", "../../etc/passwd"),
    )
    assert found.mentions == (
        Mention("src/app/process.py", "src/App/Process.py", is_dir=False, origin="source"),
        Mention("src/app/runs", "./src\\\\app//runs/", is_dir=True, origin="source"),
        Mention("src/plain.py", "src/plain.py", is_dir=False, origin="source"),
    )
    problems = [each.message for each in found.diagnostics if each.kind == "source_invalid"]
    assert len(problems) == 2
    assert "source 8" in problems[0]
    assert "'../../etc/passwd' leaves the repository" in problems[1]


@pytest.mark.parametrize(
    "block, problems", [("sources: x", 1), ("sources:", 0), ("sources: []", 0), ("other: x", 0)]
)
def test_sources_that_are_no_list_are_said(block: str, problems: int) -> None:
    found = page(f"---\n{block}\n---\n# A\n")
    assert found.sources == ()
    assert [each.kind for each in found.diagnostics] == ["source_invalid"] * problems


@pytest.mark.parametrize(
    "text, found",
    [
        ("[x](../src/app/main.py)", ["src/app/main.py"]),
        ("[x](main.py)", ["notes/main.py"]),
        ("[x](/Main.PY#L3)", ["main.py"]),
        ("[x](my%20file.txt)", ["notes/my file.txt"]),
        ("[x][r]\n\n[r]: ../a.c", ["a.c"]),
        ("[[src/app/main.py]] [[src/app/]] [[src/app/page.md]] [[main.py]]", ["src/app/main.py", "src/app"]),
        ("[x](../other.md) [x](dir/) [x](dir) [x](v1.2) [x](#a) [x](api/system.datetime)", []),
        ("![x](pic.png) ![[pic.png]] <https://e.example/x.py> [x](https://e.example/x.py)", []),
        ("[x](../../x.py) [x](../../)", []),
    ],
)
def test_a_link_to_a_file_that_is_no_page_is_a_mention(text: str, found: list[str]) -> None:
    assert mentioned(text) == found


@pytest.mark.parametrize(
    "target, found",
    [
        ("../../../src/main.py", ["src/main.py"]),
        ("../../../LICENSE", ["license"]),
        ("../../other.md", ["docs/other.md"]),
        ("../../../../x.py", []),
        ("/x.py", ["docs/wiki/x.py"]),
        ("x.py", ["docs/wiki/notes/x.py"]),
        ("../b.md", []),
    ],
)
def test_links_are_kept_relative_to_the_repository(target: str, found: list[str]) -> None:
    assert mentioned(f"[x]({target})", prefix="docs/wiki/") == found


@pytest.mark.parametrize(
    "code, path",
    [
        ("src/app/main.py", "src/app/main.py"),
        ("src/app/", "src/app"),
        ("src/", "src"),
        ("./a.py", "a.py"),
        ("src\\app\\Main.cs", "src/app/main.cs"),
        ("src/a.py:12", "src/a.py"),
        ("src/a.py:12-15", "src/a.py"),
        ("src/a.py#L3-L9", "src/a.py"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        ("größe/maß.py", "grösse/mass.py"),
        ("a/./b/../c.py", "a/c.py"),
        ("main.py", None),
        ("and/or", None),
        ("application/json", None),
        ("1/2", None),
        ("/etc/hosts.conf", None),
        ("~/x.py", None),
        ("../x.py", None),
        ("a/../../x.py", None),
        ("C:\\x\\y.txt", None),
        ("https://e.example/x.py", None),
        ("//host/x.py", None),
        ("*.py", None),
        ("src/*.py", None),
        ("src/${x}.py", None),
        ("python src/a.py", None),
        ("cd\\", None),
        ("", None),
        ("/", None),
    ],
)
def test_a_code_span_that_looks_like_a_path_is_a_mention(code: str, path: str | None) -> None:
    found = code_mention(code, 3)
    assert (found.path if found else None) == path
    assert found is None or (found.origin, found.ordinal) == ("code", 3)


def test_each_file_is_there_once_a_section_and_origin() -> None:
    text = "`src/A.py` and `src/a.py`\n\n# X\n\n`src/a.py` [a](../src/a.py)\n\n```\n`src/b.py`\n```\n"
    assert [(each.original_path, each.origin, each.ordinal) for each in page(text).mentions] == [
        ("../src/a.py", "link", 1),
        ("src/A.py", "code", 0),
        ("src/a.py", "code", 1),
    ]
