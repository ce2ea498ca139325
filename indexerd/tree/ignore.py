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

PARSED_KEPT: Final = 256  # ignore files; parsing ten lines costs 1 ms, every scan meets them all


@dataclass(frozen=True, slots=True)
class Level:
    """The patterns of one ignore file. `offset`: length of its folder's path with the slash."""

    offset: int
    spec: GitIgnoreSpec


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
        asked = f"{path}/" if folder else path
        for level in (*self.configured, *self.files):
            verdict = level.spec.check_file(asked[level.offset :]).include
            if verdict is not None:
                return verdict
        return False


def _compiled(lines: Sequence[str]) -> GitIgnoreSpec:
    """The patterns of some lines. Raises ValueError and re.error."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - 20 ms a wiki without ignore rules does not pay

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's about `[[`, which means to git what it means here
        return GitIgnoreSpec.from_lines(lines)


@lru_cache(maxsize=PARSED_KEPT)
def parse_ignore_file(text: str, folder: str = "") -> tuple[Level | None, tuple[Diagnostic, ...]]:
    """The patterns of one file in `folder` ('' for the root), None without any, and its bad lines."""
    good, problems = [], []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        try:
            _compiled([line])
        except (ValueError, re.error) as error:
            message = f"the pattern {line.strip()!r} is left out ({error}); correct or remove the line"
            problems.append(Diagnostic(IGNORE_INVALID, message, number))
        else:
            good.append(line)
    spec = _compiled(good)
    if all(pattern.include is None for pattern in spec.patterns):  # blank lines and comments
        return None, tuple(problems)
    return Level(len(folder) + 1 if folder else 0, spec), tuple(problems)
