"""Which paths the ignore files and the configured patterns leave out.

The nearest ignore file that says anything about a path decides, as in git; the configured patterns
come before all of them. Reads nothing: the tree hands over each file's text as it meets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from indexerd.core.model import Diagnostic
from indexerd.core.sync.reconcile import IGNORE_INVALID
from indexerd.tree.gitignore import Pattern, PatternError, parse_pattern

MOST_PATTERNS: Final = 1000  # in force in one folder: each is tried on each name there
MOST_PROBLEMS: Final = 20  # bad lines of one file that are told; the rest of it is left out
LONGEST_SHOWN: Final = 60  # characters of a bad line


@dataclass(frozen=True, slots=True)
class Level:
    """The patterns of one ignore file. `offset`: length of its folder's path with the slash.

    `patterns`: with the number of the line of each, the last one first, for the last one decides.
    """

    offset: int
    folder: str
    name: str
    patterns: tuple[tuple[int, Pattern], ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """The pattern that decides about a path. `source`: an ignore file, from the root, or the setting."""

    excludes: bool
    source: str
    line: int
    pattern: str


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What governs one folder: the configured patterns, then the ignore files, nearest first."""

    configured: tuple[Level, ...] = ()
    files: tuple[Level, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.configured or self.files)

    @property
    def room(self) -> int:
        """How many more patterns may be in force."""
        return MOST_PATTERNS - sum(len(level.patterns) for level in (*self.configured, *self.files))

    def below(self, level: Level) -> IgnoreRules:
        """These rules with a nearer ignore file before the others."""
        return IgnoreRules(self.configured, (level, *self.files))

    def exclude(self, path: str, *, folder: bool) -> bool:
        """Whether `path` (relative to the root) is left out; its folders must have been asked before.

        Asking top-down gives git's rule that nothing below an excluded folder comes back.
        """
        found = self._find(path, folder=folder)
        return found is not None and found[2].excludes

    def decide(self, path: str, *, folder: bool) -> Decision | None:
        """Tell which pattern decides about `path`, as `exclude` does; None where none says anything."""
        found = self._find(path, folder=folder)
        if found is None:
            return None
        level, line, pattern = found
        source = f"{level.folder}/{level.name}" if level.folder else level.name
        return Decision(pattern.excludes, source, line, pattern.text)

    def _find(self, path: str, *, folder: bool) -> tuple[Level, int, Pattern] | None:
        for level in (*self.configured, *self.files):
            below = path[level.offset :]
            for line, pattern in level.patterns:
                if pattern.decides(below, folder=folder):
                    return level, line, pattern
        return None


def parse_ignore_file(
    text: str, name: str, folder: str = "", *, room: int = MOST_PATTERNS
) -> tuple[Level | None, tuple[Diagnostic, ...]]:
    """The patterns of the file `name` in `folder` ('' for the root), None without any, and its bad lines.

    Past `room` patterns the rest of the file is left out.
    """
    patterns: list[tuple[int, Pattern]] = []
    problems = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        try:
            pattern = parse_pattern(line)
        except PatternError as error:
            said = f"the pattern {line.strip()[:LONGEST_SHOWN]!r} is left out, since {error}"
            problems.append(Diagnostic(IGNORE_INVALID, f"{said}; correct or remove the line", number))
            if len(problems) == MOST_PROBLEMS:
                break
            continue
        if pattern is None:
            continue
        if len(patterns) >= room:
            said = f"this line and those after it are left out, since {MOST_PATTERNS} patterns hold here"
            problems.append(Diagnostic(IGNORE_INVALID, f"{said} already; remove some", number))
            break
        patterns.append((number, pattern))
    if not patterns:
        return None, tuple(problems)
    offset = len(folder) + 1 if folder else 0
    return Level(offset, folder, name, tuple(reversed(patterns))), tuple(problems)
