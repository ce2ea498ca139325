"""Random states of a wiki fed into PostgreSQL by a feeder that is killed over and over: always equal.

`python -m tests.crash.feeder --operations 500 [--kill-every 5] [--seed N] [--folder F]` prints one line a
comparison; the first difference ends it with the seed that repeats it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.operations import Mischief
from tests.crash.process import UnequalError, wait_until
from tests.postgres.fed import ask, differences
from tests.postgres_server import Server, find_programs, running_server

EQUAL_S: Final = 60.0  # until a feeder that follows has all of what was built
PAGES: Final = 60


@dataclass(slots=True)
class Play:
    """One wiki, its index, and the feeder that follows it into a server."""

    folder: Path
    server: Server
    generator: random.Random
    process: subprocess.Popen[bytes] | None = None
    kills: int = 0

    @property
    def url(self) -> str:
        return self.server.url(schema="played")

    @property
    def db(self) -> Path:
        return self.folder / "state" / "index.db"

    def build(self) -> None:
        """Bring the index to the tree."""
        self._run("indexerd.main", "build", str(self.folder / "wiki"), "--db", str(self.db))

    def start(self) -> None:
        """Start a feeder that follows."""
        with (self.folder / "feeder.log").open("ab") as log:
            self.process = subprocess.Popen(
                self._words("wikiq.main", "feed", self.url, "--follow", "--init", "--db", str(self.db)),
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """Kill the feeder wherever it is, some of the time in the middle of its work."""
        if self.process is not None:
            time.sleep(self.generator.random() * 0.5)
            self.process.kill()
            self.process.wait()
            self.process = None
            self.kills += 1

    def wait_equal(self) -> None:
        """Wait until the feeder has all of the index. Raises UnequalError with what differs."""
        found: list[str] = []

        def is_equal() -> bool:
            if self.process is None or self.process.poll() is not None:
                raise UnequalError(f"the feeder ended; see {self.folder / 'feeder.log'}")
            if not ask(self.url, "SELECT to_regclass('{s}.wiki') IS NOT NULL")[0][0]:
                return False
            if not ask(self.url, "SELECT 1 FROM {s}.wiki"):
                return False
            found[:] = differences(self.url, self.db)
            return not found

        try:
            wait_until(is_equal, EQUAL_S, "fed")
        except UnequalError as error:
            raise UnequalError(f"{error}: {found[:3]}") from None

    def _run(self, *words: str) -> None:
        subprocess.run(self._words(*words), check=True, capture_output=True)

    def _words(self, module: str, *words: str) -> list[str]:
        return [sys.executable, "-m", module, *words]


def run(folder: Path, server: Server, *, operations: int, kill_every: int, seed: int) -> int:
    """Play the operations; gives how often the feeder was killed. Raises UnequalError."""
    generator = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True)
    mischief = Mischief(root, generator)
    for _ in range(PAGES):
        mischief.create()
    play = Play(folder, server, generator)
    play.build()
    try:
        for number in range(1, operations + 1):
            mischief.one()
            if number % kill_every == 0:
                if play.process is None:
                    play.start()
                play.build()
                if generator.random() < 0.1:
                    server.stop("immediate")
                    server.start()
                play.kill()
            if number % (kill_every * 4) == 0:
                play.start()
                play.wait_equal()
                print(f"{number} operations, {play.kills} kills: equal", flush=True)
    finally:
        play.kill()
    return play.kills


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("feeder", __doc__, operations=500, kill_every=5)
    options = command.parse(arguments)
    programs = find_programs()
    if programs is None:
        sys.exit("PostgreSQL is not installed: make strangers")

    def play(folder: Path) -> dict[str, object]:
        with running_server(programs) as server:
            kills = run(
                folder,
                server,
                operations=options.operations,
                kill_every=options.kill_every,
                seed=options.seed,
            )
        return {"faults": [], "operations": options.operations, "kills": kills}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
