"""What a measure is taken on: one wiki, and a folder to put indexes in."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.ratio import ROUNDS


@dataclass(frozen=True, slots=True)
class Setting:
    """The name and root of a wiki, an existing folder to work in, and the samples of either side."""

    corpus: str
    root: Path
    work: Path
    rounds: int

    @property
    def db(self) -> Path:
        """The finished index that several measures share."""
        return self.work / "shared" / "index.db"

    def at_least(self, rounds: int) -> int:
        """The rounds of a measure that needs so many; fewer only where fewer than usual were asked for."""
        return max(self.rounds, rounds) if self.rounds >= ROUNDS else self.rounds

    def fresh_db(self) -> Path:
        """A path for an index that does not exist yet; the one before is deleted."""
        folder = self.work / "fresh"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        return folder / "index.db"
