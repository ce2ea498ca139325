"""Which paths the ignore files and the configured patterns leave out (gitignore syntax, pathspec).

The nearest ignore file that says anything about a path decides, as in git; the configured patterns
come before all of them. Reads nothing: the tree hands over each file's text as it meets it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from indexerd.core.model import Diagnostic
from indexerd.core.sync.reconcile import IGNORE_INVALID

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.util import CheckResult

PARSED_KEPT: Final = 256  # ignore files; parsing ten lines costs 1 ms, every scan meets them all


@dataclass(frozen=True, slots=True)
class Level:
    """The patterns of one ignore file. `offset`: length of its folder's path with the slash.

    `lines`: number and text of the line of each pattern, for `indexerd why`.
    """

    offset: int
    spec: GitIgnoreSpec
    folder: str
    name: str
    lines: tuple[tuple[int, str], ...]


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

    def below(self, level: Level) -> IgnoreRules:
        """These rules with a nearer ignore file before the others."""
        return IgnoreRules(self.configured, (level, *self.files))

    def exclude(self, path: str, *, folder: bool) -> bool:
        """Whether `path` (relative to the root) is left out; its folders must have been asked before.

        Asking top-down gives git's rule that nothing below an excluded folder comes back.
        """
        found = self._find(path, folder=folder)
        return found is not None and bool(found[1].include)

    def decide(self, path: str, *, folder: bool) -> Decision | None:
        """Tell which pattern decides about `path`, as `exclude` does; None where none says anything."""
        found = self._find(path, folder=folder)
        if found is None:
            return None
        level, result = found
        line, pattern = level.lines[result.index or 0]
        source = f"{level.folder}/{level.name}" if level.folder else level.name
        return Decision(bool(result.include), source, line, pattern)

    def _find(self, path: str, *, folder: bool) -> tuple[Level, CheckResult[str]] | None:
        asked = f"{path}/" if folder else path
        for level in (*self.configured, *self.files):
            result = level.spec.check_file(asked[level.offset :])
            if result.include is not None:
                return level, result
        return None


def _compiled(lines: Sequence[str]) -> GitIgnoreSpec:
    """The patterns of some lines. Raises ValueError and re.error."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - 20 ms a wiki without ignore rules does not pay

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's about `[[`, which means to git what it means here
        return GitIgnoreSpec.from_lines(lines)


@lru_cache(maxsize=PARSED_KEPT)
def parse_ignore_file(text: str, name: str, folder: str = "") -> tuple[Level | None, tuple[Diagnostic, ...]]:
    """The patterns of the file `name` in `folder` ('' for the root), None without any, and its bad lines."""
    good: list[tuple[int, str]] = []
    problems = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        try:
            _compiled([line])
        except (ValueError, re.error) as error:
            message = f"the pattern {line.strip()!r} is left out ({error}); correct or remove the line"
            problems.append(Diagnostic(IGNORE_INVALID, message, number))
        else:
            good.append((number, line))
    good = [(number, line) for number, line in good if line]  # a spec has no pattern for an empty line
    spec = _compiled([line for _, line in good])
    if all(pattern.include is None for pattern in spec.patterns):  # blank lines and comments
        return None, tuple(problems)
    return Level(len(folder) + 1 if folder else 0, spec, folder, name, tuple(good)), tuple(problems)
