"""Other forms of a word: words of the index that begin alike and end otherwise.

Pure, and of no language: `loader` finds `loaders`, `создайте` finds `создание`. What looks like a form
may be another word, which is why a form weighs less than the word itself.
"""

from __future__ import annotations

from indexerd.contract.terms import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

BEGINNING_MIN = 4  # letters that a word and its forms share at least
ENDING_MAX = 3  # letters: as many at its end may differ, and a form may be longer by as many
FORMS_MAX = 3  # of one word, those in most sections; more of them find other words (docs/decisions/)


def shared_beginning(word: str) -> str:
    """What all forms of a word begin with; empty for one that has none.

    Short words have none, nor have those with a number in them, nor runs of scripts without blanks.
    """
    if len(word) < BEGINNING_MIN or is_unspaced(word) or _has_number(word):
        return ""
    return word[: max(BEGINNING_MIN, len(word) - ENDING_MAX)]


def is_form(word: str, other: str) -> bool:
    """Tell whether `other` is a form of `word`."""
    beginning = shared_beginning(word)
    return (
        bool(beginning)
        and other != word
        and other.startswith(beginning)
        and len(other) <= len(word) + ENDING_MAX
        and not _has_number(other)
    )


def commonest_forms(word: str, vocabulary: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The forms of a word that most sections hold, FORMS_MAX of them, equal ones in order of letters."""
    forms = [(-sections, other) for other, sections in vocabulary if is_form(word, other)]
    return tuple(other for _, other in sorted(forms)[:FORMS_MAX])


def _has_number(word: str) -> bool:
    return any(map(str.isnumeric, word))
