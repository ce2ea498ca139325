"""Which old section a new one continues."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.core.model import Section
from indexerd.store.read.rows import SectionRow, section_row
from indexerd.store.write.section_matching import match_sections


def row(path: str, body: str = "", level: int = 1) -> SectionRow:
    elements = tuple(path.split("/"))
    return section_row(
        Section(
            level=level,
            heading=elements[-1],
            heading_path=elements,
            ancestors=" ".join(elements[:-1]),
            anchor=elements[-1],
            start_line=1,
            end_line=2,
            heading_source=f"# {elements[-1]}\n",
            body=body,
        )
    )


A, B, C = row("A", "a"), row("B", "b"), row("C", "c")

CASES = {
    "nothing before": ([], [A, B], [None, None]),
    "nothing after": ([A, B], [], []),
    "all the same": ([A, B], [A, B], [0, 1]),
    "one put in": ([A, C], [A, B, C], [0, None, 1]),
    "one taken out": ([A, B, C], [A, C], [0, 2]),
    "one moved": ([A, B, C], [C, A, B], [2, 0, 1]),
    "another body": ([A, B, C], [A, row("B", "new"), C], [0, 1, 2]),
    "another path": ([A, row("B/X", "x")], [A, row("C/X", "x")], [0, 1]),
    "another path before another body": ([row("B/X", "x"), row("C/X", "y")], [row("C/X", "x")], [0]),
    "alike, first to first": ([A, B, B, C], [A, B, C], [0, 1, 3]),
    "alike, in the middle": ([B, A, A, C], [C, A, A, B], [3, 1, 2, 0]),
    "another heading": ([A], [row("Z", "z")], [None]),
    "another level is another text": ([row("A/X", "x", 2)], [row("B/X", "x", 3)], [None]),
}


@pytest.mark.parametrize("old, new, matched", CASES.values(), ids=CASES)
def test_sections_are_continued(
    old: list[SectionRow], new: list[SectionRow], matched: list[int | None]
) -> None:
    assert match_sections(old, new) == matched


ROWS = st.lists(st.builds(row, st.sampled_from(["A", "B", "A/B"]), st.sampled_from(["", "x"])), max_size=12)


@given(ROWS, ROWS)
def test_no_row_is_continued_twice_and_equal_rows_always_are(
    old: list[SectionRow], new: list[SectionRow]
) -> None:
    matched = match_sections(old, new)
    kept = [index for index in matched if index is not None]
    assert len(kept) == len(set(kept))
    equal = sum(old[index] == row for index, row in zip(matched, new, strict=True) if index is not None)
    assert equal == sum(min(old.count(row), new.count(row)) for row in set(old))


HEADINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(st.lists(HEADINGS, min_size=1, max_size=4))
def test_a_stored_path_gives_back_its_elements_and_where_the_second_starts(elements: list[str]) -> None:
    import json

    section = Section(
        level=1, heading="", heading_path=tuple(elements), ancestors="", anchor="", start_line=1, end_line=1,
        heading_source="#\n", body="", guarded=True,
    )  # fmt: skip
    stored = section_row(section)
    assert json.loads(stored.heading_path) == elements
    rest = "[]" if stored.cut == 0 else f"[{stored.heading_path[stored.cut - 1 :]}"
    assert json.loads(rest) == elements[1:]
    inside = stored.heading_path[2:-2]
    assert (stored.path_text or inside.replace('","', " > ")) == " > ".join(elements)
