"""What a name that is none was probably meant to be: options of a search, kinds of problems.

Loaded when there is something to say. Hints only: nothing is done differently for what is found here.
"""

from __future__ import annotations

from wikiq.arguments import SEARCH, unknown_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_EDITS = 2  # between what was typed and what was meant
SHORTEST_FOR_TWO = 5  # letters of the name; in a shorter one two edits make any word of any other


def option_hints(arguments: Sequence[str]) -> list[str]:
    """Say of each word of a search that nearly is an option which one; the search takes it as a word."""
    return [
        f"{typed}: taken as a word to search for; the option is {' or '.join(near)}"
        for typed in dict.fromkeys(unknown_options(arguments))
        if (near := nearest(typed, SEARCH))
    ]


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Give the names that are fewest edits away from `typed`, if that is no more than its length allows."""
    letters = typed.lower().replace("-", "").replace("_", "")
    most = MOST_EDITS if len(letters) >= SHORTEST_FOR_TWO else 1
    distances = {name: count_edits(typed.lower(), name) for name in names}
    fewest = min(distances.values(), default=most + 1)
    return [name for name, distance in distances.items() if distance == fewest] if fewest <= most else []


def count_edits(word: str, other: str) -> int:
    """Count the letters to add, leave out, replace or swap with a neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word, 1):
        before_that, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            edits = min(before[to] + 1, row[-1] + 1, before[to - 1] + (letter != wanted))
            if before_that and to > 1 and word[at - 2] == wanted and letter == other[to - 2]:
                edits = min(edits, before_that[to - 2] + 1)
            row.append(edits)
    return row[-1]
