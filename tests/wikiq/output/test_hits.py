"""Hits as people see them, as programs read them, and as JSON."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikiq.errors import UsageError
from wikiq.model.results import CHANGED, OK, Evidence, Hit, SearchResult
from wikiq.output.hits import (
    breadcrumb,
    footer,
    hit_block,
    hit_fields,
    listed_line,
    row_json,
    shown_path,
    styled_lines,
    vimgrep_line,
)
from wikiq.output.template import HIT_FIELDS, fill, hit_values
from wikiq.output.terminal import MATCH, Span
from wikiq.output.wrapping import wrap

EVIDENCE = Evidence(
    section_id="0002",
    heading="Cancellation",
    heading_path=("Run Lifecycle", "Cancellation"),
    anchor="cancellation",
    start_line=10,
    end_line=14,
    match_line=12,
    excerpt="Cancelling a run ends it.",
    matches=((0, 10), (13, 16)),
    terms=("cancelling", "run"),
)
HIT = Hit(
    slug="run-lifecycle",
    title="Run Lifecycle",
    path="run-lifecycle.md",
    summary="From start to end.",
    topics=("runs",),
    updated_at="2026-03-01T00:00:00.000Z",
    score=9.1,
    status=OK,
    evidence=EVIDENCE,
)

RESULT = SearchResult(
    query="run",
    policy="default@3",
    corrected={},
    excluded=(),
    ignored_terms=(),
    wiki="w",
    index_id="i",
    generation=1,
    age_s=2.0,
    stale=False,
    total=1,
    took_ms=1.0,
    hits=(HIT,),
)


def plain(spans: tuple[Span | str, ...]) -> str:
    return "".join(span if isinstance(span, str) else span.text for span in spans)


def block(hit: Hit, columns: int = 80) -> list[str]:
    return [plain(spans) for spans in hit_block(hit, 2, root="/wiki", folder="/wiki", columns=columns)]


def test_a_hit_is_a_numbered_block_of_title_breadcrumb_place_and_excerpt() -> None:
    assert block(HIT) == [
        " 2  Run Lifecycle > Cancellation",
        "    run-lifecycle.md:12",
        "    Cancelling a run ends it.",
        "",
    ]


def test_on_a_narrow_screen_a_breadcrumb_goes_on_below() -> None:
    assert block(HIT, 24)[:2] == [" 2  Run Lifecycle >", "    Cancellation"]


def test_copies_that_do_not_fit_go_on_below() -> None:
    copied = HIT.replace(copies=("de/run-lifecycle.md", "a/b/other.md", "ko/run-lifecycle.md"))
    below = [line for line in block(copied, 34) if line.strip()][-3:]
    assert below == ["    also in de/run-lifecycle.md,", "    a/b/other.md,", "    ko/run-lifecycle.md"]


def test_a_changed_file_is_marked_and_without_an_excerpt_the_lead_or_the_summary_stands_in() -> None:
    changed = HIT.replace(status=CHANGED, evidence=EVIDENCE.replace(excerpt=None, matches=()))
    assert block(changed)[1:] == ["    run-lifecycle.md:12 [changed]", "    From start to end.", ""]
    led = HIT.replace(evidence=EVIDENCE.replace(excerpt=None, matches=(), lead="How it ends."))
    assert block(led)[2] == "    How it ends."


def test_matched_words_are_marked_across_line_breaks() -> None:
    marked = ((0, 3, MATCH), (2, 9, MATCH))
    lines = list(styled_lines("one two three", marked, 8))
    assert [plain(line) for line in lines] == ["one two", "three"]
    spans = [[s.text for s in line if isinstance(s, Span) and s.style == MATCH] for line in lines]
    assert spans == [["one", " two"], ["t"]]


def test_a_listed_page_is_a_line_with_its_date() -> None:
    line = listed_line(HIT, 12, root="/wiki", folder="/wiki")
    assert plain(line) == "12  2026-03-01  Run Lifecycle  run-lifecycle.md"


def test_an_editor_gets_the_line_and_column_of_the_match() -> None:
    hit = HIT.replace(evidence=EVIDENCE.replace(match_column=7))
    assert vimgrep_line(hit, root="/wiki", folder="/") == (
        "/wiki/run-lifecycle.md:12:7: Run Lifecycle > Cancellation: Cancelling a run ends it."
    )
    assert vimgrep_line(HIT.replace(evidence=None, summary=None), root="/wiki", folder="/wiki") == (
        "run-lifecycle.md:1:1: Run Lifecycle"
    )


@pytest.mark.parametrize(
    "total, shown, told",
    [
        (57, 7, "7 of 57 pages \N{MIDDLE DOT} 2 s old \N{MIDDLE DOT} --limit 57"),
        (1, 1, "1 page \N{MIDDLE DOT} 2 s old"),
        (2000, 7, "7 of 2000 pages \N{MIDDLE DOT} 2 s old \N{MIDDLE DOT} --limit 1000"),
        (2000, 1000, "1000 of 2000 pages \N{MIDDLE DOT} 2 s old"),
    ],
)
def test_a_footer_says_how_many_there_are_how_old_they_are_and_how_to_see_more(
    total: int, shown: int, told: str
) -> None:
    assert plain(footer(RESULT.replace(total=total), shown, "page", "2 s old")) == told


def test_a_word_longer_than_the_line_is_left_whole() -> None:
    text = "see /a/very/long/path/to/a.md now"
    assert [text[start:end] for start, end in wrap(text, 10)] == ["see", "/a/very/long/path/to/a.md", "now"]


@given(st.text(alphabet="ab 検索é\u0301", max_size=60), st.integers(1, 20))
def test_wrapping_loses_nothing_but_blanks_at_the_breaks(text: str, columns: int) -> None:
    ranges = list(wrap(text, columns))
    kept = "".join(text[start:end] for start, end in ranges)
    assert kept.replace(" ", "") == text.replace(" ", "")
    assert all(start < end or text[start:end] == "" for start, end in ranges)
    assert all(a[1] <= b[0] <= a[1] + 1 for a, b in itertools.pairwise(ranges))


def test_wide_characters_take_two_columns() -> None:
    assert list(wrap("検索検索", 4)) == [(0, 2), (2, 4)]


@pytest.mark.parametrize(
    "folder, shown",
    [
        ("/wiki", "guide/a.md"),
        ("/wiki/guide", "a.md"),
        ("/wiki/other", "../guide/a.md"),
        ("/wikis", "/wiki/guide/a.md"),
        ("/", "/wiki/guide/a.md"),
    ],
)
def test_a_path_is_shown_so_that_an_editor_started_here_opens_it(folder: str, shown: str) -> None:
    assert shown_path("/wiki", "guide/a.md", folder) == shown


def test_a_pipe_gets_place_title_and_breadcrumb() -> None:
    assert hit_fields(HIT, root="/wiki", folder="/wiki") == (
        "run-lifecycle.md:12",
        "Run Lifecycle",
        "Cancellation",
        "Cancelling a run ends it.",
    )
    assert hit_fields(HIT.replace(evidence=None), root="/wiki", folder="/")[0] == "/wiki/run-lifecycle.md:1"


def test_a_breadcrumb_does_not_repeat_the_title() -> None:
    assert breadcrumb(HIT) == "Cancellation"
    assert breadcrumb(HIT.replace(title="Other")) == "Run Lifecycle > Cancellation"
    assert breadcrumb(HIT.replace(evidence=EVIDENCE.replace(heading_path=("Run Lifecycle",)))) == ""


@given(st.text())
def test_json_is_ascii_without_controls_and_gives_the_text_back(title: str) -> None:
    text = row_json(HIT.replace(title=title))
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text)["title"] == title


def test_a_template_shows_the_fields_of_a_hit() -> None:
    values = hit_values(HIT, root="/wiki", folder="/")
    assert fill(r"{path}:{line}\t{breadcrumb} {{x}} \q", values) == (
        "/wiki/run-lifecycle.md:12\tCancellation {x} \\q"
    )
    assert set(values) == set(HIT_FIELDS)
    without = hit_values(HIT.replace(evidence=None, summary=None), root="/wiki", folder="/")
    assert fill("{line}|{excerpt}|{summary}|{topics}", without) == "1|||runs"


@pytest.mark.parametrize("template", ["{nope}", "{}", "{path.__class__}", "{evidence}"])
def test_a_template_with_an_unknown_field_names_the_known_ones(template: str) -> None:
    with pytest.raises(UsageError, match="anchor, breadcrumb"):
        fill(template, hit_values(HIT, root="/wiki", folder="/"))


@pytest.mark.parametrize("template", ["{", "{path", "{path} {{ {line"])
def test_a_template_with_an_open_brace_says_so(template: str) -> None:
    with pytest.raises(UsageError, match=r"has a brace that is not closed; close it with }, or write {{"):
        fill(template, hit_values(HIT, root="/wiki", folder="/"))
