"""Anchors by github-slugger's rule; expected values worked out from its documented behaviour."""

from __future__ import annotations

import pytest

from indexerd.core.page.anchors import Anchors, base_anchor


@pytest.mark.parametrize(
    "heading, anchor",
    [
        ("Hello, World!", "hello-world"),
        ("C++ & C#", "c--c"),
        ("foo_bar-baz", "foo_bar-baz"),
        ("a  b", "a--b"),
        ("1.2.3", "123"),
        ("Ünï Cödé", "ünï-cödé"),
        ("日本語 見出し", "日本語-見出し"),
        ("हिन्दी", "हिन्दी"),
        ("x² and Ⅷ and ٣", "x-and-ⅷ-and-٣"),
        ("Ⓐ", "ⓐ"),
        ("€ 5 — six…", "-5--six"),
        ("👩\u200d👧 family", "-family"),
        ("‿tie", "‿tie"),
        ("ΟΔΟΣ", "οδος"),
        ("", ""),
        ("a\u3000b", "ab"),
    ],
)
def test_an_anchor_keeps_letters_marks_numbers_and_connectors(heading: str, anchor: str) -> None:
    assert base_anchor(heading) == anchor


def test_repeats_are_counted_and_never_meet_a_heading_that_ends_in_a_number() -> None:
    anchors = Anchors()
    headings = ["foo", "foo", "foo-1", "foo", "foo-2", "", "", "foo"]
    assert [anchors.add(heading) for heading in headings] == [
        "foo",
        "foo-1",
        "foo-1-1",
        "foo-2",
        "foo-2-1",
        "",
        "-1",
        "foo-3",
    ]
