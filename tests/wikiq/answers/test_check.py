"""`wikiq check`: each kind of problem is found once, and what is right is not reported."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from indexerd.contract.toml import WIKI_SETTINGS_BYTES
from indexerd.core.model import TopicDeclaration
from tests.imports import REPOSITORY
from tests.wikiq.asking import answer
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import run_on_screen, run_wikiq
from wikiq.answers.check import TITLES, CheckResult, check, only_kinds
from wikiq.errors import UsageError
from wikiq.index.database import open_database
from wikiq.index.tree_names import find_repository

SOUND = {
    "README.md": "# Start\n\n[toc](toc.md) [a](a.md#part) [[b#Deep part]] ![p](img/pic.png) `src/main.py`\n",
    "a.md": "# A\n\n## Part\n\n[start](README.md), [folder](img/), [out](https://x.org/x#y), `no/file.py`\n",
    "b.md": "---\naliases: [Bee]\n---\n# B\n\n## Deep part\n\ntext ^block\n\n[[a]] [[#^block]] [[Bee]]\n",
    "de/settings.md": "---\naliases: [Settings]\n---\n# Einstellungen\n\n## Dateien\n\n[[README]]\n",
    "en/settings.md": "# Settings\n\n## Files\n\n[[Settings#Dateien]] [[Settings#Files]] [b](../b.md)\n",
    "toc.md": "# Pages\n\n[toc](toc.md) [e](en/settings.md) [d](de/settings.md#dateien)\n",
}
BROKEN = {
    "README.md": "# Start\n\n[a](a.md) [b](b.md) [[c]] [d](d.md)\n",
    "a.md": "# A\n\n[gone](gone.md)\n[wrong](b.md#no)\n\n![lost](lost.png) [[None]]\n\n![[lost.pdf]]\n",
    "b.md": "---\naliases: [Same]\nsources: [{type: file, path: src/gone.py}]\n---\n\n# B\n`src/old.py`\n",
    "c.md": "---\naliases: [same]\n---\n# C\n\n[[b#^none]] [up](../../x.md)\n",
    "d.md": "## \n",
    "lonely.md": "no heading and nobody comes\n",
    "e (conflicted copy 2024-01-01).md": "# E\n\n[d](d.md)\n",
}


def checked(wiki: BuiltWiki, repository: str | None = None) -> CheckResult:
    database = open_database(str(wiki.index.db))
    try:
        return answer(database, check, repository=repository)
    finally:
        database.close()


@pytest.fixture
def sound(tmp_path: Path) -> BuiltWiki:
    wiki = build_wiki(tmp_path, SOUND)
    for name in ("img/pic.png", "src/Main.py"):
        (wiki.index.root / name).parent.mkdir(exist_ok=True)
        (wiki.index.root / name).write_bytes(b"")
    return wiki


def test_a_sound_wiki_has_no_problems(sound: BuiltWiki) -> None:
    assert checked(sound).problems == ()
    done = run_wikiq("check", index=sound.index)
    assert (done.status, done.out) == (0, "")


def test_every_problem_is_found_once_with_its_line_and_a_remedy(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, BROKEN)
    wiki.bring(BROKEN, topics=(TopicDeclaration("unused", None, None, ()),))
    (wiki.index.root / "src").mkdir()
    (wiki.index.root / ".git").mkdir()
    found = checked(wiki)
    places = [(problem.kind, problem.path, problem.line) for problem in found.problems]
    assert places == [
        ("broken_link", "a.md", 3),
        ("broken_link", "a.md", 6),
        ("broken_link", "c.md", 6),
        ("broken_fragment", "a.md", 4),
        ("broken_fragment", "c.md", 6),
        ("broken_embed", "a.md", 6),
        ("broken_embed", "a.md", 8),
        ("dead_mention", "b.md", None),
        ("dead_mention", "b.md", 6),
        ("orphan", "e (conflicted copy 2024-01-01).md", None),
        ("orphan", "lonely.md", None),
        ("empty_page", "d.md", None),
        ("empty_topic", "topics.yaml", None),
        ("duplicate_alias", "c.md", None),
        ("conflict_copy", "e (conflicted copy 2024-01-01).md", None),
        ("no_headings", "lonely.md", None),
    ]
    assert (found.counts["broken_link"], found.broken, found.ignored) == (3, 9, 0)
    assert sum(found.counts.values()) == len(places)
    assert all(problem.message and problem.remedy for problem in found.problems)


def test_mentions_are_looked_up_in_the_repository(tmp_path: Path, sound: BuiltWiki) -> None:
    assert find_repository(str(sound.index.root)) == str(sound.index.root)
    (tmp_path / ".git").mkdir()
    assert find_repository(str(sound.index.root)) == str(tmp_path.resolve())
    assert checked(sound).repository == str(tmp_path.resolve())
    with pytest.raises(UsageError):
        checked(sound, repository=str(tmp_path / "nowhere"))


def test_what_the_build_of_a_site_fills_in_is_not_broken(tmp_path: Path) -> None:
    pages = {"README.md": "# Start\n\n[[toc]] [[_TOC_]] @[code](@snippets/run.sh) [x](@gone) [[tocs]]\n"}
    found = checked(build_wiki(tmp_path, pages)).problems
    assert [problem.message.split("'")[1] for problem in found if problem.kind == "broken_link"] == [
        "@gone",
        "tocs",
    ]


def test_the_command_prints_fields_documents_and_kinds(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, BROKEN)
    plain = run_wikiq("check", index=wiki.index)
    assert plain.status == 1
    assert plain.out.splitlines()[0].split("\t") == [
        "broken_link",
        "a.md:3",
        "'gone.md' is neither a page nor a file",
        "correct the target, or write the page",
    ]
    document = run_wikiq("check", "--json", "--kind", "orphan", index=wiki.index).json
    assert (document["format"], document["counts"]) == (1, {"orphan": 2})
    assert len(document["problems"]) == 2
    assert run_wikiq("check", "--kind", "slug_collision", index=wiki.index).status == 0


def test_on_a_terminal_problems_are_grouped_and_long_groups_cut(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {f"p{number}.md": "# P\n\ntext\n" for number in range(30)})
    status, shown = run_on_screen("check", index=wiki.index, NO_COLOR="1")
    assert status == 0
    assert "nothing is broken; these are notes" in shown.decode()
    assert "Pages that no other page links to  orphan, 30" in shown.decode()
    assert "and 10 more; see them with --full" in shown.decode()
    _, everything = run_on_screen("check", "--full", index=wiki.index, NO_COLOR="1")
    assert everything.decode().count(".md") == 30


def test_every_kind_of_diagnostic_that_the_indexer_gives_has_a_title() -> None:
    """A kind is written out where the diagnostic is made, or is a constant that is written out."""
    sources = "".join(path.read_text("utf-8") for path in (REPOSITORY / "indexerd").rglob("*.py"))
    given = set(re.findall(r'Diagnostic\("([a-z_0-9]+)"', sources))
    names = set(re.findall(r"(?:Diagnostic|_note)\((?:[^()\"]*(?:\([^()]*\))?, )?([A-Z_]+)[,)]", sources))
    assert {"PARSER_FAILED", "UNDECODABLE_NAME"} <= names
    constants = dict(re.findall(r'^([A-Z_]+)(?:: Final)? = "([a-z_0-9]+)"', sources, re.MULTILINE))
    kinds = given | {constants[name] for name in names}
    assert {"too_large", "unreadable", "nul_character"} <= kinds
    assert kinds - TITLES.keys() == set()


@pytest.mark.parametrize(
    "kind, told",
    [
        ("orphn", "orphn: there is no such kind of problem; did you mean orphan?"),
        ("nonsense", "nonsense: there is no such kind of problem; use broken_link, broken_fragment, "),
    ],
)
def test_a_kind_that_there_is_not_is_a_mistake(tmp_path: Path, kind: str, told: str) -> None:
    done = run_wikiq("check", "--kind", kind, index=build_wiki(tmp_path, SOUND).index)
    assert (done.status, done.out) == (2, "")
    assert told in done.err


def test_the_kind_of_a_newer_indexer_can_be_asked_for(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, SOUND)
    found = checked(wiki).replace(counts={"from_the_future": 1})
    assert only_kinds(found, ["from_the_future"]).counts == {"from_the_future": 1}


def kinds_of(wiki: BuiltWiki, *, strict: bool = False) -> dict[str, int]:
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
        return check(snapshot, strict=strict).counts


def test_notes_count_only_where_the_gate_is_strict(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {"lonely.md": "# Lonely\n\ntext\n"})
    assert run_wikiq("check", index=wiki.index).status == 0
    assert run_wikiq("check", "--strict", index=wiki.index).status == 1


def test_home_pages_of_folders_are_no_orphans(tmp_path: Path) -> None:
    pages = dict.fromkeys(
        ("README.md", "a/index.md", "b/_index.md", "c/ReadMe.md", "Home.md", "_Sidebar.md"),
        "# Home\n\ntext\n",
    )
    assert kinds_of(build_wiki(tmp_path, pages)) == {}


def test_a_file_whose_case_differs_is_found_and_noted(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {"README.md": "# A\n\n![x](Media/Pic.PNG)\n"})
    (wiki.index.root / "media").mkdir()
    (wiki.index.root / "media" / "pic.png").write_bytes(b"")
    found = checked(wiki)
    assert [(each.kind, each.message) for each in found.problems] == [
        ("case_differs", "'Media/Pic.PNG' is 'media/pic.png' on the disk")
    ]


def test_a_target_that_leaves_the_wiki_is_looked_up_in_its_repository(tmp_path: Path) -> None:
    (tmp_path / "project" / "lib").mkdir(parents=True)
    targets = "[x](../../GUIDE.md)", "[y](../../gone.md)", "[z](../../lib/gone.txt)", "[l](../../lib/gone.md)"
    text = "\n".join(("# A\n", *targets, "[[../../gone]]", "[s](../../../secret.txt)", ""))
    wiki = build_wiki(tmp_path / "project", {"sub/README.md": text})
    (tmp_path / "secret.txt").write_bytes(b"")
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "project" / "GUIDE.md").write_bytes(b"")
    assert [problem.line for problem in checked(wiki).problems] == [4, 5, 6, 7, 8]


def test_addresses_of_the_site_beside_a_wiki_are_not_broken(tmp_path: Path) -> None:
    text = "# A\n\n[std](../std/trait.Default.html#x) [issue](../issues/2336) [book](../rustc/json.md#y)\n"
    assert kinds_of(build_wiki(tmp_path, {"README.md": text})) == {}


def test_a_file_is_found_from_where_the_page_is_published(tmp_path: Path) -> None:
    text = "# A\n\n![x](../../img/x%20y.png)\n\n<img src='../../img/x y.png'>\n\n![z](../../img/z.png)\n"
    wiki = build_wiki(tmp_path, {"guide/README.md": "# R\n\n[a](a.md)\n", "guide/a.md": text})
    (wiki.index.root / "img").mkdir()
    (wiki.index.root / "img" / "x y.png").write_bytes(b"")
    assert [(problem.kind, problem.line) for problem in checked(wiki).problems] == [("broken_embed", 7)]


def test_without_a_repository_nothing_is_said_of_mentions(tmp_path: Path) -> None:
    text = "---\nsources: [{type: file, path: src/gone.py}]\n---\n# A\n\ntext\n"
    wiki = build_wiki(tmp_path, {"README.md": text})
    assert kinds_of(wiki) == {}
    assert checked(wiki, repository=str(tmp_path)).counts == {"dead_mention": 1}


def test_links_that_several_pages_answer_are_told_where_the_gate_is_strict(tmp_path: Path) -> None:
    page = "# P\n\n[home](/README.md)\n"
    wiki = build_wiki(
        tmp_path, {"README.md": "# A\n\n[[p]] [[a/p]] [b](b/p.md)\n", "a/p.md": page, "b/p.md": page}
    )
    assert kinds_of(wiki) == {}
    assert kinds_of(wiki, strict=True) == {"ambiguous_link": 1}
    told = run_wikiq("links", "README", index=wiki.index).out.splitlines()
    assert ["(ambiguous)" in line for line in told] == [True, False, False]


def test_what_looks_like_a_wikilink_in_code_is_not_broken(tmp_path: Path) -> None:
    text = "# A\n\nx[[i]] and [[1]] and if [[ -f file ]] and [[2024-01-05]] and [['b']], but [[gone]]\n"
    found = checked(build_wiki(tmp_path, {"README.md": text}))
    assert [each.message for each in found.problems] == ["'gone' is neither a page nor a file"]


def test_the_wiki_says_what_is_passed_over(tmp_path: Path) -> None:
    page = "# P\n\n[gone](gone.md)\n"
    wiki = build_wiki(tmp_path, {"a.md": page, "drafts/b.md": page, "c.md": "# C\n\ntext\n"})
    settings = wiki.index.root / ".wikiq.toml"
    settings.write_text('[check]\nignore = [{ kind = "orphan" }, { path = "drafts/" }]\n')
    found = checked(wiki)
    assert [(each.kind, each.path) for each in found.problems] == [("broken_link", "a.md")]
    assert found.ignored == 4
    for wrong in (
        "[check]\nignore = [1]",
        "[check]\nother = 1",
        "[check]\nignore = 1",
        "[check",
        "check = 1",
        "a." * 16_000 + "b = 1",
        "#" * (WIKI_SETTINGS_BYTES + 1),
    ):
        settings.write_text(wrong)
        done = run_wikiq("check", index=wiki.index)
        assert (done.status, done.out) == (2, "")
        assert str(settings) in done.err
        assert "Traceback" not in done.err
