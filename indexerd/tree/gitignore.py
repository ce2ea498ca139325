"""One line of an ignore file as a pattern, as git reads it (gitignore(5), git's wildmatch.c).

Each line becomes a regular expression whose cost is its length times that of the path: a star takes
the nearest place where what follows it fits and never comes back. Reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

LONGEST_PATTERN: Final = 255  # characters, as long as a name may be
PATTERNS_KEPT: Final = 4096  # compiled: every scan meets all ignore files

_STAR: Final = "*"
_ONE: Final = "[^/]"
_END_OF_PART: Final = r"(?=/|\Z)"
_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": r"\ -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": r"\ \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class PatternError(ValueError):
    """Git would never match the line; the text says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """`excludes`: without `!`. `by_name`: about the last part of a path alone.

    `folders_only`: it ends in a slash.
    """

    text: str
    excludes: bool
    folders_only: bool
    by_name: bool
    matches: Callable[[str], object]

    def decides(self, path: str, *, folder: bool) -> bool:
        """Whether it says anything about a path, relative to the folder of its ignore file."""
        if self.folders_only and not folder:
            return False
        return bool(self.matches(path.rpartition("/")[2] if self.by_name else path))


@lru_cache(maxsize=PATTERNS_KEPT)
def parse_pattern(line: str) -> Pattern | None:
    """The pattern of a line without its end, None for a blank line or a comment. Raises PatternError."""
    text = _without_trailing_blanks(line.removesuffix("\r"))
    if not text or text.startswith("#") or text == "/":
        return None
    if len(text) > LONGEST_PATTERN:
        raise PatternError(f"it is longer than {LONGEST_PATTERN} characters")
    excludes = not text.startswith("!")
    glob = text if excludes else text[1:]
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    by_name = "/" not in glob
    parts = glob.removeprefix("/").split("/")
    if not all(parts):
        raise PatternError("a part of it is empty")
    expression = _one_part(parts[0]) + r"\Z" if by_name else _path(parts)
    try:
        matches = re.compile(expression, re.DOTALL).match
    except re.error as error:
        raise PatternError(str(error)) from error
    return Pattern(text, excludes, folders_only, by_name, matches)


def _without_trailing_blanks(line: str) -> str:
    text = line.rstrip(" ")
    escapes = len(text) - len(text.rstrip("\\"))
    return f"{text} " if escapes % 2 and len(text) < len(line) else text


def _path(parts: Sequence[str]) -> str:
    """Parts between two `**` (or more stars) stand side by side; leftmost is enough for all but the last."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if len(part) > 1 and not part.strip(_STAR):
            runs.append([])
        else:
            runs[-1].append(part)
    spelled = ["/".join(map(_one_part, run)) for run in runs]
    first, *later = spelled
    if not later:
        return first + r"\Z"
    *inner, last = later
    expression = [first + "/" if first else ""]
    expression += [f"(?>(?:|.*?/){run}/)" for run in inner if run]
    expression.append(rf"(?:|.*/){last}\Z" if last else "(?=.)")
    return "".join(expression)


def _one_part(glob: str) -> str:
    """The expression for one part of a path, up to where the part ends or what follows says so."""
    runs = [""]
    for piece in _pieces(glob):
        if piece != _STAR:
            runs[-1] += piece
        elif runs[-1] or len(runs) == 1:
            runs.append("")
    first, *later = runs
    if not later:
        return first
    *inner, last = later
    return first + "".join(f"(?>{_ONE}*?{run})" for run in inner) + f"{_ONE}*{last}{_END_OF_PART}"


def _pieces(glob: str) -> Iterator[str]:
    """A star, or an expression for one character, in turn. Raises PatternError."""
    place = 0
    while place < len(glob):
        character = glob[place]
        place += 1
        if character == "*":
            yield _STAR
        elif character == "?":
            yield _ONE
        elif character == "[":
            expression, place = _bracket(glob, place)
            yield expression
        elif character == "\\":
            if place == len(glob):
                raise PatternError("nothing follows its last backslash")
            yield re.escape(glob[place])
            place += 1
        else:
            yield re.escape(character)


def _bracket(glob: str, place: int) -> tuple[str, int]:
    """The set of characters that begins at `place`, behind its bracket, and where it ends."""
    negated = glob[place : place + 1] in {"!", "^"}
    place += negated
    first, items = place, []
    while place < len(glob) and (glob[place] != "]" or place == first):
        named = re.compile(r"\[:([a-z]+):\]").match(glob, place)
        if named:
            if named[1] not in _CLASSES:
                raise PatternError(f"there is no class {named[0]}")
            items.append(_CLASSES[named[1]])
            place = named.end()
            continue
        is_range = glob[place] == "-" and items and glob[place + 1 : place + 2] not in {"", "]"}
        if glob[place] == "\\":
            place += 1
        items.append("-" if is_range else re.escape(glob[place : place + 1]))
        place += 1
    if place >= len(glob):
        raise PatternError("a bracket is not closed")
    return f"(?!/)[{'^' if negated else ''}{''.join(items)}]", place + 1
