"""Which old row a new section continues, so that only what differs is written. Pure.

Rows are paired wherever they lie: lines and ordinals stand in `place`, so a section that moved as it
is keeps its row. Never a better pairing at more than linear cost: a page may have 100,000 sections.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence

from indexerd.store.read.rows import SectionRow


def match_sections(old: Sequence[SectionRow], new: Sequence[SectionRow]) -> list[int | None]:
    """For each new section the index of the old one it continues, None where it is new (spec 2.3).

    Equal rows first, from both ends and then by value; then the same level, heading and body under
    another path; then the same path with another body. Of several alike, the first goes to the first.
    """
    matched: list[int | None] = [None] * len(new)
    if not old:
        return matched
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        matched[start] = start
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        matched[len(new) - 1 - end] = len(old) - 1 - end
        end += 1
    free_old = list(range(start, len(old) - end))
    free_new = list(range(start, len(new) - end))
    for key in (_whole, _text, _path):
        pairs = _pairs([(at, key(old[at])) for at in free_old], [(at, key(new[at])) for at in free_new])
        for of_old, of_new in pairs:
            matched[of_new] = of_old
        taken = {of_old for of_old, _ in pairs}
        free_old = [index for index in free_old if index not in taken]
        free_new = [index for index in free_new if matched[index] is None]
    return matched


def _pairs(old: Iterable[tuple[int, Hashable]], new: Iterable[tuple[int, Hashable]]) -> list[tuple[int, int]]:
    """Indices of old and new that have a key in common, first to first."""
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for index, key in old:
        waiting[key].append(index)
    return [(waiting[key].popleft(), index) for index, key in new if waiting.get(key)]


def _whole(row: SectionRow) -> Hashable:
    return row


def _text(row: SectionRow) -> Hashable:
    return row.level, row.heading, row.body


def _path(row: SectionRow) -> Hashable:
    return row.heading_path
