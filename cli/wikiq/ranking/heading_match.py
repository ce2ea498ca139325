"""Tells whether the whole heading of a section stands in a question.

Pure. `see the advanced routing guide` holds all of `Advanced routing` and nothing of `Routing guide`.
"""

from __future__ import annotations

from indexerd.contract.terms import is_unspaced, tokens
from wikiq.query.variants import is_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def heading_share(asked: Sequence[str], heading: str) -> float:
    """How much of a question, counted in letters, the heading is; 0 unless all of it stands there.

    `asked` are the question's terms in their order. The heading's words must stand among them in a
    row, as they are or in another form; a heading without blanks may be part of a longer run.
    """
    names = tokens(heading)
    covered = _covered_letters(asked, names)
    if not covered and any(map(is_unspaced, names)):
        covered = _letters(names) if " ".join(names) in " ".join(asked) else 0
    return covered / _letters(asked) if covered else 0.0


def _covered_letters(asked: Sequence[str], names: Sequence[str]) -> int:
    """The letters of the first terms in a row that are the words of a heading; 0 where none are."""
    if not names:
        return 0
    for start in range(len(asked) - len(names) + 1):
        row = asked[start : start + len(names)]
        if all(_is_same(term, name) for term, name in zip(row, names, strict=True)):
            return _letters(row)
    return 0


def _is_same(term: str, name: str) -> bool:
    return term == name or (term[:1] == name[:1] and is_form(term, name))


def _letters(words: Sequence[str]) -> int:
    return sum(map(len, words))
