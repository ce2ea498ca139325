"""What a mistyped name may have been meant as: "did you mean" of both programs, by edit distance."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_SUGGESTED = 3  # names in one line
SHORTEST_FOR_TWO = 5  # letters; in a shorter name two edits make any word of any other
LETTERS_AN_EDIT = 4  # in a long name: three edits from 12 letters on


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Give the names fewest edits away from `typed`, else those that hold it whole; case is ignored.

    At most MOST_SUGGESTED, in their order; how many edits are allowed depends on the length of `typed`.
    """
    folded = typed.lower()
    letters = len(folded.replace("-", "").replace("_", ""))
    most = 1 if letters < SHORTEST_FOR_TWO else max(2, letters // LETTERS_AN_EDIT)
    is_long = letters >= SHORTEST_FOR_TWO
    near: list[str] = []
    holding: list[str] = []
    for name in filter(None, dict.fromkeys(names)):
        distance = edit_distance(folded, name.lower(), most)
        if distance is not None:
            near = [*near, name] if distance == most else [name]
            most = distance
        elif is_long and folded in name.lower():
            holding.append(name)
    return (near or holding)[:MOST_SUGGESTED]


def did_you_mean(near: Iterable[str], otherwise: str) -> str:
    """Write the remedy that names what was probably meant; `otherwise` where nothing is near."""
    choice = " or ".join(near)
    return f"did you mean {choice}?" if choice else otherwise


def edit_distance(one: str, other: str, most: int) -> int | None:
    """Damerau-Levenshtein distance with adjacent swaps (optimal string alignment); None past `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        this = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, this[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before_last[column - 2] + 1)
            this.append(cost)
        if min(this) > most:
            return None
        before_last, last = last, this
    return last[-1] if last[-1] <= most else None
