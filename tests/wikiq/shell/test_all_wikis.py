"""One question to every index of the state folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexerd.contract.which_index import KnownIndex
from tests.wikiq.running import WATCHING, run_on_screen, run_wikiq, running_daemon
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.model.results import Freshness, WikiHit
from wikiq.shell.all_wikis import merge_by_rank, staleness_lines


@pytest.fixture
def two(tmp_path: Path) -> SampleIndex:
    """The first of two wikis that both speak of apples; only the other one has a topic."""
    pears = [SamplePage("pear.md", "# Pear\n\nNo apple.\n"), SamplePage("apple.md", "# Apple\n\nA fruit.\n")]
    one = write_sample(tmp_path, pears, name="one")
    trees = [SamplePage("tree.md", "# Apple\n\nAn apple tree.\n", topics=("garden",))]
    write_sample(tmp_path, trees, name="two")
    return one


def hit(wiki: str, slug: str) -> WikiHit:
    return WikiHit(
        slug=slug,
        title=slug,
        path=f"{slug}.md",
        summary=None,
        topics=(),
        updated_at="",
        score=1.0,
        status="ok",
        evidence=None,
        wiki=wiki,
        root=f"/{wiki}",
    )


def test_everyones_best_comes_before_anyones_second() -> None:
    a, b, c = hit("one", "a"), hit("one", "b"), hit("two", "c")
    assert merge_by_rank([[a, b], [], [c]]) == [a, c, b]
    assert merge_by_rank([]) == []


def test_every_index_answers_and_hits_say_where_they_are_from(two: SampleIndex) -> None:
    done = run_wikiq("apple", "--all", "--json", index=two)
    assert [(found["wiki"], found["slug"]) for found in done.json["hits"]] == [
        ("one", "apple"),
        ("two", "tree"),
        ("one", "pear"),
    ]
    assert [(wiki["wiki"], wiki["total"]) for wiki in done.json["wikis"]] == [("one", 2), ("two", 1)]
    assert done.json["total"] == 3


def test_a_path_outside_the_current_wiki_is_absolute(two: SampleIndex) -> None:
    other = two.root.with_name("two")
    lines = run_wikiq("apple", "--all", "--limit", "2", index=two).out.splitlines()
    assert [line.partition("\t")[0] for line in lines] == ["apple.md:1", f"{other}/tree.md:3"]


def test_a_topic_that_only_one_wiki_has_is_no_mistake(two: SampleIndex) -> None:
    done = run_wikiq("apple", "--all", "--topic", "garden", "--json", index=two)
    assert (done.status, [found["slug"] for found in done.json["hits"]]) == (0, ["tree"])
    done = run_wikiq("apple", "--all", "--topic", "nowhere", index=two)
    assert done.status == 1
    assert "nowhere: there is no such topic" in done.err


def test_an_index_that_fails_does_not_stop_the_others(two: SampleIndex, tmp_path: Path) -> None:
    index = SampleIndex(two.root.with_name("two"), tmp_path / "state/indexerd/two-1/index.db")
    index.alter("DROP VIEW v1_sections")
    done = run_wikiq("apple", "--all", "--json", index=two)
    assert done.status == 0
    assert [wiki["wiki"] for wiki in done.json["wikis"]] == ["one"]
    assert "is damaged" in done.json["failed"][0]
    assert "is damaged" in done.err


def test_what_is_beside_the_answer_is_said_of_every_index(two: SampleIndex) -> None:
    (two.root.with_name("two") / "tree.md").unlink()
    done = run_wikiq("appel", "-pear", "--all", index=two)
    assert done.err.splitlines() == [
        "wikiq: no daemon is running for one, two; start each with `indexerd run ROOT`",
        "wikiq: no page has 'appel'; looked for 'apple'",
        "wikiq: left out sections with 'pear'",
        "wikiq: changed or gone since they were indexed: tree.md",
    ]
    told = run_wikiq("appel", "-pear", "--all", "--json", index=two).json
    assert (told["corrected"], told["excluded"], told["ignored_terms"]) == ({"appel": "apple"}, ["pear"], [])
    assert run_wikiq("quince", "--all", "--exact", index=two).err.endswith("wikiq: nothing found\n")


def test_a_wiki_that_alone_is_behind_is_named(two: SampleIndex) -> None:
    with running_daemon(two):
        done = run_wikiq("apple", "--all", index=two)
    start = f"start it with `indexerd run {two.root.with_name('two')}`"
    assert done.err.startswith("wikiq: two: the daemon is not running; last scan ")
    assert done.err.endswith(f" ago; {start}\n")
    with running_daemon(two, WATCHING | {"pending": 2}):
        done = run_wikiq("apple", "--all", index=two)
    assert done.err.splitlines()[0] == "wikiq: one: 2 changes are not indexed yet"


def test_wikis_of_one_name_are_told_apart_by_their_folders() -> None:
    stopped = Freshness(
        age_s=7.0,
        stale=True,
        daemon="stopped",
        mode="stopped",
        reason=None,
        remedy=None,
        pending=0,
        last_scan=None,
        counters={},
    )
    known = [KnownIndex(path=f"{root}.db", root=root, wiki=root[-1:]) for root in ("/a/x", "/b/x", "/b/y")]
    assert list(staleness_lines([(one, stopped) for one in known])) == [
        "no daemon is running for /a/x, /b/x, y; start each with `indexerd run ROOT`"
    ]
    assert list(staleness_lines([])) == []


def test_one_wiki_that_cannot_be_made_fresh_is_enough_to_say_so(two: SampleIndex) -> None:
    done = run_wikiq("apple", "--all", "--fresh", "--json", index=two)
    assert (done.status, done.json["not_fresh"], done.json["total"]) == (3, ["one", "two"], 3)


def test_the_pages_and_the_state_of_all_wikis_are_listed(two: SampleIndex) -> None:
    listed = run_wikiq("pages", "--all", "--json", index=two).json["hits"]
    assert {(found["wiki"], found["slug"]) for found in listed} == {
        ("one", "apple"), ("one", "pear"), ("two", "tree"),
    }  # fmt: skip
    assert [found["updated_at"] for found in listed] == sorted(
        (f["updated_at"] for f in listed), reverse=True
    )
    assert len(run_wikiq("pages", "--all", "--limit", "2", index=two).out.splitlines()) == 2
    told = run_wikiq("status", "--all", index=two)
    assert [line.split("  ")[0] for line in told.out.splitlines()] == ["one", "two"]
    assert told.status == 3
    wikis = run_wikiq("status", "--all", "--json", index=two).json["wikis"]
    assert [(wiki["wiki"], wiki["pages"]) for wiki in wikis] == [("one", 2), ("two", 1)]
    assert run_wikiq("status", "--all", "--wiki", "one", index=two).status == 2


def test_topics_links_outlines_and_problems_of_all_wikis_say_where_they_are_from(two: SampleIndex) -> None:
    one, other = two.root, two.root.with_name("two")
    assert run_wikiq("topics", "--all", index=two).out == f"garden\t1\t1\t\ttwo\t{other}\n"
    outline = run_wikiq("outline", "apple.md", "--all", index=two)
    assert outline.out == f"apple.md:1\t1\tApple\tapple\tone\t{one}\n"
    document = run_wikiq("outline", "apple.md", "--all", "--json", index=two).json
    assert [(wiki["root"], wiki["index"]["wiki"], wiki["slug"]) for wiki in document["wikis"]] == [
        (str(one), "one", "apple")
    ]
    assert document["failed"] == ["apple.md: there is no such page; did you mean apple?"]
    rows = run_wikiq("check", "--all", "--ndjson", index=two)
    problems = [json.loads(line) for line in rows.out.splitlines()]
    assert {(row["kind"], row["wiki"], row["path"]) for row in problems} >= {
        ("orphan", "one", "pear.md"), ("orphan", "two", "tree.md"),
    }  # fmt: skip
    assert rows.status == 0
    places = [line.split("\t")[1] for line in run_wikiq("check", "--all", index=two).out.splitlines()]
    assert "pear.md" in places
    assert f"{other}/tree.md" in places


def test_a_page_that_no_wiki_has_is_not_found_in_all_of_them(two: SampleIndex) -> None:
    done = run_wikiq("links", "nowhere", "--all", index=two)
    assert (done.status, done.out) == (1, "")
    assert "nowhere: there is no such page" in done.err
    assert run_wikiq("links", "tree", "--all", index=two).status == 1


def test_on_a_terminal_rows_of_all_wikis_stand_below_their_wiki(two: SampleIndex) -> None:
    _, shown = run_on_screen("topics", "--all", index=two, NO_COLOR="1")
    assert f"two  {two.root.with_name('two')}\r\n     1  garden" in shown.decode()
    _, shown = run_on_screen("check", "--all", index=two, NO_COLOR="1")
    assert "one  " in shown.decode()
    assert "nothing is broken; these are notes" in shown.decode()
