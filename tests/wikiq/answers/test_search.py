"""The search over a small index: what is found, in which order, with what evidence, at what cost."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wikiq.asking import answer
from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.answers.search import search
from wikiq.errors import UnknownTopicError, UsageError
from wikiq.index.database import Database, open_database
from wikiq.model.request import Filters, SearchRequest
from wikiq.model.results import ExplainedResult, SearchResult, document, json_form
from wikiq.snippet.plain_text import plain_lines

PAGES = (
    SamplePage(
        "run-lifecycle.md",
        "# Run Lifecycle\n\nHow a run starts.\n\n## Cancellation\n\nCancelling a run ends the agent.\n\n"
        "## Retry\n\nFailed runs are retried.\n",
        updated_at="2026-03-01T00:00:00.000Z",
        topics=("runs", "architecture"),
        aliases=("Life of a run",),
    ),
    SamplePage(
        "paths.md",
        "# Path normalization\n\nPaths are normalized in `src/a/b.py`.\n\n## Windows\n\nBackslashes.\n",
        topics=("architecture",),
    ),
    SamplePage(
        "guide/README.md",
        "# Guide\n\nSee [runs](../run-lifecycle.md#cancellation).\n\n## Troubleshooting\n\n"
        "The variable `cancellation_requested_at` was added on 2026-07-14 in v1.2.3 for C++ code.\n",
    ),
    SamplePage(
        "languages.md",
        "# Languages\n\n## C\n\nPointers. A C compiler, and C again.\n\n"
        "## Chinese\n\n数据库索引的实现原理。\n\n"
        "## Full width\n\nＡＢＣ税率\n\n## German\n\nDie Straße ist lang.\n",
    ),
    SamplePage("notes/0921-entry_v3.md", "# Map API\n\nA way to reach the slots of a map.\n"),
    SamplePage("notes/short.md", "Just a note about gardens.\n"),
    SamplePage("deploy.md", "# Deploy\n\nrun-lifecycle and run-lifecycle, a run, a run lifecycle.\n"),
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = open_database(str(write_sample(tmp_path_factory.mktemp("search"), PAGES).db))
    yield opened
    opened.close()


def ask(database: Database, query: str, **more: Any) -> SearchResult:
    return answer(database, search, SearchRequest(query=query, **more))


def slugs(result: SearchResult) -> list[str]:
    return [hit.slug for hit in result.hits]


def headings(result: SearchResult) -> list[str]:
    return [hit.evidence.heading for hit in result.hits if hit.evidence is not None]


@pytest.mark.parametrize(
    "query, slug, heading",
    [
        ("How does cancelling end an agent?", "run-lifecycle", "Cancellation"),
        ("path normalization", "paths", "Path normalization"),
        ("src/a/b.py", "paths", "Path normalization"),
        ("cancellation_requested_at", "guide", "Troubleshooting"),
        ("2026-07-14", "guide", "Troubleshooting"),
        ("v1.2.3", "guide", "Troubleshooting"),
        ("C++", "guide", "Troubleshooting"),
        ("straße", "languages", "German"),
        ("索引", "languages", "Chinese"),
        ("如何实现数据库索引?", "languages", "Chinese"),
        ("理", "languages", "Chinese"),
        ("ABC", "languages", "Full width"),
        ("ＡＢＣ税率", "languages", "Full width"),
        ("gardens", "notes/short", "short"),
        ("normaliz", "paths", "Path normalization"),
        ("cancelation", "run-lifecycle", "Cancellation"),
        ("entry_v3", "notes/0921-entry_v3", "Map API"),
        ("a garden", "notes/short", "short"),
    ],
)
def test_the_section_that_answers_is_the_evidence_of_the_first_page(
    database: Database, query: str, slug: str, heading: str
) -> None:
    result = ask(database, query)
    assert (slugs(result)[0], headings(result)[0]) == (slug, heading)


@pytest.mark.parametrize("query", ["run-lifecycle", "RUN-LIFECYCLE.md", "run lifecycle", "Life of  a RUN"])
def test_a_page_whose_name_was_typed_comes_first(database: Database, query: str) -> None:
    assert slugs(ask(database, query))[0] == "run-lifecycle"


def test_a_page_is_one_hit_and_a_section_is_one_when_asked(database: Database) -> None:
    pages = ask(database, "run")
    assert len(set(slugs(pages))) == len(pages.hits) == pages.total
    sections = ask(database, "run", sections=True)
    assert slugs(sections).count("run-lifecycle") == 3
    assert sections.total == len(sections.hits)


def test_the_limit_cuts_the_hits_and_not_the_total(database: Database) -> None:
    whole = ask(database, "a run")
    first = ask(database, "a run", limit=1)
    assert len(whole.hits) > 1
    assert first.hits == whole.hits[:1]
    assert first.total == whole.total


def test_scores_fall_and_are_the_same_every_time(database: Database) -> None:
    one, other = ask(database, "the run of a map"), ask(database, "the run of a map")
    assert one.hits == other.hits
    scores = [hit.score for hit in one.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "query, expected",
    [
        ('"ends the agent"', ["run-lifecycle"]),
        ('"agent ends the"', []),
        ("title:normalization", ["paths"]),
        ("heading:retry run", ["run-lifecycle"]),
        ("heading:pointers", []),
        ('"数据库索引"', ["languages"]),
        ('"数据索引"', []),
        ("run title:deploy", ["deploy"]),
    ],
)
def test_phrases_and_fields_must_hold(database: Database, query: str, expected: list[str]) -> None:
    assert slugs(ask(database, query)) == expected


@pytest.mark.parametrize(
    "query, gone, excluded",
    [
        ("run -retried", "Retry", ("retried",)),
        ("run -title:deploy", "Deploy", ("title:deploy",)),
        ('c -"c compiler"', "C", ('"c compiler"',)),
        ("languages -索引", "Chinese", ("索引",)),
    ],
)
def test_sections_that_hold_an_excluded_word_are_left_out(
    database: Database, query: str, gone: str, excluded: tuple[str, ...]
) -> None:
    plain = ask(database, query.partition(" -")[0], sections=True)
    result = ask(database, query, sections=True)
    assert gone in headings(plain)
    assert gone not in headings(result)
    assert result.excluded == excluded
    assert result.hits


def test_a_pasted_command_finds_its_page(tmp_path: Path) -> None:
    pages = [
        SamplePage("log.md", "# History\n\nRun `git log -p` to see patches.\n"),
        SamplePage("table.md", "# Tables\n\n    Format-Table Name, Id  -AutoSize\n"),
        SamplePage("other.md", "# Other\n\nA git log without patches.\n"),
        SamplePage("cpp.md", "# C++ notes\n\nTemplates.\n"),
        SamplePage("c.md", "# C notes\n\nPointers.\n"),
        SamplePage("ops.md", "# Operators\n\nThe operators -replace and -split differ.\n"),
    ]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    command = ask(opened, "git log -p")
    assert (slugs(command)[0], command.excluded) == ("log", ())
    aligned = ask(opened, "Format-Table Name, Id  -AutoSize")
    assert (slugs(aligned)[0], aligned.excluded) == ("table", ())
    assert ask(opened, "git log -patches").excluded == ("patches",)
    assert slugs(ask(opened, "how does -replace differ from -split"))[0] == "ops"
    assert slugs(ask(opened, "title:C++")) == slugs(ask(opened, '"C++"')) == ["cpp"]
    assert slugs(ask(opened, "notes -C++")) == ["c"]
    assert slugs(ask(opened, "notes", without=("C++",))) == ["c"]
    opened.close()


def test_a_line_that_a_long_section_holds_comes_before_sections_about_its_words(tmp_path: Path) -> None:
    line = "Get-Session | Format-Table Name, InstanceId  -AutoSize"
    pages = [
        SamplePage(
            "session.md", "# Get-Session\n\nGet-Session gets a session; Format-Table shows its Name.\n"
        ),
        SamplePage("table.md", "# Format-Table\n\nFormat-Table has Name, InstanceId and AutoSize.\n"),
        SamplePage("long.md", f"# Removing\n\n{'Other words. ' * 60}\n\n    PS> {line}\n"),
    ]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    result = ask(opened, line)
    opened.close()
    assert (slugs(result)[0], result.excluded) == ("long", ())


def test_a_phrase_in_a_question_lifts_and_excludes_nothing(database: Database) -> None:
    result = ask(database, 'a run "ends the agent" zzz')
    assert slugs(result)[0] == "run-lifecycle"
    assert result.total == ask(database, "a run ends the agent zzz").total > 1
    assert slugs(ask(database, 'run "ends the agent"', exact=True)) == ["run-lifecycle"]


@pytest.mark.parametrize(
    "query, more, dropped",
    [
        ('"agent ends the"', {}, "quotes"),
        ("heading:pointers", {}, "fields"),
        ("retried", {"without": ("retried",)}, "exclusions"),
        ("compiler", {"filters": Filters(topics=("runs",))}, "filters"),
    ],
)
def test_a_search_that_finds_nothing_says_what_would_be_found(
    database: Database, query: str, more: dict[str, Any], dropped: str
) -> None:
    result = ask(database, query, **more)
    assert result.hits == ()
    assert [(one.dropped, one.total > 0) for one in result.advice] == [(dropped, True)]
    assert ask(database, "agent").advice == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_of_a_hit_is_that_of_its_first_match(tmp_path: Path, end: str) -> None:
    long = "filler words\n" * 9000
    text = "# Page\n\n## Part\n\n<!-- a\ncomment -->\n\n```\ncode\n```\n\n* one\n* the needle\n\n"
    text += f"## Long\n\n{long}hay\n"
    opened = open_database(str(write_sample(tmp_path, [SamplePage("a.md", text.replace("\n", end))]).db))
    lines = text.split("\n")
    for word in ("needle", "hay", "code"):
        (hit,) = ask(opened, word).hits
        assert hit.evidence is not None
        assert word in lines[hit.evidence.match_line - 1]
    (hit,) = ask(opened, "part").hits
    assert hit.evidence is not None
    assert (lines[hit.evidence.match_line - 1], hit.evidence.excerpt) == ("## Part", None)
    opened.close()


def test_a_word_in_no_page_is_corrected_and_that_is_said(database: Database) -> None:
    assert ask(database, "cancelation agnet").corrected == {"cancelation": "cancellation", "agnet": "agent"}
    exact = ask(database, "cancelation", exact=True)
    assert (exact.hits, exact.corrected) == ((), {})
    assert not ask(database, "normaliz", exact=True).hits


def test_the_last_word_may_be_a_beginning_where_that_is_asked_for(database: Database) -> None:
    assert "run-lifecycle" not in slugs(ask(database, "retr", exact=True))
    assert slugs(ask(database, "a ret", prefix=True))[0] == "run-lifecycle"


@pytest.mark.parametrize("query", ["", "?!", "🦀"])
def test_nothing_to_look_for_is_an_error_that_says_so(database: Database, query: str) -> None:
    with pytest.raises(UsageError):
        ask(database, query)


def test_only_exclusions_are_an_error_with_a_filter_too(database: Database) -> None:
    with pytest.raises(UsageError):
        ask(database, "", without=("borrowed",), filters=Filters(topics=("runs",)))


def test_punctuation_with_a_filter_lists_pages(database: Database) -> None:
    result = ask(database, "?!", filters=Filters(topics=("architecture",)))
    assert slugs(result) == ["run-lifecycle", "paths"]
    assert result.policy is None


def test_filters_hold_before_the_best_are_taken(database: Database) -> None:
    filters = Filters(topics=("architecture",), not_topics=("runs",))
    result = ask(database, "run paths a", filters=filters)
    assert slugs(result) == ["paths"]
    assert result.total == 1
    with pytest.raises(UnknownTopicError):
        ask(database, "run", filters=Filters(topics=("nowhere",)))


def test_evidence_shows_words_markup_gone_and_where_they_are(database: Database) -> None:
    (hit,) = ask(database, "src/a/b.py normalized", limit=1).hits
    evidence = hit.evidence
    assert evidence is not None
    assert evidence.excerpt == "Paths are normalized in src/a/b.py."
    assert [evidence.excerpt[start:end] for start, end in evidence.matches] == [
        "normalized",
        "src",
        "a",
        "b",
        "py",
    ]
    assert evidence.terms == ("src", "a", "b", "py", "normalized")
    assert (evidence.heading_path, evidence.start_line) == (("Path normalization",), 1)


def test_a_hit_in_a_section_without_text_shows_how_the_page_begins(tmp_path: Path) -> None:
    text = "---\ntitle: parse\n---\n<!-- made by a program -->\n\n# `parse` for strings\n\nTake text apart.\n"
    built = build_wiki(
        tmp_path, {"parse.md": text, "empty.md": "---\ntitle: parse nothing\n---\n# Nothing\n"}
    )
    with closing(open_database(str(built.index.db))) as opened:
        hits = answer(opened, search, SearchRequest(query="parse")).hits
    leads = {hit.path: hit.evidence.lead or hit.evidence.excerpt for hit in hits if hit.evidence is not None}
    assert leads == {"parse.md": "Take text apart.", "empty.md": None}


def test_a_match_in_heading_or_name_alone_has_no_excerpt(database: Database) -> None:
    for query in ("troubleshooting", "entry_v3"):
        evidence = ask(database, query).hits[0].evidence
        assert evidence is not None
        assert (evidence.excerpt, evidence.matches) == (None, ())
        assert evidence.heading


def test_a_match_in_an_address_shows_the_words_around_it(database: Database) -> None:
    evidence = next(hit.evidence for hit in ask(database, "lifecycle").hits if hit.slug == "guide")
    assert evidence is not None
    assert (evidence.excerpt, evidence.matches) == ("See runs.", ())


def test_another_form_of_a_word_is_found_shown_and_told_as_the_word_typed(database: Database) -> None:
    hit = ask(database, "cancelled").hits[0]
    assert hit.evidence is not None
    assert hit.evidence.excerpt is not None
    assert (hit.slug, hit.evidence.terms) == ("run-lifecycle", ("cancelled",))
    assert [hit.evidence.excerpt[start:end] for start, end in hit.evidence.matches] == ["Cancelling"]


def test_the_last_of_exact_words_may_still_be_a_beginning(database: Database) -> None:
    assert ask(database, "gard", exact=True).hits == ()
    assert [hit.slug for hit in ask(database, "gard", exact=True, prefix=True).hits] == ["notes/short"]


def test_exact_words_are_looked_for_as_they_are_typed(database: Database) -> None:
    assert [hit.slug for hit in ask(database, "gardens", exact=True).hits] == ["notes/short"]
    assert ask(database, "cancelled", exact=True).hits == ()


def test_words_that_only_hold_a_question_together_do_not_decide_it(tmp_path: Path) -> None:
    """In a wiki of several languages English articles are rare, and a heading weighs eight times."""
    others = [SamplePage(f"{nth}.md", f"# Seite {nth}\n\nText der Seite {nth}.\n") for nth in range(40)]
    pages = [
        SamplePage("intro.md", "# What is this place\n\nWhat it is, and how you can use it.\n"),
        SamplePage("callouts.md", "# Callouts\n\nA callout is a block that stands out.\n"),
    ]
    index = write_sample(tmp_path, [*others, *pages])
    opened = open_database(str(index.db))
    assert slugs(ask(opened, "what is a callout"))[:2] == ["callouts", "intro"]
    opened.close()


def test_the_word_itself_comes_before_its_other_forms(tmp_path: Path) -> None:
    pages = [
        SamplePage(f"{word}.md", f"# Page\n\nOne {word}.\n", updated_at=f"2026-01-0{day}T00:00:00.000Z")
        for day, word in enumerate(("loader", "loading", "loaders"), 1)
    ]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    for word in ("loader", "loading", "loaders"):
        assert slugs(ask(opened, word))[0] == word
        assert len(slugs(ask(opened, word))) == 3
    opened.close()


def test_an_explanation_says_how_words_were_taken(database: Database) -> None:
    result = ask(database, "agnet normaliz 索引 zzzqqq the run", explain=True)
    assert isinstance(result, ExplainedResult)
    assert [(term.typed, term.kind, term.used) for term in result.explanation.terms] == [
        ("agnet", "corrected", "agent"),
        ("normaliz", "beginning", "normaliz"),
        ("索引", "pieces", "索引"),
        ("zzzqqq", "absent", "zzzqqq"),
        ("the", "function_word", "the"),
        ("run", "word", "run"),
    ]
    assert result.explanation.terms[-1].sections > 1


@pytest.mark.parametrize(
    "query", ["run-lifecycle", "src/a/b.py", "数据库索引 run", "entry_v3", "c compiler", "a garden"]
)
@pytest.mark.parametrize("sections", [False, True])
def test_the_parts_of_a_score_add_up_to_it(database: Database, query: str, sections: bool) -> None:
    result = ask(database, query, explain=True, sections=sections)
    assert isinstance(result, ExplainedResult)
    sums = [sum(getattr(parts, name) for name in type(parts).fields) for parts in result.explanation.scores]
    assert sums == pytest.approx([hit.score for hit in result.hits], abs=1e-4)
    assert ask(database, query, sections=sections).hits == result.hits


def test_the_parts_of_a_score_are_what_they_were_when_this_was_written(tmp_path: Path) -> None:
    """A changed bonus changes a number here, and nothing can be booked as something else."""
    pages = [
        SamplePage("a.md", "# Garden tools\n\nA rake.\n\n## Rake handles\n\nHandles of the rake v1.2.\n"),
        SamplePage("b.md", "# Raking\n\nHow to rake: handle v1.3 with care.\n"),
        SamplePage("c.md", "# Other\n\nNothing.\n"),
        SamplePage("d.md", "# 工具\n\n园艺工具。\n"),
    ]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    result = ask(opened, "the rake handles v1.2 工具", explain=True, sections=True)
    opened.close()
    assert isinstance(result, ExplainedResult)
    assert [
        (hit.slug, {name: round(part, 3) for name, part in json_form(parts).items() if round(part, 3)})
        for hit, parts in zip(result.hits, result.explanation.scores, strict=True)
    ] == [
        (
            "a",
            {"words": 3.198, "pairs": 1.133, "field_lengths": -0.025, "page": 1.077}
            | {"literals": 1.411, "heading": 0.748},
        ),
        ("d", {"words": 2.29, "field_lengths": -0.009, "page": 1.14, "heading": 0.091}),
        ("a", {"page": 1.077}),
        ("b", {"words": 0.274, "forms": 0.268, "field_lengths": -0.096, "page": 0.223}),
    ]


def statements(database: Database, **request: Any) -> list[str]:
    seen: list[str] = []
    database._connection.set_trace_callback(seen.append)
    try:
        answer(database, search, SearchRequest(**request))
    finally:
        database._connection.set_trace_callback(None)
    return [one for one in seen if not one.startswith("--")]  # full-text tables run some of their own


def test_the_number_of_statements_does_not_depend_on_the_number_of_hits(database: Database) -> None:
    counts = {len(statements(database, query="a run", limit=limit)) for limit in (1, 2, 1000)}
    counts.add(len(statements(database, query="gardens", limit=20)))
    assert len(counts) == 1


def test_text_is_read_for_the_hits_that_are_shown_and_no_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut: list[str] = []

    def recording(body: str) -> list[tuple[int, str]]:
        cut.append(body)
        return plain_lines(body)

    monkeypatch.setattr("wikiq.snippet.evidence.plain_lines", recording)
    assert ask(database, "a run", limit=2).total > 2
    assert len(cut) == 2


def test_pages_beyond_the_pool_are_found_too(tmp_path: Path) -> None:
    crowd = "# Crowd\n\n" + "".join(f"## Part {one}\n\ntree tree\n\n" for one in range(300))
    others = [SamplePage(f"other-{one}.md", f"# Other {one}\n\n{'word ' * 80} tree\n") for one in range(5)]
    sample = write_sample(tmp_path, [SamplePage("crowd.md", crowd), *others])
    opened = open_database(str(sample.db))
    result = ask(opened, "tree")
    assert result.total == len(result.hits) == 6
    assert slugs(result)[0] == "crowd"
    assert slugs(ask(opened, "tree", sections=True, limit=1000)).count("crowd") == 300
    opened.close()


def test_a_page_too_large_to_be_read_is_found_by_its_name(tmp_path: Path) -> None:
    sample = write_sample(tmp_path, [SamplePage("huge-dump.md", "x\n"), SamplePage("b.md", "text\n")])
    its_page = "page_id = (SELECT page_id FROM page WHERE path = 'huge-dump.md')"
    sample.alter(
        f"DELETE FROM sections_fts WHERE rowid = (SELECT section_rowid FROM section WHERE {its_page})"
    )
    sample.alter(f"DELETE FROM section WHERE {its_page}")
    sample.alter(f"DELETE FROM place WHERE {its_page}")
    opened = open_database(str(sample.db))
    (hit,) = ask(opened, "dump").hits
    assert (hit.slug, hit.evidence) == ("huge-dump", None)
    opened.close()


def test_equal_sections_are_in_order_whatever_row_ids_they_have(tmp_path: Path) -> None:
    pages = [SamplePage(f"{name}.md", "# Same\n\ntree\n") for name in "abcdef"]
    orders = []
    for seed in (1, 2):
        shuffled = random.Random(seed).sample(pages, len(pages))
        renamed = [
            SamplePage(page.path, page.text, updated_at="2026-01-01T00:00:00.000Z") for page in shuffled
        ]
        sample = write_sample(tmp_path / str(seed), renamed)
        opened = open_database(str(sample.db))
        orders.append(slugs(ask(opened, "tree", copies=True)))
        opened.close()
    assert orders[0] == orders[1] == list("abcdef")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.text(max_size=80) | st.text('ab"*():-+^{}/ 数据ก\x00🦀\ud800\udc80', max_size=40),
    sections=st.booleans(),
    exact=st.booleans(),
    prefix=st.booleans(),
)
def test_any_question_is_answered_or_refused_in_words(
    database: Database, query: str, sections: bool, exact: bool, prefix: bool
) -> None:
    try:
        result = ask(database, query, sections=sections, exact=exact, prefix=prefix)
    except UsageError:
        return
    except sqlite3.Error as error:  # pragma: no cover
        pytest.fail(f"{query!r}: {error}")
    assert document(result)["hits"] is not None


def test_a_word_found_divided_is_marked_and_told(tmp_path: Path) -> None:
    pages = [
        SamplePage("a.md", "# A\n\nThe part ABC-123 is here.\n"),
        SamplePage("b.md", "# B\n\nThe part ABC is here, and 123 there; hooks.\n"),
    ]
    opened = open_database(str(write_sample(tmp_path, pages).db))
    result, exact = ask(opened, "abc123 hooks"), ask(opened, "abc123", exact=True)
    opened.close()
    assert result.corrected == {"abc123": "abc 123"}
    (told,) = (hit.evidence for hit in result.hits if hit.slug == "a")
    assert told is not None
    assert [(told.excerpt or "")[start:end] for start, end in told.matches] == ["ABC", "123"]
    assert told.terms == ("abc123",)
    assert exact.hits == ()
